#include "planner/build/build_training.h"

#include "planner/build/build_attributes.h"
#include "planner/graph/optimizer.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::string type_words(const TensorType& type) {
    return type.rank() == 0 ? fmt::format("a scalar {}", name(type.dtype))
                            : fmt::format("{} {}", name(type.dtype), shape_text(type.shape));
}

bool is_float_scalar(const TensorType& type) { return type.rank() == 0 && is_floating(type.dtype); }

std::optional<ValueId> loss_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results) {
    if (results.size() == 1 && is_float_scalar(builder.type(results[0]))) return results[0];
    builder.diagnostics()
        .error("E0240", entry.op.span,
               results.size() == 1 ? fmt::format("a loss is a single floating-point number, and this one is {}",
                                                 type_words(builder.type(results[0])))
                                   : fmt::format("a loss is a single floating-point number, and '{}' has {} results",
                                                 entry.op.text, results.size()))
        .help("reduce it in the graph, for example with {mean: x}, or use mse or softmax_cross_entropy");
    return std::nullopt;
}

std::optional<ValueId> metric_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results) {
    const bool scalars =
        std::all_of(results.begin(), results.end(), [&](ValueId id) { return is_float_scalar(builder.type(id)); });
    if (scalars && results.size() == 1) return results[0];
    if (!scalars || results.size() != 2 || builder.type(results[0]).dtype != builder.type(results[1]).dtype) {
        builder.diagnostics()
            .error("E0241", entry.op.span,
                   fmt::format("the metric '{}' is neither a floating-point number nor a sum and a count",
                               entry.results[0].text))
            .note(results.size() == 1 ? fmt::format("it is {}", type_words(builder.type(results[0])))
                                      : fmt::format("'{}' has {} results", entry.op.text, results.size()));
        return std::nullopt;
    }
    // The quotient is what the name means; its parts are called after it.
    const std::string name = builder.graph().value(results[0]).name;
    builder.set_place({"", name, entry.op.span, {}, {}});
    const std::optional<ValueId> quotient = builder.emit("div", {results[0], results[1]});
    if (!quotient) return std::nullopt;
    builder.rename(results[0], builder.unique_name(name + ".sum", "_"), entry.op.span);
    builder.rename(results[1], builder.unique_name(name + ".count", "_"), entry.op.span);
    builder.rename(*quotient, name, entry.results[0].span);
    builder.graph().quotients.push_back({*quotient, results[0], results[1]});
    return quotient;
}

bool mark_read_in_training(Builder& builder, const TrainDecl& train, const Scope& scope) {
    std::vector<Entry> entries = train.metrics;
    entries.push_back(train.loss);
    for (const Entry& entry : entries)
        for (const Name& operand : entry.operands)
            if (const std::optional<ValueId> value = scope.find(operand.text, builder.graph());
                value && *value != poisoned)
                builder.mark_used(*value);
    return true;
}

bool knows_training_arguments(const Model& model, Diagnostics& diagnostics) {
    const TrainDecl& train = *model.train;
    std::vector<Entry> entries = train.metrics;
    entries.push_back(train.loss);
    bool ok = true;
    for (const Entry& entry : entries) {
        const OpDef* const op = find_op(entry.op.text);
        const CompositeDef* const composite = op == nullptr ? find_composite(entry.op.text) : nullptr;
        if (op == nullptr && composite == nullptr) continue; // a value, or a module
        const ArgumentContext context{model, entry.op.text, op != nullptr ? op->attributes : composite->attributes,
                                      {},    entry.op.span, diagnostics};
        ok = knows_arguments(context, entry.arguments) && ok;
    }
    const OptimizerDef& optimizer = *find_optimizer(train.optimizer.op.text);
    ArgumentContext context{model, train.optimizer.op.text, optimizer.composite.attributes,
                            {},    train.optimizer.op.span, diagnostics};
    for (const ParameterList& list : optimizer.lists) context.taken.push_back(list.name);
    return knows_arguments(context, train.optimizer.arguments) && ok;
}

} // namespace shard
