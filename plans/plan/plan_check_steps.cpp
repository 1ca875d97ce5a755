// The steps run over an abstract state: which buffers hold what. Extents that are alive sit in a map by offset, so a
// step costs a few lookups however many buffers there are.
#include "plans/plan/plan_check_steps.h"

#include "plans/kernel/kernel_in_place.h"
#include "plans/kernel/kernel_scratch.h"
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr int loop_index_limit = 4096; // ids of loop indices

// A root buffer with everything that is aliased to it.
struct Group {
    bool alive = false;
    int contents = -1;      // the buffer that was written last; -1 = nothing readable
    int readers = 0;        // collectives in flight that read it
    bool in_flight = false; // a collective in flight writes it
};

struct State {
    std::vector<Group> groups;           // by root buffer id
    std::map<i64, i64> extents;          // alive: offset -> end
    std::map<i64, i64> host_extents;     // the same on the host
    std::map<int, const Start*> pending; // by token
};

class Walk {
public:
    using Complain = std::function<void(const std::string&, const std::string&)>;
    Walk(const Plan& plan, const Complain& report) : plan_(&plan), report_(&report) {
        scope_.mesh = &plan.mesh;
        scope_.buffers = plan.buffers;
        state_.groups.resize(plan.buffers.size());
        is_input_.resize(plan.buffers.size());
    }

    PeakBytes run() {
        for (const PlanInput& input : plan_->inputs) {
            is_input_[input.buffer] = true;
            if (!allocate(input.buffer))
                fail("inputs", fmt::format("'{}' lies where another input lies", buffer(input.buffer).name));
            group(input.buffer).contents = input.buffer;
        }
        run_list(plan_->steps, "steps", 0);
        if (failed_) return peak_; // the walk ended there
        if (!state_.pending.empty())
            fail("steps", fmt::format("nobody waits for token {}", state_.pending.begin()->first));
        for (const PlanOutput& output : plan_->outputs)
            if (!readable(output.buffer))
                fail("outputs", fmt::format("'{}' does not hold a value at the end", output.name));
        return peak_;
    }

private:
    const Buffer& buffer(int id) const { return plan_->buffers[id]; }
    Group& group(int id) { return state_.groups[root_of(plan_->buffers, id)]; }
    bool known(int id) const { return id >= 0 && id < static_cast<int>(plan_->buffers.size()); }
    void fail(const std::string& where, const std::string& what) {
        failed_ = true;
        (*report_)(where, what);
    }

    bool readable(int id) {
        const Group& g = group(id);
        return g.alive && !g.in_flight && g.contents == contents_of(plan_->buffers, id);
    }

    std::map<i64, i64>& extents(bool on_host) { return on_host ? state_.host_extents : state_.extents; }

    static bool is_free(const std::map<i64, i64>& extents, i64 offset, i64 end) {
        std::map<i64, i64>::const_iterator next = extents.lower_bound(offset);
        if (next != extents.end() && next->first < end) return false;
        return next == extents.begin() || std::prev(next)->second <= offset;
    }

    bool allocate(int root) {
        const Buffer& b = buffer(root);
        if (!is_free(extents(b.on_host), b.offset, b.offset + b.bytes)) return false;
        extents(b.on_host)[b.offset] = b.offset + b.bytes;
        state_.groups[root].alive = true;
        i64& peak = b.on_host ? peak_.host : peak_.device;
        peak = std::max(peak, b.offset + b.bytes);
        return true;
    }

    // The bytes of a result, before a step writes them; empty or what is wrong.
    std::string claim(int id) {
        const Buffer& b = buffer(id);
        const int root = root_of(plan_->buffers, id);
        Group& g = state_.groups[root];
        if (b.view) return fmt::format("writes '{}', which is a view", b.name);
        if (is_input_[root] && !buffer(root).donated)
            return fmt::format("writes over the input '{}'", buffer(root).name);
        if (g.in_flight || g.readers > 0) return fmt::format("writes '{}' while a collective uses its bytes", b.name);
        if (!g.alive && root != id)
            return fmt::format("writes '{}' in the bytes of a buffer that is not alive", b.name);
        if (!g.alive && !allocate(root)) return fmt::format("writes '{}' over a buffer that is alive", b.name);
        g.contents = id;
        return {};
    }

    void run_list(const std::vector<Step>& steps, const std::string& path, int depth) {
        for (size_t i = 0; i < steps.size() && !failed_; ++i) {
            const std::string what =
                std::visit([&](const auto& step) { return check(step, path, i, depth); }, steps[i].variant_ref());
            if (!what.empty()) fail(fmt::format("{}[{}]", path, i), what);
        }
    }

