#include "exporter/jax/jax_body.h"

#include "exporter/collective/collective_form.h"
#include "exporter/jax/jax_contract.h"
#include "exporter/jax/jax_convolve.h"
#include "exporter/jax/jax_generate.h"
#include "exporter/jax/jax_lookup.h"
#include "exporter/jax/jax_move.h"
#include "exporter/jax/jax_order.h"
#include "exporter/jax/jax_pointwise.h"
#include "exporter/jax/jax_pool.h"
#include "exporter/jax/jax_ragged.h"
#include "exporter/jax/jax_reduce.h"
#include "exporter/program/source_comment.h"
#include "plans/base/number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

// "a, b" to the left of "= carried": in brackets where it is one, or does not fit.
PythonText targets(const std::vector<PythonText>& names) {
    constexpr size_t width = 60;
    const std::string inside = flat(bracket("", names, " "));
    return names.size() > 1 && inside.size() <= width ? PythonText{inside.substr(0, inside.size() - 1)} : tuple(names);
}

} // namespace

std::string jax_dtype(DType dtype) {
    return dtype == DType::boolean ? "bool" : fmt::format("jnp.{}", info(dtype).also.front());
}

std::string jax_number(double value, DType dtype) {
    if (dtype == DType::boolean) return value != 0 ? "True" : "False";
    if (std::isnan(value)) return "jnp.nan";
    if (std::isinf(value)) return value < 0 ? "-jnp.inf" : "jnp.inf";
    if (is_integer(dtype)) {
        // A number of Python's is taken for an int32, or an int64.
        const bool is_beyond = (dtype == DType::u32 && value >= 0x1p31) || (dtype == DType::u64 && value >= 0x1p63);
        return is_beyond ? fmt::format("{}({})", jax_dtype(dtype), whole_text(value)) : whole_text(value);
    }
    std::string text = fmt::format("{}", value);
    if (const size_t plus = text.find('+'); plus != std::string::npos) text.erase(plus, 1); // 1e30
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string shape_tuple(std::span<const i64> shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

JaxValue JaxBody::value(int number) const {
    const ProgramValue& value = program_->values[static_cast<size_t>(number)];
    return {value_names_[static_cast<size_t>(number)], value.dtype, value.shape};
}

std::string JaxBody::name_result(int number) {
    return value_names_[static_cast<size_t>(number)] = names_.fresh(program_->values[static_cast<size_t>(number)].name);
}

void JaxBody::assign(const std::string& name, const PythonText& value) {
    PythonText fitting = value;
    constexpr size_t width = 88;
    if (is_infix(value) && indent_ + name.size() + 3 + flat(value).size() > width) {
        // Operands with brackets get names, short ones: where to break such a line is a question of taste.
        for (PythonText& operand : fitting.items) {
            if (flat(operand).find_first_of("([") == std::string::npos) continue;
            const std::string named = names_.fresh("part");
            assign(named, operand.text == "(" ? operand.items[0] : operand);
            operand = {named};
        }
    }
    text_ += assignment(name, fitting, indent_);
}

std::string JaxBody::part(const JaxValue& of, const PythonText& value) {
    const std::string name = names_.fresh(of.name + "_part");
    assign(name, value);
    return name;
}

std::string JaxBody::function(std::string_view stem, const std::vector<std::string>& decorators,
                              const std::vector<std::string>& parameters,
                              const std::function<PythonText(JaxBody&)>& result) {
    const std::string name = names_.fresh(stem), margin(indent_, ' ');
    text_ += "\n";
    for (const std::string& decorator : decorators) text_ += margin + decorator + "\n";
    text_ += fmt::format("{}def {}({}):\n", margin, name, fmt::join(parameters, ", "));
    indent_ += 4;
    PythonText returned = result(*this);
    returned.text = "return " + returned.text;
    text_ += lines(returned, indent_) + "\n";
    indent_ -= 4;
    return name;
}

std::string JaxBody::affine(const Affine& affine) const {
    std::string text;
    for (const AffineTerm& term : affine.terms) {
        std::string variable;
        if (term.kind == AffineTerm::Kind::coordinate) {
            std::vector<std::string> axes;
            for (const std::string& axis : mesh_.names(term.axis)) axes.push_back(quoted(axis));
            variable = axes.size() == 1 ? fmt::format("lax.axis_index({})", axes[0])
                                        : fmt::format("lax.axis_index(({}))", fmt::join(axes, ", "));
        } else if (term.kind == AffineTerm::Kind::loop) {
            variable = indices_.at(term.index);
        } else {
            const JaxValue& scalar = scalars_.at(term.index);
            variable = scalar.name;
            const AffineTerm any;
            if (term.low != any.low || term.high != any.high)
                variable = fmt::format("jnp.clip({}, {}, {})", variable, term.low, term.high);
            // JAX takes starts of one type alone, and indices of axes are i32.
            if (scalar.dtype != DType::i32) variable += ".astype(jnp.int32)";
        }
        const i64 factor = std::abs(term.coefficient);
        const std::string product = factor == 1 ? variable : fmt::format("{} * {}", factor, variable);
        if (text.empty())
            text = term.coefficient < 0 ? "-" + product : product;
        else
            text += (term.coefficient < 0 ? " - " : " + ") + product;
    }
    if (text.empty()) return std::to_string(affine.constant);
    if (affine.constant == 0) return text;
    return fmt::format("{} {} {}", text, affine.constant < 0 ? '-' : '+', std::abs(affine.constant));
}

// The line of the user's file that the steps that follow come from.
void JaxBody::comment(const SourceRef& source) {
    if (source.line == 0 || (source.file == last_.file && source.line == last_.line)) return;
    last_ = source;
    text_ += source_comment(plan_, source, std::string(indent_, ' ') + "#");
}

std::string JaxBody::write(const LocalProgram& program, const std::vector<std::string>& arguments,
                           std::vector<std::string>& returns) {
    program_ = &program;
    value_names_.assign(program.values.size(), {});
    for (size_t n = 0; n < program.inputs.size(); ++n) {
        const std::string name = name_result(program.inputs[n]);
        assign(name, {arguments[n]});
    }
    write_steps(program.steps);
    for (int output : program.outputs) returns.push_back(value_names_[static_cast<size_t>(output)]);
    return text_;
}

PythonText JaxBody::initial(const PlanInput& input) {
    const Buffer& buffer = plan_.buffers[input.buffer];
    const Generate block = initial_block(input, buffer);
    const JaxValue output = {names_.fresh(buffer.name), buffer.dtype, buffer.shape};
    PythonText made = jax_generate(block, output, *this);
    if (buffer.unpadded_shape.empty()) return made;
    std::vector<PythonText> starts;
    for (const Affine& start : block.start) starts.push_back({affine(start)});
    return bracket("zero_padding(", {{part(output, made)}, tuple(std::move(starts)), {shape_tuple(block.shape)}}, ")");
}

void JaxBody::write_steps(const std::vector<ProgramStep>& steps) {
    for (const ProgramStep& step : steps) {
        if (const ProgramCompute* compute = std::get_if<ProgramCompute>(&step.variant_ref())) write_compute(*compute);
        if (const ProgramCollective* made = std::get_if<ProgramCollective>(&step.variant_ref())) {
            comment(made->step->source);
            const JaxValue input = value(made->input);
            const Collective& collective = made->step->collective;
            PythonText text = form_of(collective).jax(collective, input, *this);
            assign(name_result(made->output), text);
        }
        if (const ProgramReshape* made = std::get_if<ProgramReshape>(&step.variant_ref())) {
            const ProgramValue& to = program_->values[static_cast<size_t>(made->output)];
            const PythonText text = bracket("jnp.reshape(", {{value(made->input).name}, {shape_tuple(to.shape)}}, ")");
            assign(name_result(made->output), text);
        }
        if (const ProgramZeros* made = std::get_if<ProgramZeros>(&step.variant_ref())) {
            const ProgramValue& to = program_->values[static_cast<size_t>(made->output)];
            assign(name_result(made->output),
                   bracket("jnp.zeros(", {{shape_tuple(to.shape)}, {jax_dtype(to.dtype)}}, ")"));
        }
        if (const ProgramLoop* loop = std::get_if<ProgramLoop>(&step.variant_ref())) write_loop(*loop);
    }
}

void JaxBody::write_compute(const ProgramCompute& compute) {
    const size_t before = text_.size();
    const SourceRef last = last_;
    comment(compute.step->source);
    std::vector<JaxValue> inputs;
    for (int input : compute.inputs) inputs.push_back(value(input));
    for (const auto& [buffer, number] : compute.scalars) scalars_.insert_or_assign(buffer, value(number));
    JaxValue output = value(compute.output);
    output.name = program_->values[static_cast<size_t>(compute.output)].name;
    const Kernel& kernel = *compute.step->kernel;
    PythonText text;
    if (const Contract* contract = std::get_if<Contract>(&kernel)) text = jax_contract(*contract, inputs, output);
    if (const Pointwise* pointwise = std::get_if<Pointwise>(&kernel))
        text = jax_pointwise(*pointwise, inputs, output, *this);
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel)) {
        JaxValue reduced = output;
        if (reduce->made) {
            reduced.shape = reduce->made->shape;
            reduced.name = part(output, jax_pointwise(reduce->made->program, inputs, reduced, *this));
        }
        text = jax_reduce(*reduce, reduce->made ? reduced : inputs[0]);
    }
    if (const Scan* scan = std::get_if<Scan>(&kernel)) text = jax_scan(*scan, inputs);
    if (const Sort* sort = std::get_if<Sort>(&kernel)) text = jax_sort(*sort, inputs, output);
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel)) text = jax_convolve(*convolve, inputs, output);
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel))
        text = jax_ragged(*ragged, inputs, output, *this);
    if (const ReduceWindows* windows = std::get_if<ReduceWindows>(&kernel))
        text = jax_reduce_windows(*windows, inputs[0], output);
    if (const SelectWindows* windows = std::get_if<SelectWindows>(&kernel))
        text = jax_select_windows(*windows, inputs, output);
    if (const Move* move = std::get_if<Move>(&kernel)) text = jax_move(*move, inputs, output, *this);
    if (const Gather* gather = std::get_if<Gather>(&kernel)) text = jax_gather(*gather, inputs, *this);
    if (const Scatter* scatter = std::get_if<Scatter>(&kernel)) text = jax_scatter(*scatter, inputs, output, *this);
    if (const Generate* generate = std::get_if<Generate>(&kernel)) text = jax_generate(*generate, output, *this);
    // What is the operand itself is the operand under its name.
    const bool same = text.items.empty() && text.closes.empty() && !inputs.empty() && text.text == inputs[0].name;
    if (!same) return assign(name_result(compute.output), text);
    text_.resize(before);
    last_ = last;
    value_names_[static_cast<size_t>(compute.output)] = text.text;
}

