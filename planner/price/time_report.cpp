#include "planner/price/time_report.h"

#include "planner/price/price.h"

#include "plans/base/saturating.h"
#include "plans/collective/launch.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/plan/plan_check_types.h"

#include <algorithm>
#include <deque>
#include <map>

namespace shard {

namespace {

class Clock {
public:
    Clock(const Plan& plan, const Hardware& hardware)
        : plan_(&plan), hardware_(&hardware), launch_(plan.mesh, hardware) {}

    StepTime run() {
        run_list(plan_->steps, 1);
        report_.exposed_communication_seconds = waited_;
        report_.step_seconds = now_;
        return {report_, launches_, seconds_, waits_, spans_};
    }

private:
    StepSpan span_of(const Compute& compute) const { // from 0
        std::vector<TensorType> types;
        const TensorType output = local_type(plan_->buffers[compute.output]);
        for (int input : compute.inputs) types.push_back(local_type(plan_->buffers[input]));
        int in_place = -1;
        for (size_t i = compute.inputs.size(); i-- > 0;)
            if (plan_->buffers[compute.inputs[i]].offset == plan_->buffers[compute.output].offset &&
                plan_->buffers[compute.inputs[i]].on_host == plan_->buffers[compute.output].on_host)
                in_place = static_cast<int>(i);
        StepSpan span{0, 0, flops(*compute.kernel, types, output),
                      kernel_bytes(*compute.kernel, types, output, in_place)};
        if (is_host_copy(compute)) {
            span.bytes = compute.inputs.empty() ? 0 : span.bytes / 2; // they cross the link once
            span.end = host_seconds(*hardware_, span.bytes);
            return span;
        }
        span.end = kernel_seconds(*hardware_, *compute.kernel, types, output, span.flops, span.bytes);
        return span;
    }

    // Zeros that a stack on the host begins with are its own.
    bool is_host_copy(const Compute& compute) const {
        const auto on_host = [this](int buffer) { return plan_->buffers[buffer].on_host; };
        return on_host(compute.output) || std::any_of(compute.inputs.begin(), compute.inputs.end(), on_host);
    }

