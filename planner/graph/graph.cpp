#include "planner/graph/graph.h"

#include "planner/graph/node_classes.h"
#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/graph/verify_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace shard {

namespace {

void check(bool condition, const Graph& graph, NodeId node, const char* text) {
    if (condition) return;
    const Node& broken = graph.node(node);
    internal_error(fmt::format("graph: node {} ({}): {}", node, broken.op() ? broken.op()->name : "collective", text));
}

// The types that the op infers and the values' own are the same, and the rule fits them.
void check_types(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    if (!node.op()) return;
    const std::vector<TensorType> operands = types_of(graph, node.inputs), results = types_of(graph, node.outputs);
    Diagnostics ignored;
    const std::vector<Span> spans(operands.size());
    const std::vector<std::string_view> names(operands.size());
    const InferContext context{operands, spans, node.attributes(), node.span, ignored, node.op()->name, names};
    const std::optional<std::vector<TensorType>> inferred = node.op()->infer(context);
    check(inferred.has_value(), graph, id, "its operands do not fit");
    check(inferred->size() == results.size(), graph, id, "wrong number of results");
    for (size_t r = 0; r < results.size(); ++r)
        check((*inferred)[r].dtype == results[r].dtype && (*inferred)[r].shape == results[r].shape, graph, id,
              "a result's type is not the op's");
    const IndexRule rule = node.op()->rule(operands, results, node.attributes());
    check(rule.operands.size() == operands.size() && rule.results.size() == results.size(), graph, id,
          "its rule has other operands");
    for (size_t n = 0; n < operands.size(); ++n)
        check(rule.operands[n].size() == operands[n].shape.size(), graph, id, "its rule has other operand dims");
    for (size_t r = 0; r < results.size(); ++r)
        check(rule.results[r].size() == results[r].shape.size(), graph, id, "its rule has other result dims");
}

} // namespace

void verify_graph(const Graph& graph) {
    const i64 values = static_cast<i64>(graph.values.size());
    std::vector<int> producers(graph.values.size(), 0);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
        const NodeId id = static_cast<NodeId>(n);
        for (ValueId input : graph.nodes[n].inputs) {
            check(input >= 0 && input < values, graph, id, "reads a value that is not there");
            check(graph.value(input).producer < id, graph, id, "reads a value that is made later");
        }
        for (ValueId output : graph.nodes[n].outputs) {
            check(output >= 0 && output < values, graph, id, "makes a value that is not there");
            check(graph.value(output).producer == id, graph, id, "makes a value that names another producer");
            ++producers[output];
        }
    }
    for (ValueId input : graph.inputs) {
        internal_check(graph.value(input).producer == -1, "graph: an input has a producer");
        ++producers[input];
    }
    internal_check(std::all_of(producers.begin(), producers.end(), [](int count) { return count == 1; }),
                   "graph: a value is made more than once, or never");
    internal_check(graph.outputs.size() == graph.output_names.size(), "graph: outputs without names");
    std::unordered_set<std::string_view> names;
    names.reserve(graph.values.size());
    for (const Value& value : graph.values)
        internal_check(names.insert(value.name).second, "graph: two values have one name");
    for (const Node& node : graph.nodes)
        for (ValueId output : node.outputs)
            internal_check(node.op() == nullptr ||
                               graph.value(output).type.logical.size() == graph.value(output).type.shape.size(),
                           "graph: a result has names for other dims than its own");
    const NodeClasses classes(graph);
    for (int number = 0; number < classes.count(); ++number) check_types(graph, classes.first_of(number));
    verify_loops(graph);
}

std::optional<ValueId> find_value(const Graph& graph, std::string_view name) {
    const size_t hash = name.rfind('#');
    const bool numbered = hash != std::string_view::npos;
    std::optional<ValueId> best;
    i64 best_number = 0;
    const auto consider = [&](std::string_view candidate, ValueId id) {
        if (candidate == name && numbered) {
            best = id;
            return;
        }
        if (!candidate.starts_with(name)) return;
        i64 number = 1;
        if (candidate.size() > name.size()) {
            if (candidate[name.size()] != '#') return;
            const char* end = candidate.data() + candidate.size();
            if (std::from_chars(candidate.data() + name.size() + 1, end, number).ptr != end)
                return; // "a#2.softmax.exp"
        }
        if (number <= best_number) return;
        best = id;
        best_number = number;
    };
    // "a#1" is how a user may write the first binding, whose value is called "a".
    if (numbered && name.substr(hash) == "#1") {
        for (size_t v = 0; v < graph.values.size(); ++v)
            if (graph.values[v].name == name.substr(0, hash)) return static_cast<ValueId>(v);
        for (const auto& [alias, id] : graph.aliases)
            if (alias == name.substr(0, hash)) return id;
        return std::nullopt;
    }
    for (size_t v = 0; v < graph.values.size(); ++v) consider(graph.values[v].name, static_cast<ValueId>(v));
    for (const auto& [alias, id] : graph.aliases) consider(alias, id);
    return best;
}

} // namespace shard
