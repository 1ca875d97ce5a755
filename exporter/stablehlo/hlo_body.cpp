#include "exporter/stablehlo/hlo_body.h"

#include "exporter/collective/collective_form.h"
#include "exporter/program/source_comment.h"
#include "exporter/stablehlo/hlo_contract.h"
#include "exporter/stablehlo/hlo_convolve.h"
#include "exporter/stablehlo/hlo_generate.h"
#include "exporter/stablehlo/hlo_lookup.h"
#include "exporter/stablehlo/hlo_move.h"
#include "exporter/stablehlo/hlo_pointwise.h"
#include "exporter/stablehlo/hlo_pool.h"
#include "exporter/stablehlo/hlo_ragged.h"
#include "exporter/stablehlo/hlo_reduce.h"
#include "exporter/stablehlo/hlo_sort.h"
#include "plans/sharding/axis_stride.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace shard {

HloValue HloBody::value(int number) const {
    const ProgramValue& of = program_->values[static_cast<size_t>(number)];
    return {value_names_[static_cast<size_t>(number)], of.dtype, of.shape};
}

void HloBody::set(int number, const HloValue& made) {
    const ProgramValue& of = program_->values[static_cast<size_t>(number)];
    internal_check(made.dtype == of.dtype && made.shape == of.shape, "a kernel's form has the type of its result");
    value_names_[static_cast<size_t>(number)] = ops_.named(made, of.name).name;
}

i64 HloBody::device_at(i64 position) const {
    const std::vector<i64>& ids = plan_.mesh.device_ids;
    return ids.empty() ? position : ids[static_cast<size_t>(position)];
}

HloValue HloBody::position() {
    if (position_) return *position_;
    const HloValue id = ops_.convert(ops_.made(DType::u32, {}, "stablehlo.partition_id : tensor<ui32>"), DType::i64);
    position_ = id;
    if (plan_.mesh.device_ids.empty()) return id;
    std::vector<i64> positions(plan_.mesh.device_ids.size());
    for (size_t p = 0; p < positions.size(); ++p)
        positions[static_cast<size_t>(plan_.mesh.device_ids[p])] = static_cast<i64>(p);
    const HloValue table = ops_.constant(hlo_list(positions), DType::i64, {static_cast<i64>(positions.size())});
    position_ = ops_.reshape(ops_.dynamic_slice(table, {id}, {1}), {});
    return *position_;
}

// Once for all steps.
HloValue HloBody::coordinate(const AxisRef& ref) {
    const auto [known, is_new] = coordinates_.try_emplace({ref.axis, ref.pre, ref.size});
    if (!is_new) return known->second;
    i64 stride = stride_of(plan_.mesh, ref); // in positions
    for (size_t axis = static_cast<size_t>(ref.axis) + 1; axis < plan_.mesh.axes.size(); ++axis)
        stride *= plan_.mesh.axes[axis].size;
    return known->second = ops_.at_the_top([&] {
        HloValue steps = position();
        if (stride != 1)
            steps = ops_.pointwise("stablehlo.divide", {steps, ops_.constant(std::to_string(stride), DType::i64)});
        const HloValue size = ops_.constant(std::to_string(ref.size), DType::i64);
        return ops_.named(ops_.pointwise("stablehlo.remainder", {steps, size}), "at." + text(plan_.mesh, ref));
    });
}

HloValue HloBody::affine(const Affine& affine) {
    const auto number = [this](i64 value) { return ops_.constant(std::to_string(value), DType::i64); };
    std::optional<HloValue> sum;
    for (const AffineTerm& term : affine.terms) {
        HloValue variable;
        if (term.kind == AffineTerm::Kind::coordinate) {
            variable = coordinate(term.axis);
        } else if (term.kind == AffineTerm::Kind::loop) {
            variable = indices_.at(term.index);
        } else {
            variable = ops_.convert(scalars_.at(term.index), DType::i64);
            const AffineTerm any;
            if (term.low != any.low || term.high != any.high)
                variable = ops_.pointwise("stablehlo.clamp", {number(term.low), variable, number(term.high)});
        }
        if (term.coefficient != 1)
            variable = ops_.pointwise("stablehlo.multiply", {variable, number(term.coefficient)});
        sum = sum ? ops_.pointwise("stablehlo.add", {*sum, variable}) : variable;
    }
    if (!sum) return number(affine.constant);
    return affine.constant == 0 ? *sum : ops_.pointwise("stablehlo.add", {*sum, number(affine.constant)});
}