    // `count`: how often the list runs in all; the clock sees one run of it.
    void run_list(const std::vector<Step>& steps, double count) {
        end_launch();
        for (const Step& step : steps) {
            const size_t at = at_++;
            spans_.resize(std::max(spans_.size(), at_));
            if (!std::holds_alternative<Start>(step.variant_ref()) &&
                !std::holds_alternative<Release>(step.variant_ref()))
                end_launch();
            StepSpan span{now_, now_};
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
                span = span_of(*compute);
                const double seconds = span.end;
                if (is_host_copy(*compute)) {
                    report_.host_seconds += count * seconds;
                } else {
                    report_.compute_seconds += count * seconds;
                    report_.launch_seconds += count * hardware_->kernel_launch;
                }
                span.begin = now_;
                now_ += seconds;
                span.end = now_;
            } else if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
                begin(*start, at, count);
                continue;
            } else if (const Wait* wait = std::get_if<Wait>(&step.variant_ref())) {
                const double end = ends_[wait->token];
                waited_ += std::max(0.0, end - now_);
                forget_sent();
                for (const Sent& sent : sent_) { // those before it on the channel are waited for too
                    if (sent.begin >= end) break;
                    waits_[sent.token] += std::max(0.0, std::min(end, sent.end) - std::max(now_, sent.begin));
                }
                now_ = std::max(now_, end);
                span.end = now_;
            } else if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) {
                run_loop(*loop, count);
                span.end = now_;
            }
            spans_[at] = span;
        }
        end_launch();
    }

    void begin(const Start& start, size_t at, double count) {
        const bool joins = launch_.would_join(start.collective, local_type(plan_->buffers[start.input]));
        if (!joins) end_launch();
        const double before = joins ? launch_.seconds() : 0;
        launch_.add(start.collective, local_type(plan_->buffers[start.input]));
        report_.communication_seconds += count * (launch_.seconds() - before);
        launched_.emplace_back(start.token, at);
        if (!joins) launch_begin_ = std::max(channel_, now_);
        channel_ = launch_begin_ + launch_.seconds();
        if (hardware_->overlaps || channel_ <= now_) return;
        waited_ += channel_ - now_;
        waits_[start.token] += channel_ - now_;
        now_ = channel_;
    }

    // Those of one launch end together; each is said to take an equal share of it, one after the other.
    void end_launch() {
        launch_.end();
        const double share = launch_.seconds() / static_cast<double>(launched_.size());
        forget_sent();
        for (size_t i = 0; i < launched_.size(); ++i) {
            const auto [token, step] = launched_[i];
            launches_[token] = launched_.front().first;
            seconds_[token] = share;
            ends_[token] = channel_;
            const double first = launch_begin_ + static_cast<double>(i) * share;
            const double last = i + 1 == launched_.size() ? channel_ : first + share;
            sent_.push_back({token, first, last});
            spans_[step] = {first, last};
        }
        launched_.clear();
    }

    // What the channel carries is one after the other.
    void forget_sent() {
        while (!sent_.empty() && sent_.front().end <= now_) sent_.pop_front();
    }

    // Two trips show what a trip adds once the loop runs; the others are alike.
    void run_loop(const Loop& loop, double count) {
        const double trips = static_cast<double>(loop.trips);
        const size_t body = at_;
        run_list(loop.body, count * trips);
        if (loop.trips == 1) return;
        const TimeReport counted = report_; // the second walk must not count anything again
        const double before = now_, waited = waited_;
        const std::map<int, double> waits = waits_;
        at_ = body;
        run_list(loop.body, 0);
        report_ = counted;
        now_ += (now_ - before) * (trips - 2);
        waited_ += (waited_ - waited) * (trips - 2);
        for (const auto& [token, seconds] : waits) waits_[token] += (waits_[token] - seconds) * (trips - 2);
        channel_ = std::max(channel_, now_);
    }

    const Plan* plan_;
    const Hardware* hardware_;
    TimeReport report_;
    std::vector<StepSpan> spans_;
    size_t at_ = 0; // the step that comes next
    Launch launch_;
    std::vector<std::pair<int, size_t>> launched_; // what is in it: token, number of the step
    double launch_begin_ = 0;
    std::map<int, int> launches_;   // by token: the first of its launch
    std::map<int, double> seconds_; // by token
    std::map<int, double> ends_;    // of collectives in flight, by token
    std::map<int, double> waits_;   // seconds in all, by token of what the channel carries meanwhile
    struct Sent {
        int token;
        double begin, end;
    };
    std::deque<Sent> sent_; // what the channel carries now and then, one after the other
    double now_ = 0, channel_ = 0, waited_ = 0;
};

void visit_steps(const std::vector<Step>& steps, i64 count, const std::function<void(const Step&, i64)>& visit) {
    for (const Step& step : steps) {
        if (const Loop* loop = std::get_if<Loop>(&step.variant_ref()))
            visit_steps(loop->body, multiply_saturating(count, loop->trips), visit);
        else
            visit(step, count);
    }
}

} // namespace

StepTime step_time(const Plan& plan, const Hardware& hardware) {
    return Clock(plan, for_working_set(hardware, static_cast<double>(plan.peak_bytes))).run();
}

TimeReport time_of(const Plan& plan, const Hardware& hardware) { return step_time(plan, hardware).report; }

i64 flops_of(const Plan& plan) {
    i64 sum = 0;
    for_each_step(plan, [&](const Step& step, i64 count) {
        const Compute* const compute = std::get_if<Compute>(&step.variant_ref());
        if (compute == nullptr) return;
        std::vector<TensorType> types;
        for (int input : compute->inputs) types.push_back(local_type(plan.buffers[input]));
        const i64 of_one = flops(*compute->kernel, types, local_type(plan.buffers[compute->output]));
        sum = add_saturating(sum, multiply_saturating(count, of_one));
    });
    return sum;
}

i64 wire_bytes_of(const Plan& plan) {
    i64 sum = 0;
    for_each_step(plan, [&](const Step& step, i64 count) {
        const Start* const start = std::get_if<Start>(&step.variant_ref());
        if (start == nullptr) return;
        const Collective& collective = start->collective;
        const i64 of_one = collective.def->wire_bytes_total(collective, plan.mesh, plan.buffers[start->input].bytes);
        sum = add_saturating(sum, multiply_saturating(count, of_one));
    });
    return sum;
}

void for_each_step(const Plan& plan, const std::function<void(const Step& step, i64 count)>& visit) {
    visit_steps(plan.steps, 1, visit);
}

} // namespace shard
