#include "planner/price/memory_report.h"

#include "planner/price/price.h"

#include "plans/plan/plan_check_types.h"

#include <map>

namespace shard {

namespace {

// Bytes by category while the steps run. A root buffer counts once, as what it holds at the time.
class Meter {
public:
    Meter(const Plan& plan, const std::vector<Content>& contents) : plan_(&plan), contents_(&contents) {}

    MemoryReport run() {
        for (const PlanInput& input : plan_->inputs) hold(input.buffer);
        note(0);
        run_list(plan_->steps);
        most_.peak = plan_->peak_bytes;
        return most_;
    }

private:
    i64& category(int buffer) {
        // The bytes of a parameter or state stay what they are when its new value is written there.
        const Buffer& own = plan_->buffers[buffer];
        const Buffer& root = plan_->buffers[root_of(plan_->buffers, buffer)];
        const bool is_kept = root.role == Role::param || root.role == Role::state;
        const Content content = (*contents_)[buffer];
        if (!is_kept && content == Content::gradient) return now_.gradients;
        switch (is_kept ? root.role : own.role) {
        case Role::param:
            return now_.params;
        case Role::state:
            return now_.optimizer_state;
        case Role::gradient:
            return now_.gradients;
        case Role::input:
            return now_.inputs;
        default:
            return content == Content::value ? now_.activations : now_.temporaries;
        }
    }

    void hold(int buffer) {
        const int root = root_of(plan_->buffers, buffer);
        drop(root);
        const i64 bytes = plan_->buffers[root].bytes;
        category(buffer) += bytes;
        total_ += bytes;
        held_[root] = buffer;
    }

    void drop(int root) {
        const std::map<int, int>::iterator it = held_.find(root);
        if (it == held_.end()) return;
        const i64 bytes = plan_->buffers[root].bytes;
        category(it->second) -= bytes;
        total_ -= bytes;
        held_.erase(it);
    }

    void note(i64 scratch) {
        if (total_ + scratch <= most_total_) return;
        most_total_ = total_ + scratch;
        most_ = now_;
        most_.temporaries += scratch;
    }

    void run_list(const std::vector<Step>& steps) {
        for (const Step& step : steps) {
            i64 scratch = 0;
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
                hold(compute->output), scratch = compute->scratch_bytes;
            if (const Start* start = std::get_if<Start>(&step.variant_ref())) hold(start->output);
            if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) run_list(loop->body); // every trip is alike
            note(scratch);
            if (const Release* release = std::get_if<Release>(&step.variant_ref())) drop(release->buffer);
        }
    }

    const Plan* plan_;
    const std::vector<Content>* contents_; // by buffer
    std::map<int, int> held_;              // root -> the buffer whose value it holds
    MemoryReport now_, most_;
    i64 total_ = 0, most_total_ = -1;
};

} // namespace

MemoryReport memory_of(const Plan& plan, const std::vector<Content>& contents) { return Meter(plan, contents).run(); }

} // namespace shard
