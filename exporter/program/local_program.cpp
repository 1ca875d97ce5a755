#include "exporter/program/local_program.h"

#include "exporter/program/written_attention.h"
#include "exporter/program/written_convolution.h"

#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"

#include <set>

namespace shard {

namespace {

using Roots = std::set<int>; // buffers that others are aliases of

class ProgramBuilder {
public:
    explicit ProgramBuilder(const Plan& plan) : plan_(plan), contents_(plan.buffers.size(), -1) {}

    LocalProgram build() {
        for (const PlanInput& input : plan_.inputs) {
            program_.inputs.push_back(add(input.buffer));
            contents_[root(input.buffer)] = program_.inputs.back();
        }
        Roots live;
        for (const PlanOutput& output : plan_.outputs) live.insert(root(output.buffer));
        steps(plan_.steps, live, program_.steps);
        for (const PlanOutput& output : plan_.outputs) program_.outputs.push_back(read(output.buffer, program_.steps));
        return std::move(program_);
    }

private:
    int root(int buffer) const { return root_of(plan_.buffers, buffer); }

    int add(const std::string& name, DType dtype, const Shape& shape) {
        program_.values.push_back({name, dtype, shape});
        return static_cast<int>(program_.values.size()) - 1;
    }
    int add(int buffer) {
        const Buffer& of = plan_.buffers[buffer];
        return add(of.name, of.dtype, of.shape);
    }
    int add_like(int value) {
        const ProgramValue like = program_.values[value];
        return add(like.name, like.dtype, like.shape);
    }

    int in_shape(int value, const Shape& shape, const std::string& name, std::vector<ProgramStep>& into) {
        const ProgramValue from = program_.values[value];
        if (from.shape == shape) return value;
        const int reshaped = add(name, from.dtype, shape);
        into.push_back(ProgramReshape{value, reshaped});
        return reshaped;
    }
    int read(int buffer, std::vector<ProgramStep>& into) {
        const int value = contents_[root(buffer)];
        internal_check(value >= 0, "a buffer is written before it is read");
        return in_shape(value, plan_.buffers[buffer].shape, plan_.buffers[buffer].name, into);
    }
    int write(int buffer) { return contents_[root(buffer)] = add(buffer); }

    static std::vector<int> read_by(const Compute& compute) {
        std::vector<int> buffers = scalars_read(*compute.kernel);
        buffers.insert(buffers.end(), compute.inputs.begin(), compute.inputs.end());
        return buffers;
    }

