#include "tests/support/plan_builder.h"

#include "executor/elements/element.h"
#include "executor/formats/tensor.h"
#include "plans/kernel/kernel_scratch.h"

#include <doctest/doctest.h>

#include <cstring>

namespace shard {

Mesh make_mesh(std::vector<std::pair<std::string, i64>> axes) {
    Mesh mesh;
    for (auto& [name, size] : axes) mesh.axes.push_back({name, size, ""});
    return mesh;
}

PlanBuilder::PlanBuilder(Mesh mesh) { plan_.mesh = std::move(mesh); }

int PlanBuilder::buffer(const std::string& name, DType dtype, Shape global_shape, const std::string& sharding) {
    Buffer buffer;
    buffer.id = static_cast<int>(plan_.buffers.size());
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.sharding = replicated_sharding(static_cast<int>(global_shape.size()));
    if (!sharding.empty()) {
        const std::optional<Sharding> parsed = parse_sharding(plan_.mesh, sharding);
        REQUIRE(parsed);
        buffer.sharding = *parsed;
    }
    buffer.shape = local_shape(global_shape, buffer.sharding);
    buffer.global_shape = std::move(global_shape);
    buffer.bytes = element_count(buffer.shape) * byte_size(dtype);
    buffer.offset = plan_.arena_bytes;
    plan_.arena_bytes += (buffer.bytes + 63) / 64 * 64;
    plan_.peak_bytes = buffer.offset + buffer.bytes;
    plan_.buffers.push_back(std::move(buffer));
    return static_cast<int>(plan_.buffers.size()) - 1;
}

int PlanBuilder::input(const std::string& name, DType dtype, Shape global_shape, const std::string& sharding) {
    const int id = buffer(name, dtype, global_shape, sharding);
    plan_.inputs.push_back({id, {Fill{0}, global_shape, {}}});
    return id;
}

void PlanBuilder::compute(Kernel kernel, std::vector<int> inputs, int output) {
    std::vector<TensorType> types;
    for (int id : inputs) types.push_back({plan_.buffers[id].dtype, plan_.buffers[id].shape, {}});
    const Buffer& out = plan_.buffers[output];
    Compute step;
    step.scratch_bytes = scratch_bytes(kernel, types, {out.dtype, out.shape, {}});
    step.scratch_offset = plan_.arena_bytes;
    plan_.arena_bytes += (step.scratch_bytes + 63) / 64 * 64;
    if (step.scratch_bytes > 0) plan_.peak_bytes = step.scratch_offset + step.scratch_bytes;
    step.kernel = std::move(kernel);
    step.inputs = std::move(inputs);
    step.output = output;
    steps().push_back(std::move(step));
}

int PlanBuilder::start(const std::string& kind, Collective fields, int input, int output) {
    Start step;
    step.collective = std::move(fields);
    step.collective.def = find_collective(kind);
    REQUIRE(step.collective.def != nullptr);
    step.input = input;
    step.output = output;
    step.token = starts_++;
    const int token = step.token;
    steps().push_back(std::move(step));
    return token;
}

void PlanBuilder::wait(int token) { steps().push_back(Wait{token}); }

int PlanBuilder::collective(const std::string& kind, Collective fields, int input, int output) {
    const int token = start(kind, std::move(fields), input, output);
    wait(token);
    return token;
}

void PlanBuilder::release(int buffer) { steps().push_back(Release{buffer}); }
void PlanBuilder::output(const std::string& name, int buffer) { plan_.outputs.push_back({name, buffer}); }

void PlanBuilder::begin_loop(int index, i64 trips) { bodies_.push_back({index, trips, {}}); }
void PlanBuilder::end_loop() {
    Loop loop = std::move(bodies_.back());
    bodies_.pop_back();
    steps().push_back(std::move(loop));
}

std::vector<AxisRef> PlanBuilder::axes(const std::vector<std::string>& names) const {
    std::vector<AxisRef> refs;
    for (const std::string& name : names) {
        const std::optional<AxisRef> ref = parse_axis_ref(plan_.mesh, name);
        REQUIRE(ref);
        refs.push_back(*ref);
    }
    return refs;
}

RunResult run_clean(const Plan& plan, const RunOptions& options) {
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.all()) FAIL_CHECK(diagnostic.message);
    REQUIRE(result);
    return *result;
}

Pointwise pointwise(ScalarOp op, int inputs, int rank, DType dtype, DType result) {
    Pointwise kernel;
    ScalarStep last;
    last.op = op;
    last.dtype = result;
    for (int n = 0; n < inputs; ++n) {
        std::vector<int> dims;
        for (int d = 0; d < rank; ++d) dims.push_back(d);
        kernel.input_dims.push_back(dims);
        ScalarStep load;
        load.op = ScalarOp::input;
        load.args[0] = n;
        load.dtype = dtype;
        kernel.steps.push_back(load);
        last.args[n] = n;
    }
    kernel.steps.push_back(last);
    return kernel;
}

} // namespace shard