// A function of the trip's number and what is handed on, for fori_loop.
void JaxBody::write_loop(const ProgramLoop& loop) {
    const std::string index = names_.fresh("i"), function = names_.fresh("trip"), handed = names_.fresh("carried");
    indices_[loop.step->index] = index;
    trips_[loop.step->index] = loop.step->trips;
    std::vector<PythonText> arguments, yields, inits, results;
    for (const ProgramLoop::Carried& carried : loop.carried) {
        inits.push_back({value(carried.init).name});
        arguments.push_back({name_result(carried.argument)});
    }
    const std::string margin(indent_, ' ');
    text_ += fmt::format("\n{}def {}({}, {}):\n", margin, function, index, handed);
    indent_ += 4;
    last_ = {};
    text_ += lines(targets(arguments), indent_, fmt::format(" = {}", handed));
    write_steps(loop.body);
    for (const ProgramLoop::Carried& carried : loop.carried) yields.push_back({value(carried.yield).name});
    text_ += lines(tuple(yields, "return "), indent_);
    indent_ -= 4;
    last_ = {};
    text_ += "\n";
    for (const ProgramLoop::Carried& carried : loop.carried) results.push_back({name_result(carried.result)});
    const PythonText call = bracket(fmt::format("{} = lax.fori_loop(", handed),
                                    {{"0"}, {std::to_string(loop.step->trips)}, {function}, tuple(inits)}, ")");
    text_ += lines(call, indent_) + lines(targets(results), indent_, fmt::format(" = {}", handed));
}

} // namespace shard
