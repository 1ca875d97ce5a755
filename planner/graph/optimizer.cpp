#include "planner/graph/optimizer.h"

#include <fmt/format.h>

namespace shard {

#define REGISTER(stem) const OptimizerDef& optimizer_##stem();
#include "optimizer_registry.inc"
#undef REGISTER

namespace {

bool check_operands(const OptimizerDef& def, Builder& builder, std::span<const ValueId> operands,
                    std::span<const OptimizerState> states, bool has_rate, Span span) {
    const size_t expected = 2 + states.size() + (def.counts ? 1 : 0) + (has_rate ? 0 : 1);
    const std::string_view doc = def.composite.doc;
    if (operands.size() != expected) {
        builder.diagnostics()
            .error("E0221", span,
                   fmt::format("'{}' takes {} operands here, but {} are given", def.composite.name, expected,
                               operands.size()))
            .note("the parameter, its gradient, its states, the count of steps if it needs one, and the learning rate "
                  "unless `learning_rate` says it")
            .help(fmt::format("for example {}", doc.substr(doc.find('\n') + 1)));
        return false;
    }
    const TensorType& parameter = builder.type(operands[0]);
    for (size_t n = 1; n < 2 + states.size(); ++n) {
        const TensorType& type = builder.type(operands[n]);
        const TensorType wanted = n == 1 ? parameter : state_type(states[n - 2], parameter);
        if (type.shape == wanted.shape && type.dtype == wanted.dtype) continue;
        DiagnosticBuilder error = builder.diagnostics().error(
            "E0223", span,
            fmt::format("'{}' updates a parameter {} {} with a value {} {}", def.composite.name, name(parameter.dtype),
                        shape_text(parameter.shape), name(type.dtype), shape_text(type.shape)));
        if (n > 1)
            error.help(fmt::format("its operand {} is the state `{}`, {} {}", n + 1, states[n - 2].name,
                                   name(wanted.dtype), shape_text(wanted.shape)));
        return false;
    }
    for (size_t n = 2 + states.size(); n < operands.size(); ++n) {
        if (builder.type(operands[n]).rank() == 0) continue;
        builder.diagnostics().error("E0223", span,
                                    fmt::format("'{}' takes a scalar as its operand {}, not {}", def.composite.name,
                                                n + 1, shape_text(builder.type(operands[n]).shape)));
        return false;
    }
    return true;
}

} // namespace

const std::vector<const OptimizerDef*>& all_optimizers() {
    static const std::vector<const OptimizerDef*> table = {
#define REGISTER(stem) &optimizer_##stem(),
#include "optimizer_registry.inc"
#undef REGISTER
    };
    return table;
}

const OptimizerDef* find_optimizer(std::string_view name) {
    for (const OptimizerDef* def : all_optimizers())
        if (def->composite.name == name) return def;
    return nullptr;
}

TensorType state_type(const OptimizerState& state, const TensorType& parameter) {
    TensorType type = parameter;
    type.dtype = state.dtype;
    for (size_t dim : state.without) {
        type.shape[dim] = 1;
        if (dim < type.logical.size()) type.logical[dim].clear();
    }
    return type;
}

OptimizerState mean_state(std::string_view name, const Attributes& attributes, const TensorType& parameter) {
    if (!attributes.has("mu_dtype")) return {name, parameter.dtype};
    return {name, *parse_dtype(attributes.string("mu_dtype"))};
}

AttributeDef mu_dtype_argument() {
    return {"mu_dtype", AttributeDef::Type::dtype, false,
            "the type that the mean is stored in; the parameter's unless said"};
}

ParameterList no_decay(std::string_view attribute) {
    return {"no_decay", attribute, 0.0, "no_decay: [\"**norm*\", \"**.bias\"]"};
}

ValueId decayed_step(const UpdateContext& context, ValueId direction, double decay) {
    Chain& chain = context.chain;
    if (decay != 0) direction = chain("add", {direction, chain("mul", context.parameter, decay)});
    return chain("add", {context.parameter, chain("mul", {context.rate, direction})});
}

ValueId step_number(Chain& chain, ValueId count) { return chain.cast(chain("add", count, 1), DType::f32); }

bool update_arguments_fit(const Attributes& attributes, Span span, Diagnostics& diagnostics) {
    constexpr i64 most_rounds = 100; // each is nodes of the graph
    if (attributes.has("mu_dtype") && !is_floating(*parse_dtype(attributes.string("mu_dtype")))) {
        diagnostics.error("E0226", span, fmt::format("a mean cannot be stored as {}", attributes.string("mu_dtype")))
            .help("`mu_dtype` is a floating-point type: bf16, f32");
        return false;
    }
    const i64 rounds = attributes.integer("ns_steps", 1);
    if (rounds >= 1 && rounds <= most_rounds) return true;
    diagnostics.error("E0226", span, fmt::format("`ns_steps` is {}, not from 1 to {}", rounds, most_rounds))
        .help("5 iterations, as usual, take singular values near 1");
    return false;
}

BuiltValues build_update(const OptimizerDef& def, Builder& builder, std::span<const ValueId> operands,
                         const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], def.composite.name, 0, span)) return std::nullopt;
    if (!update_arguments_fit(attributes, span, builder.diagnostics())) return std::nullopt;
    const std::vector<OptimizerState> states = def.states(attributes, builder.type(operands[0]), 0);
    const bool has_rate = attributes.has("learning_rate");
    if (!check_operands(def, builder, operands, states, has_rate, span)) return std::nullopt;
    const DType dtype = builder.type(operands[0]).dtype;
    Chain chain(builder);
    std::vector<ValueId> shared;
    if (def.shared) shared = def.shared(chain, step_number(chain, operands[2 + states.size()]), attributes);
    const ValueId rate = has_rate ? chain.scalar(-attributes.number("learning_rate"), dtype)
                                  : chain.cast(chain("neg", {operands.back()}), dtype);
    const UpdateContext context{chain,  operands[0], operands[1], operands.subspan(2, states.size()),
                                shared, rate,        attributes};
    return chain.results(updated(def, context, states));
}

std::vector<ValueId> updated(const OptimizerDef& def, const UpdateContext& context,
                             std::span<const OptimizerState> states) {
    std::vector<ValueId> made = def.update(context);
    for (size_t n = 0; n < states.size(); ++n) made[n + 1] = context.chain.cast(made[n + 1], states[n].dtype);
    return made;
}

} // namespace shard
