#include "planner/pipeline/products_as_weights.h"

#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/partition/graph_facts.h"
#include "planner/pipeline/inputs_first.h"
#include "planner/propagate/projection.h"
#include "planner/seed/seed_value.h"
#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace shard {

namespace {

bool is_product(const Node& node) {
    return node.op() != nullptr && node.op()->op_class == OpDef::Class::contraction && node.op()->rule != nullptr &&
           node.inputs.size() > 1 && node.outputs.size() == 1;
}

// By value: a parameter, or what is made of parameters and numbers alone: a layer of a stack, a cast, a scaled weight.
std::vector<bool> weights_of(const Graph& graph) {
    std::vector<bool> found(graph.values.size());
    for (ValueId id = 0; id < std::ssize(graph.values); ++id)
        found[static_cast<size_t>(id)] = graph.value(id).role == Role::param && graph.value(id).producer < 0;
    const auto is_weight = [&](ValueId id) -> bool { return found[static_cast<size_t>(id)]; };
    const auto is_of_weights = [&](const Node& node) {
        if (node.op() == nullptr || node.op()->op_class == OpDef::Class::contraction) return false;
        if (node.op()->of_stack == OpDef::OfStack::takes_entry) return is_weight(node.inputs[0]);
        return std::any_of(node.inputs.begin(), node.inputs.end(), is_weight) &&
               std::all_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId input) { return graph.value(input).type.shape.empty() || is_weight(input); });
    };
    for (const Node& node : graph.nodes) // each behind what it reads
        if (is_of_weights(node))
            for (const ValueId output : node.outputs) found[static_cast<size_t>(output)] = true;
    return found;
}

// Priorities of a layout say what comes first; the pass `inputs` has one of its own.
bool has_priorities(const Seeds& seeds) {
    const auto is_written = [](const DimSharding& dim) {
        return dim.priority != 0 && dim.priority != storage_priority && dim.priority != after_inputs;
    };
    return std::any_of(seeds.values.begin(), seeds.values.end(), [&](const std::optional<Sharding>& seed) {
        return seed && std::any_of(seed->dims.begin(), seed->dims.end(), is_written);
    });
}

// A weight is gathered in both passes, and its gradient is summed whole; what meets it is gathered in both, and what is made
// is scattered. Where what meets a weight is so many times as large, nothing is gained.
constexpr double most_met = 8;

// The result with the axes of one of the weight's factors along it, in place of where others have them. nullopt: it has
// some of them already, they do not divide it, or the weight has to do with where they are.
std::optional<TensorProjection> turned(const IndexRule& rule, const TensorProjection& weight,
                                       const FactorSharding& split, TensorProjection result) {
    FactorSharding* const to = result.find(split.factor);
    if (to == nullptr || split.axes.empty()) return std::nullopt;
    const std::vector<AxisRef> missing = without(cut(split.axes, to->axes), cut(to->axes, split.axes));
    if (missing != split.axes) return std::nullopt;
    bool is_crossed = false;
    for (FactorSharding& from : result.factors) {
        if (std::none_of(from.axes.begin(), from.axes.end(),
                         [&](const AxisRef& axis) { return overlaps_any(axis, missing); }))
            continue;
        if (weight.find(from.factor) != nullptr) return std::nullopt;
        from.axes = without(cut(from.axes, missing), cut(missing, from.axes));
        is_crossed = true;
    }
    if (!is_crossed) return std::nullopt;
    to->axes.insert(to->axes.end(), missing.begin(), missing.end());
    if (rule.factors[static_cast<size_t>(split.factor)].size % total_size(to->axes) != 0) return std::nullopt;
    return result;
}

std::string name_of_dim(const TensorType& type, size_t d) {
    return d < type.logical.size() && !type.logical[d].empty() ? type.logical[d] : fmt::format("{}", type.shape[d]);
}

