#include "planner/graph/builder.h"

#include "planner/graph/arity.h"
#include "planner/graph/draws.h"
#include "planner/graph/graph_edit.h"
#include "planner/graph/local_use.h"
#include "planner/graph/loop_index.h"
#include "planner/graph/types_of.h"
#include "planner/model/type_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shard {

namespace {

constexpr int most_dims = 16;

// E0227 if the type cannot exist: too many dims, an empty dim, or too many bytes.
bool check_size(const TensorType& type, std::string_view op, Span span, Diagnostics& diagnostics) {
    if (type.rank() > most_dims) {
        diagnostics.error(
            "E0227", span,
            fmt::format("the result of '{}' has {} dims; at most {} are allowed", op, type.rank(), most_dims));
        return false;
    }
    for (size_t d = 0; d < type.shape.size(); ++d) {
        if (type.shape[d] > 0) continue;
        diagnostics
            .error("E0227", span,
                   fmt::format("the result of '{}' has shape {}: dim {} is empty", op, shape_text(type.shape), d))
            .help("every dim must have at least one element");
        return false;
    }
    const std::string_view problem = size_problem(type.dtype, type.shape);
    if (problem.empty()) return true;
    diagnostics.error("E0227", span,
                      fmt::format("the result of '{}' has shape {}: {}", op, shape_text(type.shape), problem));
    return false;
}

// A result dim without a name takes that of the first operand dim that has the same factors and size.
void derive_logical(TensorType& result, const TensorFactors& result_factors, const IndexRule& rule,
                    std::span<const TensorType> operands) {
    result.logical.resize(result.shape.size());
    for (size_t d = 0; d < result.shape.size(); ++d) {
        for (size_t n = 0; n < operands.size() && result.logical[d].empty(); ++n)
            for (size_t e = 0; e < operands[n].shape.size(); ++e) {
                if (rule.operands[n][e] != result_factors[d] || operands[n].shape[e] != result.shape[d]) continue;
                result.logical[d] = operands[n].logical[e];
                break;
            }
    }
}

} // namespace

Builder::Builder(Graph& graph, Diagnostics& diagnostics) : graph_(&graph), diagnostics_(&diagnostics) {
    used_.assign(graph.values.size(), true);
    for (const Value& value : graph.values) names_.emplace(value.name, 1);
    for (const auto& [path, value] : graph.aliases) names_.emplace(path, 1);
}

std::string Builder::unique_name(const std::string& path, std::string_view separator) {
    int& count = names_[path];
    if (count == 0) {
        count = 1;
        return path;
    }
    for (;;) {
        const std::string numbered = fmt::format("{}{}{}", path, separator, ++count);
        if (names_.emplace(numbered, 1).second) return numbered;
    }
}

void Builder::stand_at(const Node& node) {
    Place place;
    place.scope = node.scope;
    place.prefix = graph_->value(node.outputs[0]).name;
    place.span = node.span;
    place.gradient_of = node.gradient_of;
    set_place(std::move(place));
    set_loop(node.loop);
    set_remat(node.remat);
}

void Builder::rename(ValueId id, std::string name, Span span) {
    graph_->value(id).name = std::move(name);
    graph_->value(id).span = span;
}

ValueId Builder::add_value(Value value) {
    used_.push_back(false);
    return append_value(*graph_, std::move(value));
}

ValueId Builder::add_input(Value value) {
    const ValueId id = add_value(std::move(value));
    graph_->inputs.push_back(id);
    return id;
}

namespace {

constexpr size_t most_copied = 1024; // numbers of a constant: a table is there once, as a parameter is

bool is_table(const Node& node) {
    for (const AttributeEntry& entry : node.attributes().entries())
        if (const auto* const numbers = std::get_if<std::vector<double>>(&entry.second))
            if (numbers->size() > most_copied) return true;
    return false;
}

} // namespace

// The value to read: itself, or a copy of its node if that is duplicated per use and has a use already.
ValueId Builder::for_use(ValueId id) {
    const Value& kept = graph_->value(id);
    const OpDef* op = kept.producer < 0 ? nullptr : graph_->node(kept.producer).op();
    const bool copy = op != nullptr && op->duplicate_per_use &&
                      (kept.loop != loop_ || (is_used(id) && !is_table(graph_->node(kept.producer))));
    mark_used(id);
    if (!copy) return id;
    const Value value = kept;
    Node node = graph_->node(value.producer);
    node.loop = loop_;
    node.remat = remat_;
    node.pattern = pattern_;
    Value twin = value;
    twin.loop = loop_;
    twin.name = unique_name(value.name + ".copy", "_");
    const ValueId twin_id = add_value(std::move(twin));
    mark_used(twin_id);
    node.outputs = {twin_id};
    append_node(*graph_, std::move(node));
    return twin_id;
}

std::optional<ValueId> Builder::emit(std::string_view name, std::vector<ValueId> operands, Attributes attributes) {
    const BuiltValues results = emit_all(name, std::move(operands), std::move(attributes));
    return results ? std::optional(results->front()) : std::nullopt;
}

BuiltValues Builder::emit_all(std::string_view name, std::vector<ValueId> operands, Attributes attributes) {
    if (const OpDef* op = find_op(name)) {
        if (!check_arity(name, op->operands, operands.size(), op->doc, place_.span, *diagnostics_)) return std::nullopt;
        const std::optional<ValueId> result = emit_op(*op, std::move(operands), std::move(attributes));
        return result ? BuiltValues(std::vector{*result}) : std::nullopt;
    }
    const CompositeDef* composite = find_composite(name);
    internal_check(composite != nullptr, "Builder::emit of an unknown op");
    if (!check_arity(name, composite->operands, operands.size(), composite->doc, place_.span, *diagnostics_))
        return std::nullopt;
    return inside(name, operands, attributes, composite, nullptr);
}

