#include "planner/build/attention_dims.h"

#include "planner/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace shard {

namespace {

constexpr size_t length_dim = 1, heads_dim = 2;

// Names that mean nothing else. `kv`, `head` and `embed` are the last dim as often.
constexpr std::string_view of_heads[] = {
    "heads",        "kv_heads",   "q_heads",   "num_heads",          "n_heads", "kvheads", "query_heads",
    "num_kv_heads", "n_kv_heads", "key_heads", "num_attention_heads"};
constexpr std::string_view of_length[] = {"length",     "seq",     "sequence", "seq_len",   "seqlen",
                                          "seq_length", "queries", "q_length", "kv_length", "positions"};

template<size_t count>
bool is_one_of(const std::string_view (&names)[count], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// "dim 1 of 'q' is called 'heads', and stands where the length is expected"; empty if nothing is wrong.
std::string what_is_wrong(const Value& operand) {
    const std::vector<std::string>& logical = operand.type.logical;
    if (logical.size() != 4) return {};
    const auto said = [&operand, &logical](size_t dim, std::string_view wanted) {
        return fmt::format("dim {} of '{}' is called '{}', and {} expected there", dim, operand.name, logical[dim],
                           wanted);
    };
    if (is_one_of(of_heads, logical[length_dim]) && !is_one_of(of_heads, logical[heads_dim]))
        return said(length_dim, "the length is");
    if (is_one_of(of_length, logical[heads_dim]) && !is_one_of(of_length, logical[length_dim]))
        return said(heads_dim, "heads are");
    return {};
}

} // namespace

void warn_of_attention_dims(const Graph& graph, Diagnostics& diagnostics) {
    std::set<std::tuple<int, int, int>> reported; // file, line, column
    for (const Node& node : graph.nodes) {
        if (node.op() == nullptr || node.op()->attends != AttendPart::values) continue;
        std::vector<std::string> wrong;
        for (size_t i = 0; i < 3; ++i) {
            std::string what = what_is_wrong(graph.value(node.inputs[i]));
            if (!what.empty() && std::find(wrong.begin(), wrong.end(), what) == wrong.end())
                wrong.push_back(std::move(what));
        }
        if (wrong.empty()) continue;
        const Span& span = node.span;
        if (!reported.emplace(span.file, span.line, span.column).second) continue;
        DiagnosticBuilder warning =
            diagnostics.warning("W0204", span, "the dims of attention seem transposed: " + wrong[0]);
        for (size_t i = 1; i < wrong.size(); ++i) warning.note(wrong[i]);
        warning.help("attention takes (batch, length, heads, head_dim): {transpose: q, permutation: [0, 2, 1, 3]} of "
                     "each operand, and of the result");
    }
}

} // namespace shard