// "mlp of embed mlp": the gate's, up and down projections of all layers.
std::string kind_of(const TensorType& weight, const TensorFactors& dims, int factor) {
    std::vector<std::string> names;
    std::string split;
    for (size_t d = 0; d < dims.size(); ++d) {
        names.push_back(name_of_dim(weight, d));
        if (std::find(dims[d].begin(), dims[d].end(), factor) != dims[d].end()) split = names.back();
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{} of {}", split, fmt::join(names, " "));
}

class Finder {
public:
    Finder(const Graph& graph, const Seeds& seeds, const Propagation& propagation)
        : graph_(graph), seeds_(seeds), now_(propagation.values), is_weight_(weights_of(graph)) {}

    std::vector<CrossedProduct> run() {
        for (NodeId id = 0; id < std::ssize(graph_.nodes); ++id) {
            const Node& node = graph_.node(id);
            if (!is_product(node) || seeds_.values[static_cast<size_t>(node.outputs[0])] ||
                graph_.value(node.outputs[0]).role != Role::value)
                continue;
            for (size_t i = 0; i < node.inputs.size(); ++i)
                if (cross(id, i)) break;
        }
        drop_small_weights();
        return std::move(found_);
    }

private:
    // Whether the operand is a weight that the product may lie as.
    bool cross(NodeId id, size_t operand) {
        const Node& node = graph_.node(id);
        const ValueId weight = node.inputs[operand], made = node.outputs[0];
        const Sharding& split = now_[static_cast<size_t>(weight)];
        if (used_axes(split).empty() || !is_weight_[static_cast<size_t>(weight)] || sums_gradient(id)) return false;
        const IndexRule rule =
            node.op()->rule(types_of(graph_, node.inputs), types_of(graph_, node.outputs), node.attributes());
        const TensorProjection own = project(rule, rule.operands[operand], split),
                               result = project(rule, rule.results[0], now_[static_cast<size_t>(made)]);
        for (const FactorSharding& factor : own.factors) {
            const std::optional<TensorProjection> as_weight = turned(rule, own, factor, result);
            if (!as_weight) continue;
            Sharding wanted = unproject(rule, rule.results[0], *as_weight, ReduceOp::sum);
            for (size_t d = 0; d < wanted.dims.size(); ++d) // what stays as it is propagates
                if (wanted.dims[d].axes == now_[static_cast<size_t>(made)].dims[d].axes) wanted.dims[d].axes.clear();
            found_.push_back({made, std::move(wanted), weight,
                              kind_of(graph_.value(weight).type, rule.operands[operand], factor.factor)});
            for (size_t i = 0; i < node.inputs.size(); ++i)
                if (i != operand) {
                    const bool moves = project(rule, rule.operands[i], now_[static_cast<size_t>(node.inputs[i])])
                                           .find(factor.factor) != nullptr;
                    meet(node.inputs[i], weight, found_.back().kind, factor.axes, moves);
                }
            return true;
        }
        return false;
    }

    // Then examples are summed where they are (planner/partition/gradient_sums.h).
    bool sums_gradient(NodeId node) {
        if (!facts_) facts_.emplace(graph_);
        return facts_->gradient_sums[static_cast<size_t>(node)];
    }

    // What has the weight's dim too, as experts' places have, moves from dim to dim; else it is gathered.
    void meet(ValueId id, ValueId weight, const std::string& kind, std::span<const AxisRef> axes, bool moves) {
        met_by_.emplace_back(id, kind);
        const double met = bytes_without(id, moves ? std::span<const AxisRef>() : axes);
        if (met <= most_met * bytes_without(weight, axes)) may_be_brought_.insert(id);
    }

    // What a device has where these axes split nothing.
    double bytes_without(ValueId id, std::span<const AxisRef> axes) const {
        i64 parts = 1;
        for (const DimSharding& dim : now_[static_cast<size_t>(id)].dims)
            parts *= total_size(without(cut(dim.axes, axes), cut(axes, dim.axes)));
        return static_cast<double>(graph_.value(id).type.bytes()) / static_cast<double>(parts);
    }

    // Kinds of which every weight is by far smaller than what meets it.
    void drop_small_weights() {
        std::set<std::string> may_gain;
        for (const auto& [id, kind] : met_by_)
            if (may_be_brought_.contains(id)) may_gain.insert(kind);
        std::erase_if(found_, [&](const CrossedProduct& product) { return !may_gain.contains(product.kind); });
    }

    const Graph& graph_;
    const Seeds& seeds_;
    const Shardings& now_;              // by ValueId
    const std::vector<bool> is_weight_; // likewise
    std::optional<GraphFacts> facts_;
    std::vector<CrossedProduct> found_;
    std::vector<std::pair<ValueId, std::string>> met_by_; // what meets weights, and of which kind these are
    std::set<ValueId> may_be_brought_;                    // of what meets them: once, for all that read it
};

} // namespace

std::vector<CrossedProduct> crossed_products(const Graph& graph, const Seeds& seeds, const Propagation& propagation) {
    if (has_priorities(seeds)) return {};
    return Finder(graph, seeds, propagation).run();
}

Seeds seed_products_as_weights(const Graph& graph, const Seeds& seeds, const std::vector<CrossedProduct>& crossed,
                               const std::set<std::string>& kinds) {
    Seeds drawn = seeds;
    for (const CrossedProduct& product : crossed) {
        if (!kinds.contains(product.kind)) continue;
        Decision why;
        why.cause = Decision::Cause::weight;
        why.from = product.weight;
        why.node = graph.value(product.value).producer;
        why.span = graph.node(why.node).span;
        seed_value(drawn, product.value, product.as_weight, std::move(why));
    }
    return drawn;
}

} // namespace shard
