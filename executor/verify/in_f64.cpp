#include "executor/verify/in_f64.h"

#include "executor/checkpoint/checkpoint.h"
#include "executor/kernels/generate.h"
#include "plans/kernel/kernel_scratch.h"
#include "plans/plan/plan_check_steps.h"
#include "plans/plan/plan_check_types.h"

#include <algorithm>

namespace shard {

namespace {

bool widens(DType dtype) { return is_floating(dtype) && dtype != DType::f64; }
void widen(DType& dtype) {
    if (is_floating(dtype)) dtype = DType::f64;
}

class Widening {
public:
    explicit Widening(const Plan& plan) : plan_(plan) {}

    Plan plan() {
        const i64 factor = growth();
        for (Buffer& buffer : plan_.buffers) {
            widen(buffer.dtype);
            buffer.offset *= factor;
            buffer.bytes = local_type(buffer).bytes();
        }
        scratch_offset_ = plan_.arena_bytes * factor;
        widen_steps(plan_.steps);
        plan_.arena_bytes = scratch_offset_ + scratch_bytes_;
        plan_.host_arena_bytes *= factor;
        const PeakBytes peak = check_steps(plan_, [](const std::string&, const std::string&) {});
        plan_.peak_bytes = peak.device;
        plan_.host_peak_bytes = peak.host;
        return std::move(plan_);
    }

private:
    // Of every offset: as much as the narrowest number grows.
    i64 growth() const {
        i64 factor = 1;
        for (const Buffer& buffer : plan_.buffers)
            if (widens(buffer.dtype)) factor = std::max(factor, byte_size(DType::f64) / byte_size(buffer.dtype));
        return factor;
    }

    void widen_steps(std::vector<Step>& steps) {
        for (Step& step : steps) {
            if (Loop* loop = std::get_if<Loop>(&step)) widen_steps(loop->body);
            if (Compute* compute = std::get_if<Compute>(&step)) widen_kernel(*compute);
        }
    }

    // One kernel at a time needs scratch on a device: all have it at the end.
    void widen_kernel(Compute& compute) {
        if (program_of(*compute.kernel) != nullptr)
            compute.kernel.change([](Kernel& kernel) {
                for (ScalarStep& step : program_of(kernel)->steps) widen(step.dtype);
            });
        std::vector<TensorType> inputs;
        for (int input : compute.inputs) inputs.push_back(local_type(plan_.buffers[input]));
        compute.scratch_bytes = scratch_bytes(*compute.kernel, inputs, local_type(plan_.buffers[compute.output]));
        compute.scratch_offset = compute.scratch_bytes > 0 ? scratch_offset_ : 0;
        scratch_bytes_ = std::max(scratch_bytes_, compute.scratch_bytes);
    }

    Plan plan_;
    i64 scratch_offset_ = 0, scratch_bytes_ = 0;
};

} // namespace

bool is_below_f64(const Plan& plan) {
    return std::any_of(plan.buffers.begin(), plan.buffers.end(),
                       [](const Buffer& buffer) { return widens(buffer.dtype); });
}

bool takes_float_bits(const Plan& plan) {
    const auto takes = [](const Step& step) {
        const Compute* const compute = std::get_if<Compute>(&step.variant_ref());
        const Pointwise* const program = compute != nullptr ? program_of(*compute->kernel) : nullptr;
        return program != nullptr &&
               std::any_of(program->steps.begin(), program->steps.end(), [program](const ScalarStep& scalar) {
                   return scalar.op == ScalarOp::bitcast &&
                          (widens(scalar.dtype) || widens(program->steps[scalar.args[0]].dtype));
               });
    };
    const auto any = [&takes](const auto& self, const std::vector<Step>& steps) -> bool {
        return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
            const Loop* const loop = std::get_if<Loop>(&step.variant_ref());
            return loop != nullptr ? self(self, loop->body) : takes(step);
        });
    };
    return any(any, plan.steps);
}

Plan in_f64(const Plan& plan) { return Widening(plan).plan(); }

std::optional<std::map<std::string, Tensor>> beginning(const Plan& plan, const RunOptions& options,
                                                       Diagnostics& diagnostics) {
    std::map<std::string, Tensor> inputs = options.inputs;
    for (const PlanInput& input : plan.inputs) {
        Buffer whole = plan.buffers[input.buffer];
        if (inputs.contains(whole.name)) continue;
        whole.shape = whole.global_shape = whole.real_shape();
        whole.unpadded_shape.clear();
        Tensor& tensor = inputs[whole.name];
        tensor.type = {whole.dtype, whole.shape, {}};
        tensor.bytes.resize(static_cast<size_t>(tensor.type.bytes()));
        const std::vector<i64> start(whole.shape.size(), 0);
        std::string problem;
        if (options.restore == nullptr || !options.restore->selected(whole.name))
            generate_box(input.init, start, {whole.dtype, &whole.shape, tensor.bytes.data()});
        else if (!options.restore->read(whole, start, tensor.bytes.data(), problem)) {
            diagnostics.error("E0611", {}, problem).help("was the checkpoint removed while it was read?");
            return std::nullopt;
        }
    }
    return inputs;
}

} // namespace shard