    // What is read after a step, if `live` is read after it, and so has to be there before.
    void go_back(const Step& step, Roots& live) const {
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
            live.erase(root(compute->output));
            for (int buffer : read_by(*compute)) live.insert(root(buffer));
        }
        if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
            live.erase(root(start->output));
            live.insert(root(start->input));
        }
        if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) {
            Roots before = live_in_body(*loop, live);
            for (auto inner = loop->body.rbegin(); inner != loop->body.rend(); ++inner) go_back(*inner, before);
            live = std::move(before);
        }
    }
    // What is read at the end of a trip: by the next one, or after the loop.
    Roots live_in_body(const Loop& loop, const Roots& after) const {
        Roots next = after;
        for (auto inner = loop.body.rbegin(); inner != loop.body.rend(); ++inner) go_back(*inner, next);
        next.insert(after.begin(), after.end());
        return next;
    }

    void add_written(const std::vector<Step>& list, Roots& written) const {
        for (const Step& step : list) {
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
                written.insert(root(compute->output));
            if (const Start* start = std::get_if<Start>(&step.variant_ref())) written.insert(root(start->output));
            if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) add_written(loop->body, written);
        }
    }

    void steps(const std::vector<Step>& list, const Roots& live_at_end, std::vector<ProgramStep>& into) {
        std::vector<Roots> live(list.size() + 1); // after each step
        live.back() = live_at_end;
        for (size_t s = list.size(); s-- > 0;) {
            live[s] = live[s + 1];
            go_back(list[s], live[s]);
        }
        for (size_t s = 0; s < list.size(); ++s) {
            if (const Compute* compute = std::get_if<Compute>(&list[s].variant_ref())) {
                ProgramCompute made{compute, {}, -1};
                for (int buffer : compute->inputs) made.inputs.push_back(read(buffer, into));
                for (int buffer : scalars_read(*compute->kernel)) made.scalars[buffer] = read(buffer, into);
                if (const std::vector<WrittenStep> steps = written(*compute); !steps.empty()) {
                    write_out(steps, made, into);
                    continue;
                }
                made.output = write(compute->output);
                into.push_back(std::move(made));
            }
            if (const Start* start = std::get_if<Start>(&list[s].variant_ref())) {
                const int input = read(start->input, into);
                into.push_back(ProgramCollective{start, input, write(start->output)});
            }
            if (const Loop* loop = std::get_if<Loop>(&list[s].variant_ref())) add_loop(*loop, live[s + 1], into);
        }
    }

    // Nothing where engines have the kernel.
    std::vector<WrittenStep> written(const Compute& compute) const {
        std::vector<TensorType> types;
        for (int buffer : compute.inputs) types.push_back(local_type(plan_.buffers[buffer]));
        const TensorType output = local_type(plan_.buffers[compute.output]);
        if (const Attend* attend = std::get_if<Attend>(&*compute.kernel))
            return written_attention(*attend, types, output);
        if (const Convolve* convolve = std::get_if<Convolve>(&*compute.kernel))
            return written_convolution(*convolve, types, output);
        return {};
    }

    void write_out(const std::vector<WrittenStep>& steps, const ProgramCompute& whole, std::vector<ProgramStep>& into) {
        const Buffer& output = plan_.buffers[whole.step->output];
        std::vector<int> values = whole.inputs;
        for (const WrittenStep& step : steps) {
            Compute& compute = program_.written.emplace_back(*whole.step);
            compute.kernel = step.kernel;
            ProgramCompute made{&compute, {}, -1, whole.scalars};
            for (int input : step.inputs) made.inputs.push_back(values[static_cast<size_t>(input)]);
            const bool is_last = &step == &steps.back();
            made.output = is_last ? write(whole.step->output)
                                  : add(output.name + "." + step.name, step.type.dtype, step.type.shape);
            values.push_back(made.output);
            into.push_back(std::move(made));
        }
    }

    void add_loop(const Loop& loop, const Roots& live_after, std::vector<ProgramStep>& into) {
        const Roots live = live_in_body(loop, live_after);
        Roots written;
        add_written(loop.body, written);
        ProgramLoop made{&loop, {}, {}};
        std::vector<int> carried;
        for (int buffer : written) {
            if (!live.contains(buffer)) continue;
            ProgramLoop::Carried one;
            one.init = contents_[buffer];
            one.argument = contents_[buffer] = one.init >= 0 ? add_like(one.init) : -1;
            made.carried.push_back(one);
            carried.push_back(buffer);
        }
        steps(loop.body, live, made.body);
        for (size_t c = 0; c < carried.size(); ++c) {
            ProgramLoop::Carried& one = made.carried[c];
            int& held = contents_[carried[c]];
            if (one.init < 0) { // first written in the loop, and read after it
                one.init = add_like(held);
                into.push_back(ProgramZeros{one.init});
                one.argument = add_like(held);
            }
            const ProgramValue first = program_.values[one.init];
            one.yield = in_shape(held, first.shape, first.name, made.body);
            one.result = held = add_like(one.yield);
        }
        into.push_back(std::move(made));
    }

    const Plan& plan_;
    LocalProgram program_;
    std::vector<int> contents_; // the value that a root holds, -1 if none
};

} // namespace

LocalProgram local_program(const Plan& plan) { return ProgramBuilder(plan).build(); }

Generate initial_block(const PlanInput& input, const Buffer& buffer) {
    Generate init = input.init;
    init.start.clear();
    for (size_t d = 0; d < buffer.global_shape.size(); ++d)
        init.start.push_back(block_start(buffer.global_shape[d], buffer.sharding.dims[d].axes));
    return init;
}

bool reaches_beyond(const Generate& kernel, const Shape& block) {
    for (size_t d = 0; d < block.size(); ++d) {
        i64 last = kernel.start[d].constant;
        for (const AffineTerm& term : kernel.start[d].terms) last += term.coefficient * (term.axis.size - 1);
        if (last + block[d] > kernel.shape[d]) return true;
    }
    return false;
}

} // namespace shard