HloValues HloBody::affines(std::span<const Affine> starts) {
    HloValues values;
    for (const Affine& start : starts) values.push_back(affine(start));
    return values;
}

void HloBody::forget_source() {
    last_ = {};
    ops_.comment({});
}

// The line of the user's file that the ops that follow come from.
void HloBody::comment(const SourceRef& source) {
    if (source.line == 0 || (source.file == last_.file && source.line == last_.line)) return;
    last_ = source;
    const std::string text = source_comment(plan_, source, "//");
    ops_.comment(text.substr(0, text.size() - 1));
}

HloValues HloBody::write(const LocalProgram& program, const std::vector<std::string>& arguments) {
    program_ = &program;
    value_names_.assign(program.values.size(), {});
    for (size_t n = 0; n < program.inputs.size(); ++n)
        value_names_[static_cast<size_t>(program.inputs[n])] = arguments[n];
    write_steps(program.steps);
    HloValues outputs;
    for (int output : program.outputs) outputs.push_back(value(output));
    return outputs;
}

HloValue HloBody::initial(const PlanInput& input) {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(input.buffer)];
    const Generate block = initial_block(input, buffer);
    HloValue made = hlo_generate(block, {buffer.name, buffer.dtype, buffer.shape}, *this);
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
        if (buffer.real_shape()[d] == buffer.global_shape[d]) continue;
        const HloValue place = ops_.iota(static_cast<i64>(d), DType::i32, buffer.shape),
                       end = ops_.constant(static_cast<double>(buffer.real_shape()[d]), DType::i32, buffer.shape),
                       zero = ops_.constant(0, buffer.dtype, buffer.shape),
                       first = ops_.filled(ops_.convert(affine(block.start[d]), DType::i32), buffer.shape);
        const HloValue is_real = ops_.less({ops_.pointwise("stablehlo.add", {place, first}), end});
        made = ops_.pointwise("stablehlo.select", {is_real, made, zero});
    }
    return ops_.named(made, buffer.name);
}

void HloBody::write_steps(const std::vector<ProgramStep>& steps) {
    for (const ProgramStep& step : steps) {
        if (const ProgramCompute* made = std::get_if<ProgramCompute>(&step.variant_ref())) {
            comment(made->step->source);
            set(made->output, compute(*made));
        }
        if (const ProgramCollective* made = std::get_if<ProgramCollective>(&step.variant_ref())) {
            comment(made->step->source);
            const Collective& collective = made->step->collective;
            set(made->output, form_of(collective).stablehlo(collective, value(made->input), *this));
        }
        if (const ProgramReshape* made = std::get_if<ProgramReshape>(&step.variant_ref()))
            set(made->output,
                ops_.reshape(value(made->input), program_->values[static_cast<size_t>(made->output)].shape));
        if (const ProgramZeros* made = std::get_if<ProgramZeros>(&step.variant_ref())) {
            const ProgramValue& to = program_->values[static_cast<size_t>(made->output)];
            set(made->output, ops_.constant(0, to.dtype, to.shape));
        }
        if (const ProgramLoop* loop = std::get_if<ProgramLoop>(&step.variant_ref())) write_loop(*loop);
    }
}