// Runs a composite, with the names of its nodes one level deeper, or an op's expansion.
BuiltValues Builder::inside(std::string_view name, const std::vector<ValueId>& operands, const Attributes& attributes,
                            const CompositeDef* composite, const OpDef* op) {
    const Place outer = place_;
    if (composite) place_.prefix = fmt::format("{}.{}", outer.prefix, name);
    place_.operand_spans.clear();
    place_.operand_names.clear();
    BuiltValues results;
    const NodeId first = static_cast<NodeId>(graph_->nodes.size());
    if (composite)
        results = composite->build(*this, operands, attributes, outer.span);
    else if (const std::optional<ValueId> result = op->expand(*this, operands, attributes))
        results = std::vector{*result};
    place_ = outer;
    if (composite && composite->gradient && results) {
        Call call;
        call.operands = operands;
        call.results = {results->front()};
        call.first = first;
        call.last = static_cast<NodeId>(graph_->nodes.size());
        call.composite = composite;
        call.attributes = attributes;
        graph_->calls.push_back(std::move(call));
    }
    return results;
}

std::optional<ValueId> Builder::emit_op(const OpDef& def, std::vector<ValueId> operands, Attributes attributes) {
    const std::vector<TensorType> types = types_of(*graph_, operands);
    // The names that the user wrote are known for the entry's own op only; deeper ones go by their values' names.
    std::vector<std::string_view> names(place_.operand_names.begin(), place_.operand_names.end());
    std::vector<Span> spans = place_.operand_spans;
    if (names.size() != operands.size()) {
        spans.assign(operands.size(), Span{});
        names.clear();
        for (ValueId id : operands) names.push_back(graph_->value(id).name);
    }
    const InferContext context{types, spans, attributes, place_.span, *diagnostics_, def.name, names};
    std::optional<std::vector<TensorType>> results = def.infer(context);
    if (!results) return std::nullopt;
    for (const TensorType& result : *results)
        if (!check_size(result, def.name, place_.span, *diagnostics_)) return std::nullopt;
    if (def.complete) def.complete(types, *results, attributes);
    if (draws(def, attributes)) set_loops_around(attributes, *graph_, loop_);
    if (def.splits && def.splits(types, attributes)) {
        const BuiltValues parts = inside(def.name, operands, attributes, nullptr, &def);
        return parts ? std::optional(parts->front()) : std::nullopt;
    }

    const LocalUse local = local_use(*graph_, def, operands, attributes, place_.region);
    // The operands vary over the same axes, so that a gradient knows where to sum.
    if (local.region >= 0)
        for (ValueId& operand : operands) operand = vary(operand, local.operands);
    const IndexRule rule = def.rule(types, *results, attributes);
    for (size_t r = 0; r < results->size(); ++r) derive_logical((*results)[r], rule.results[r], rule, types);
    Node node;
    node.does = Apply{&def, std::move(attributes), {}, {}};
    for (ValueId id : operands) node.inputs.push_back(for_use(id));
    const ValueId first = emit_node(std::move(node), *results, def.name).front();
    graph_->value(first).region = def.device && def.device->border == DeviceOp::Border::leaves ? -1 : local.region;
    graph_->value(first).varying = local.result;
    return first;
}

std::vector<ValueId> Builder::emit_marker(Node marker, const std::vector<TensorType>& types, std::string_view name) {
    for (ValueId id : marker.inputs) mark_used(id);
    return emit_node(std::move(marker), types, name);
}

std::vector<ValueId> Builder::emit_node(Node node, const std::vector<TensorType>& types, std::string_view name) {
    node.scope = place_.scope;
    node.span = place_.span;
    node.gradient_of = place_.gradient_of;
    node.loop = loop_;
    node.remat = remat_;
    node.pattern = pattern_;
    for (const TensorType& type : types) {
        Value value;
        value.name = unique_name(fmt::format("{}.{}", place_.prefix, name), "_");
        value.type = type;
        value.span = place_.span;
        value.loop = loop_;
        node.outputs.push_back(add_value(std::move(value)));
    }
    const std::vector<ValueId> outputs = node.outputs;
    append_node(*graph_, std::move(node));
    return outputs;
}

ValueId Builder::vary(ValueId id, const std::vector<int>& axes) {
    const Value& value = graph_->value(id);
    const OpDef* maker = value.producer < 0 ? nullptr : graph_->node(value.producer).op();
    // A constant has no gradient, nor has the count of steps, the one whole value that is read in a region.
    if ((maker != nullptr && maker->duplicate_per_use) || value.region < 0) return id;
    std::vector<int> missing;
    std::set_difference(axes.begin(), axes.end(), value.varying.begin(), value.varying.end(),
                        std::back_inserter(missing));
    if (missing.empty()) return id;
    const auto known = varied_.find({id, missing, loop_});
    if (known != varied_.end()) return known->second;
    const GraphRegion& region = graph_->regions[value.region];
    const std::optional<ValueId> varied = emit("pvary", {id}, over_axes(region, missing));
    internal_check(varied.has_value(), "pvary was refused");
    if (!pattern_) varied_[{id, missing, loop_}] = *varied; // nobody else reads a pattern's values
    return *varied;
}

std::optional<ValueId> Builder::number(double value, DType dtype) {
    Attributes attributes;
    attributes.set("value", std::vector<double>{value});
    attributes.set("shape", std::vector<i64>{});
    attributes.set("dtype", std::string(name(dtype)));
    return emit("constant", {}, std::move(attributes));
}

ValueId Builder::scalar(double value, DType dtype) {
    const std::optional<ValueId> id = number(value, dtype);
    internal_check(id.has_value(), "a scalar constant was refused");
    return *id;
}

} // namespace shard