    std::string check(const Compute& step, const std::string&, size_t, int) {
        std::vector<int> reads = step.inputs;
        for (int scalar : scalars_read(*step.kernel)) reads.push_back(scalar);
        std::vector<TensorType> types;
        if (!known(step.output)) return "an output that is not a buffer";
        for (int id : reads) {
            if (!known(id)) return "an input that is not a buffer";
            if (!readable(id)) return fmt::format("reads '{}' before it holds a value", buffer(id).name);
        }
        for (int id : step.inputs) types.push_back(local_type(buffer(id)));
        const TensorType output = local_type(buffer(step.output));
        std::string problem = kernel_problem(scope_, *step.kernel, types, output);
        if (problem.empty()) problem = host_problem(step, reads);
        if (!problem.empty()) return problem;

        const int root = root_of(plan_->buffers, step.output);
        for (size_t i = 0; i < reads.size(); ++i) {
            if (root_of(plan_->buffers, reads[i]) != root) continue;
            if (i >= types.size() || !can_run_in_place(*step.kernel, i, types[i], output))
                return fmt::format("writes over '{}' while it reads it", buffer(reads[i]).name);
        }
        problem = claim(step.output);
        if (!problem.empty()) return problem;

        const i64 end = step.scratch_offset + step.scratch_bytes;
        if (step.scratch_bytes < 0 || step.scratch_offset < 0 || step.scratch_offset % 64 != 0 ||
            step.scratch_bytes > plan_->arena_bytes || step.scratch_offset > plan_->arena_bytes - step.scratch_bytes)
            return "scratch outside the arena";
        if (step.scratch_bytes < scratch_bytes(*step.kernel, types, output)) return "too little scratch for the kernel";
        if (step.scratch_bytes > 0 && !is_free(state_.extents, step.scratch_offset, end))
            return "scratch over a buffer that is alive";
        if (step.scratch_bytes > 0) peak_.device = std::max(peak_.device, end);
        return {};
    }

    // Nothing is computed on the host.
    std::string host_problem(const Compute& step, const std::vector<int>& reads) const {
        if (std::holds_alternative<Move>(*step.kernel)) return {};
        for (int id : reads)
            if (buffer(id).on_host) return fmt::format("computes with '{}', which is on the host", buffer(id).name);
        return buffer(step.output).on_host && !reads.empty()
                   ? fmt::format("computes '{}' on the host", buffer(step.output).name)
                   : std::string();
    }

    std::string check(const Start& step, const std::string& path, size_t index, int) {
        if (!known(step.input) || !known(step.output)) return "a collective of something that is not a buffer";
        if (!readable(step.input)) return fmt::format("sends '{}' before it holds a value", buffer(step.input).name);
        if (buffer(step.input).on_host || buffer(step.output).on_host) return "a collective of what is on the host";
        const bool in_place = root_of(plan_->buffers, step.input) == root_of(plan_->buffers, step.output);
        if (in_place && (step.input == step.output || !can_run_in_place(step.collective)))
            return "a collective into its own input";
        // A loop's body is walked twice, and its tokens with it.
        if (!tokens_.emplace(step.token, fmt::format("{}[{}]", path, index)).second &&
            tokens_.at(step.token) != fmt::format("{}[{}]", path, index))
            return fmt::format("token {} is used by two collectives", step.token);
        if (!state_.pending.emplace(step.token, &step).second)
            return fmt::format("token {} is still in flight", step.token);
        std::string problem = collective_problem(plan_->mesh, step.collective, local_type(buffer(step.input)),
                                                 local_type(buffer(step.output)));
        if (problem.empty()) problem = claim(step.output);
        group(step.output).in_flight = true;
        ++group(step.input).readers;
        return problem;
    }

    std::string check(const Wait& step, const std::string&, size_t, int) {
        const std::map<int, const Start*>::iterator it = state_.pending.find(step.token);
        if (it == state_.pending.end()) return fmt::format("waits for token {}, which is not in flight", step.token);
        group(it->second->output).in_flight = false;
        --group(it->second->input).readers;
        state_.pending.erase(it);
        return {};
    }

    std::string check(const Release& step, const std::string&, size_t, int) {
        if (!known(step.buffer)) return "releases something that is not a buffer";
        const Buffer& b = buffer(step.buffer);
        if (b.alias_of >= 0) return fmt::format("releases '{}', whose bytes belong to another buffer", b.name);
        Group& g = group(step.buffer);
        if (!g.alive) return fmt::format("releases '{}', which is not alive", b.name);
        if (g.in_flight || g.readers > 0) return fmt::format("releases '{}' while a collective uses it", b.name);
        if (is_input_[step.buffer] && !b.donated) return fmt::format("releases the input '{}'", b.name);
        extents(b.on_host).erase(b.offset);
        g = Group{};
        return {};
    }

    // The body is walked twice: the second trip finds what the first one left. The third finds the same again, since
    // what a body touches is afterwards as its last step left it.
    std::string check(const Loop& step, const std::string& path, size_t index, int depth) {
        if (step.trips < 1) return "a loop of no trips";
        if (step.index < 0 || step.index >= loop_index_limit || scope_.trips.count(step.index) > 0)
            return "a loop index that is taken";
        if (depth >= deepest_loops) return fmt::format("loops nest deeper than {}", deepest_loops);
        scope_.trips[step.index] = step.trips;
        const std::string body = fmt::format("{}[{}].loop.body", path, index);
        const std::map<int, const Start*> before = state_.pending;
        run_list(step.body, body, depth + 1);
        if (!failed_ && state_.pending != before)
            fail(body, "a collective is in flight from one trip of a loop to the next");
        if (!failed_ && step.trips > 1) run_list(step.body, body, depth + 1);
        scope_.trips.erase(step.index);
        return {};
    }

    const Plan* plan_;
    const Complain* report_;
    AffineScope scope_;
    State state_;
    std::vector<bool> is_input_;
    std::map<int, std::string> tokens_; // every token and the step that starts it
    PeakBytes peak_;
    bool failed_ = false;
};

} // namespace

PeakBytes check_steps(const Plan& plan, const std::function<void(const std::string&, const std::string&)>& report) {
    return Walk(plan, report).run();
}

} // namespace shard
