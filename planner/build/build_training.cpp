#include "planner/build/build_training.h"

#include "planner/grad/differentiate.h"
#include "planner/graph/chain.h"
#include "planner/model/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

std::string type_text(const TensorType& type) {
    return type.rank() == 0 ? fmt::format("a scalar {}", name(type.dtype))
                            : fmt::format("{} {}", name(type.dtype), shape_text(type.shape));
}

bool is_number(const TensorType& type) { return type.rank() == 0 && is_floating(type.dtype); }

const YamlEntry* argument(const Entry& entry, std::string_view key) {
    for (const YamlEntry& item : entry.arguments)
        if (item.key == key) return &item;
    return nullptr;
}

// False, after E0244: the value lies within a module that declares its own gradient, and is none of its results.
bool check_reached(Builder& builder, ValueId id, const Name& name) {
    const NodeId producer = builder.graph().value(id).producer;
    for (const Call& call : builder.graph().calls) {
        if (call.composite || producer < call.first || producer >= call.last) continue;
        if (std::find(call.results.begin(), call.results.end(), id) != call.results.end()) continue;
        builder.diagnostics()
            .error("E0244", name.span,
                   fmt::format("'{}' lies within a module that declares its own gradient: none reaches it", name.text))
            .label(builder.graph().value(id).span, "here")
            .help("ask for the gradients of the module's inputs and parameters");
        return false;
    }
    return true;
}

} // namespace

std::optional<ValueId> loss_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results) {
    if (results.size() == 1 && is_number(builder.type(results[0]))) return results[0];
    builder.diagnostics()
        .error("E0240", entry.op.span,
               results.size() == 1 ? fmt::format("a loss is a single floating-point number, and this one is {}",
                                                 type_text(builder.type(results[0])))
                                   : fmt::format("a loss is a single floating-point number, and '{}' has {} results",
                                                 entry.op.text, results.size()))
        .help("reduce it in the graph, for example with {mean: x}, or use mse or softmax_cross_entropy");
    return std::nullopt;
}

std::optional<ValueId> metric_of(Builder& builder, const Entry& entry, const std::vector<ValueId>& results) {
    const bool scalars =
        std::all_of(results.begin(), results.end(), [&](ValueId id) { return is_number(builder.type(id)); });
    if (scalars && results.size() == 1) return results[0];
    if (!scalars || results.size() != 2 || builder.type(results[0]).dtype != builder.type(results[1]).dtype) {
        builder.diagnostics()
            .error("E0241", entry.op.span,
                   fmt::format("the metric '{}' is neither a floating-point number nor a sum and a count",
                               entry.results[0].text))
            .note(results.size() == 1 ? fmt::format("it is {}", type_text(builder.type(results[0])))
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

Entry differentiated_call(const Entry& entry) {
    Entry call = entry;
    const YamlEntry* module = argument(entry, "value_and_grad");
    internal_check(module != nullptr && module->value.scalar() != nullptr, "value_and_grad without a module");
    call.op = {module->value.scalar()->text, module->value.span};
    if (!call.results.empty()) call.results.resize(1);
    std::erase_if(call.arguments,
                  [](const YamlEntry& item) { return item.key == "value_and_grad" || item.key == "wrt"; });
    return call;
}

BuiltValues value_and_gradients(Builder& builder, const Scope& scope, const Entry& entry,
                                const std::vector<ValueId>& outputs) {
    if (outputs.size() != 1 || !is_number(builder.type(outputs[0]))) {
        builder.diagnostics()
            .error(
                "E0240", entry.op.span,
                fmt::format("what is differentiated is a single floating-point number, and the module's output is {}",
                            outputs.size() == 1 ? type_text(builder.type(outputs[0]))
                                                : fmt::format("{} values", outputs.size())))
            .help("let the module end in a loss");
        return std::nullopt;
    }
    const YamlEntry* wrt = argument(entry, "wrt");
    internal_check(wrt != nullptr, "value_and_grad without wrt");
    const std::optional<std::vector<Name>> names = read_value_names(wrt->value, "wrt", builder.diagnostics());
    if (!names) return std::nullopt;
    std::vector<ValueId> values;
    bool ok = true;
    for (const Name& name : *names) {
        const std::optional<ValueId> value = scope.find(name.text, builder.graph());
        if (!value) scope.report_unknown(name, builder.graph(), builder.diagnostics());
        ok = ok && value && *value != poisoned;
        if (!value || *value == poisoned) continue;
        values.push_back(*value);
        ok = check_reached(builder, *value, name) && ok;
        if (is_floating(builder.type(*value).dtype)) continue;
        builder.diagnostics().error("E0224", name.span,
                                    fmt::format("'{}' is {}: only floating-point values have gradients", name.text,
                                                type_text(builder.type(*value))));
        ok = false;
    }
    if (!ok) return std::nullopt;
    std::vector<ValueId> results = outputs;
    const size_t before = builder.graph().values.size();
    for (ValueId gradient : differentiate(builder, outputs[0], values)) results.push_back(gradient);
    for (size_t n = 1; n < results.size() && n < entry.results.size(); ++n) {
        internal_check(static_cast<size_t>(results[n]) >= before, "a gradient is a value of its own");
        const std::string path = builder.unique_name(scope.full(entry.results[n].text), "#");
        builder.rename(results[n], path, entry.results[n].span);
    }
    for (size_t n = 0; n < values.size(); ++n) {
        if (builder.graph().value(values[n]).role != Role::param) continue;
        builder.graph().value(results[n + 1]).role = Role::gradient;
        builder.graph().value(results[n + 1]).of = values[n];
    }
    return results;
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

} // namespace shard
