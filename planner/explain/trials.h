// What changes of a layout or a model would cost.
#pragma once

#include "planner/explain/changes.h"

#include <array>
#include <map>
#include <mutex>

namespace shard {

// Plans with changes, to read their figures: nobody looks at what passes promise. They are made on all cores; those
// after which the graph has the same shardings are one plan, what was tried once is known from then on, and what was
// decided for the plan without a change is decided for all.
class Trials {
public:
    // Sources and request are those that the plan without a change, `as_it_is`, was made of.
    Trials(const Compilation& as_it_is, const Sources& sources, const PlanRequest& request);

    // By change: the report of the plan with it, without its tensors. nullopt: the change does not fit the model, or the
    // plan is what it is without it.
    std::vector<std::optional<Report>> run(std::span<const Change> changes);

private:
    using Key = std::array<std::uint8_t, 20>; // of the graph with its shardings
    struct Shared {
        std::vector<Compilation> ways;
        Key key;
    };

    std::optional<Shared> propagated(const Layout& layout, const PlanRequest& request, Sources& sources) const;
    std::optional<Report> finished(std::vector<Compilation> ways, const PlanRequest& request, Sources& sources) const;
    void plan(const Change& change);
    bool is_taken(const Key& key, const std::string& id);

    Sources sources_;
    PlanRequest request_;
    std::span<const PassDef> to_seed_, to_propagate_, from_spread_;
    Compilation begun_;                                    // before `seed`: no change of a layout alters it
    std::mutex mutex_;                                     // of what follows
    std::map<Key, std::string> owners_;                    // whose plan it is; empty: that without a change
    std::map<std::string, std::optional<Report>> reports_; // of owners
    std::map<std::string, std::string> owner_of_;          // of all that were tried; empty: nothing to report
};

} // namespace shard
