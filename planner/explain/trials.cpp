#include "planner/explain/trials.h"

#include "planner/pipeline/graph_pass.h"
#include "planner/pipeline/pipeline.h"
#include "plans/base/in_parallel.h"
#include "plans/base/sha1.h"

#include <map>
#include <mutex>

namespace shard {

namespace {

using Key = std::array<std::uint8_t, 20>;

class Trials {
public:
    Trials(const Sources& sources, const PlanRequest& request) : sources_(sources), request_(request) {
        const size_t seed = passes_before("seed", request).size(), spread = passes_before("spread", request).size();
        to_propagate_ = request.passes.subspan(seed, spread - seed);
        from_spread_ = request.passes.subspan(spread);
        request_.checks = false; // plans to read figures of
        run_passes(begun_, request.passes.first(seed), request_, sources_);
        if (begun_.diagnostics.has_error()) return;
        Sources same = sources_;
        if (const std::optional<Shared> as_it_is = propagated(*begun_.layout, request_, same))
            owners_.emplace(as_it_is->key, nobody);
    }

    std::vector<std::optional<Report>> run(std::span<const Change> changes) {
        std::vector<std::optional<Report>> reports(changes.size());
        std::vector<size_t> owner(changes.size(), nobody);
        in_parallel(changes.size(), [&](size_t i) {
            PlanRequest request = request_;
            request.without_constraints = changes[i].without_constraints;
            Sources sources = sources_;
            std::optional<Shared> shared = propagated(changes[i].layout, request, sources);
            if (!shared) return;
            owner[i] = owner_of(shared->key, i);
            if (owner[i] == i) reports[i] = finished(std::move(shared->ways), request, sources);
        });
        for (size_t i = 0; i < changes.size(); ++i)
            if (owner[i] != nobody && owner[i] != i) reports[i] = reports[owner[i]];
        return reports;
    }

private:
    static constexpr size_t nobody = static_cast<size_t>(-1); // plans it: it is the plan without a change

    struct Shared {
        std::vector<Compilation> ways;
        Key key;
    };

    // nullopt: it does not fit the model.
    std::optional<Shared> propagated(const Layout& layout, const PlanRequest& request, Sources& sources) const {
        Compilation begun = begun_;
        begun.layout = layout;
        Shared shared{ways_of(std::move(begun)), {}};
        std::string text;
        for (Compilation& way : shared.ways) {
            run_passes(way, to_propagate_, request, sources);
            if (!way.diagnostics.has_error()) text += what_is_read(way);
        }
        if (shared.ways[0].diagnostics.has_error()) return std::nullopt;
        shared.key = sha1(text);
        return shared;
    }

    // All that the passes from `spread` on read and a change could alter.
    static std::string what_is_read(const Compilation& way) {
        std::string text = graph_text(*graph_state(way), {nullptr, true});
        for (const std::optional<Sharding>& seed : way.seeds->values) text += seed ? '1' : '0';
        return text + (!way.layout->fsdp || way.layout->fsdp->prefetch ? '1' : '0');
    }

    size_t owner_of(const Key& key, size_t i) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return owners_.emplace(key, i).first->second;
    }

    std::optional<Report> finished(std::vector<Compilation> ways, const PlanRequest& request, Sources& sources) const {
        for (Compilation& way : ways) run_passes(way, from_spread_, request, sources);
        Compilation best = best_of(std::move(ways));
        return best.plan ? std::optional(std::move(best.plan->report)) : std::nullopt;
    }

    Sources sources_;
    PlanRequest request_;
    std::span<const PassDef> to_propagate_, from_spread_;
    Compilation begun_; // before `seed`: no change alters it
    std::mutex mutex_;  // of owners_
    std::map<Key, size_t> owners_;
};

} // namespace

std::vector<std::optional<Report>> try_changes(std::span<const Change> changes, const Sources& sources,
                                               const PlanRequest& request) {
    return Trials(sources, request).run(changes);
}

} // namespace shard
