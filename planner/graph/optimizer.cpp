#include "planner/graph/optimizer.h"

#include <fmt/format.h>

namespace shard {

#define REGISTER(stem) const OptimizerDef& optimizer_##stem();
#include "optimizer_registry.inc"
#undef REGISTER

namespace {

bool check_operands(const OptimizerDef& def, Builder& builder, std::span<const ValueId> operands, size_t states,
                    bool has_rate, Span span) {
    const size_t expected = 2 + states + (def.counts ? 1 : 0) + (has_rate ? 0 : 1);
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
    for (size_t n = 1; n < 2 + states; ++n) {
        const TensorType& type = builder.type(operands[n]);
        if (type.shape == parameter.shape && type.dtype == parameter.dtype) continue;
        builder.diagnostics().error("E0223", span,
                                    fmt::format("'{}' updates a parameter {} {} with a value {} {}", def.composite.name,
                                                name(parameter.dtype), shape_text(parameter.shape), name(type.dtype),
                                                shape_text(type.shape)));
        return false;
    }
    for (size_t n = 2 + states; n < operands.size(); ++n) {
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

ValueId step_number(Chain& chain, ValueId count) { return chain.cast(chain("add", count, 1), DType::f32); }

BuiltValues build_update(const OptimizerDef& def, Builder& builder, std::span<const ValueId> operands,
                         const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], def.composite.name, 0, span)) return std::nullopt;
    const size_t states = def.states(attributes).size();
    const bool has_rate = attributes.has("learning_rate");
    if (!check_operands(def, builder, operands, states, has_rate, span)) return std::nullopt;
    const DType dtype = builder.type(operands[0]).dtype;
    Chain chain(builder);
    std::vector<ValueId> shared;
    if (def.shared) shared = def.shared(chain, step_number(chain, operands[2 + states]), attributes);
    const ValueId rate = has_rate ? chain.scalar(-attributes.number("learning_rate"), dtype)
                                  : chain.cast(chain("neg", {operands.back()}), dtype);
    const UpdateContext context{chain, operands[0], operands[1], operands.subspan(2, states), shared, rate, attributes};
    return chain.results(def.update(context));
}

} // namespace shard