HloValue HloBody::compute(const ProgramCompute& compute) {
    HloValues inputs;
    for (int input : compute.inputs) inputs.push_back(value(input));
    for (const auto& [buffer, number] : compute.scalars) scalars_[buffer] = value(number);
    const HloValue& output = program_->values[static_cast<size_t>(compute.output)];
    const Kernel& kernel = *compute.step->kernel;
    if (const Contract* contract = std::get_if<Contract>(&kernel)) return hlo_contract(*contract, inputs, output, ops_);
    if (const Pointwise* pointwise = std::get_if<Pointwise>(&kernel))
        return hlo_pointwise(*pointwise, inputs, output, *this);
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel)) {
        const HloValue reduced =
            reduce->made ? hlo_pointwise(reduce->made->program, inputs, {"", output.dtype, reduce->made->shape}, *this)
                         : inputs[0];
        return hlo_reduce(*reduce, reduced, output, ops_);
    }
    if (const Scan* scan = std::get_if<Scan>(&kernel)) return hlo_scan(*scan, inputs, output, ops_);
    if (const Sort* sort = std::get_if<Sort>(&kernel)) return hlo_sort(*sort, inputs, output, ops_);
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel)) return hlo_convolve(*convolve, inputs, output, ops_);
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel))
        return hlo_ragged(*ragged, inputs, output, *this);
    if (const ReduceWindows* windows = std::get_if<ReduceWindows>(&kernel))
        return hlo_reduce_windows(*windows, inputs[0], output, ops_);
    if (const SelectWindows* windows = std::get_if<SelectWindows>(&kernel))
        return hlo_select_windows(*windows, inputs, output, ops_);
    if (const Move* move = std::get_if<Move>(&kernel)) return hlo_move(*move, inputs, output, *this);
    if (const Gather* gather = std::get_if<Gather>(&kernel)) return hlo_gather(*gather, inputs, output, *this);
    if (const Scatter* scatter = std::get_if<Scatter>(&kernel)) return hlo_scatter(*scatter, inputs, output, *this);
    return hlo_generate(std::get<Generate>(kernel), output, *this);
}

// The trip's number and what is handed on are what a while carries. The number is an i32 where it can be: of an i64,
// which a TPU computes in halves, XLA:TPU does not find out how often the loop runs.
void HloBody::write_loop(const ProgramLoop& loop) {
    const DType counter = loop.step->trips <= std::numeric_limits<std::int32_t>::max() ? DType::i32 : DType::i64;
    HloValues inits = {ops_.constant(0, counter)}, arguments = {{ops_.fresh("trip"), counter, {}}};
    std::vector<std::string> begins = {fmt::format("{} = {}", arguments[0].name, inits[0].name)};
    for (const ProgramLoop::Carried& carried : loop.carried) {
        inits.push_back(value(carried.init));
        HloValue argument = program_->values[static_cast<size_t>(carried.argument)];
        argument.name = value_names_[static_cast<size_t>(carried.argument)] = ops_.fresh(argument.name);
        begins.push_back(fmt::format("{} = {}", argument.name, inits.back().name));
        arguments.push_back(argument);
    }
    trips_[loop.step->index] = loop.step->trips;
    const std::string handed = ops_.fresh("carried");
    forget_source();
    ops_.line(fmt::format("{}{} = stablehlo.while({}) : {}", handed, hlo_several(arguments.size()),
                          fmt::join(begins, ", "), hlo_types(arguments)));
    ops_.line("cond {");
    ops_.deeper();
    const HloValue more = ops_.less({arguments[0], ops_.constant(static_cast<double>(loop.step->trips), counter)});
    ops_.line(fmt::format("stablehlo.return {} : tensor<i1>", more.name));
    ops_.back();
    ops_.line("} do {");
    ops_.deeper();
    indices_[loop.step->index] = ops_.convert(arguments[0], DType::i64);
    write_steps(loop.body);
    forget_source();
    HloValues yields = {ops_.pointwise("stablehlo.add", {arguments[0], ops_.constant(1, counter)})};
    for (const ProgramLoop::Carried& carried : loop.carried) yields.push_back(value(carried.yield));
    ops_.line(fmt::format("stablehlo.return {} : {}", hlo_names(yields), hlo_types(yields)));
    ops_.back();
    ops_.line("}");
    for (size_t c = 0; c < loop.carried.size(); ++c)
        value_names_[static_cast<size_t>(loop.carried[c].result)] =
            fmt::format("{}#{}", handed, c + 1); // behind the trip
}

} // namespace shard
