#include "planner/rewrite/split_scans.h"

#include "planner/graph/chain.h"
#include "planner/graph/graph_edit.h"
#include "planner/seed/moved_seeds.h"
#include "plans/sharding/axis_lists.h"

#include <limits>
#include <map>
#include <optional>

namespace shard {

namespace {

// How what comes before a block is put to what is in it, and what that is of the first.
struct Joining {
    std::string_view op;
    double none = 0;
};

// nullopt: no scan, or of a type that has no such number, or so few that the ends of blocks are rounded too far.
std::optional<Joining> joining_of(const Node& node, DType dtype) {
    if (node.op() == nullptr || !node.op()->scans) return std::nullopt;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const DTypeInfo& type = info(dtype);
    const bool is_real = is_floating(dtype), has_ends = is_real || byte_size(dtype) <= 4;
    if (is_real && byte_size(dtype) == 1) return std::nullopt;
    switch (*node.op()->scans) {
    case ScanOp::sum:
    case ScanOp::linear:
        return Joining{"add", 0};
    case ScanOp::prod:
        return Joining{"mul", 1};
    case ScanOp::logsumexp:
        return Joining{"logaddexp", -infinity};
    case ScanOp::max:
        return has_ends ? std::optional(Joining{"max", is_real ? -infinity : static_cast<double>(type.lowest)})
                        : std::nullopt;
    case ScanOp::min:
        return has_ends ? std::optional(Joining{"min", is_real ? infinity : static_cast<double>(type.highest)})
                        : std::nullopt;
    }
    internal_error("unknown scan");
}

size_t scanned_dim(const Node& node) { return static_cast<size_t>(node.attributes().integers("dim")[0]); }

class Writer {
public:
    Writer(Graph& graph, const std::vector<SplitScan>& scans) : graph_(graph), builder_(graph, diagnostics_) {
        for (const SplitScan& scan : scans) blocks_[scan.node] = scan.blocks;
    }

    std::vector<NodeId> run() {
        return retell(graph_, 0, [this](std::vector<Node>& nodes, size_t n) {
            if (const auto found = blocks_.find(static_cast<NodeId>(n)); found != blocks_.end())
                write(nodes[n], found->second);
        });
    }

private:
    void write(Node& node, i64 blocks) {
        builder_.stand_at(node);
        const std::string_view op = node.op()->name;
        const TensorType type = builder_.type(node.outputs[0]);
        const size_t dim = scanned_dim(node);
        const Joining joining = *joining_of(node, type.dtype);
        const bool is_recurrence = node.op()->scans == ScanOp::linear;
        Chain chain(builder_);
        const bool reverse = node.attributes().flag("reverse", false);
        const auto scan = [&](std::string_view by, std::vector<ValueId> of, size_t along) {
            return chain(by, std::move(of),
                         attributes_of({{"dim", std::vector<i64>{static_cast<i64>(along)}}, {"reverse", reverse}}));
        };
        std::vector<ValueId> parts;
        for (const ValueId input : node.inputs) {
            TensorType by_block = builder_.type(input);
            by_block.shape[dim] /= blocks;
            by_block.shape.insert(by_block.shape.begin() + static_cast<std::ptrdiff_t>(dim), blocks);
            by_block.logical.insert(by_block.logical.begin() + static_cast<std::ptrdiff_t>(dim), "");
            parts.push_back(named("blocks", chain("reshape", {input}, shape_of(by_block.shape, by_block.logical))));
        }
        const i64 last = reverse ? 0 : type.shape[dim] / blocks - 1;
        const auto end_of = [&](ValueId of) {
            return named("ends", chain("slice", {of},
                                       attributes_of({{"dim", std::vector<i64>{static_cast<i64>(dim) + 1}},
                                                      {"start", std::vector<i64>{last}},
                                                      {"limit", std::vector<i64>{last + 1}}})));
        };
        const ValueId within = named("within", scan(op, parts, dim + 1));
        std::vector<ValueId> ends = {end_of(within)};
        ValueId through = -1; // of a recurrence, what is made of what comes before
        if (is_recurrence) {
            through = named("through", scan("cumprod", {parts[0]}, dim + 1));
            ends.insert(ends.begin(), end_of(through));
        }
        const i64 on = reverse ? -1 : 1;
        ValueId before = named("before", chain("pad", {scan(op, ends, dim)},
                                               attributes_of({{"dim", std::vector<i64>{static_cast<i64>(dim)}},
                                                              {"low", std::vector<i64>{on}},
                                                              {"high", std::vector<i64>{-on}},
                                                              {"value", joining.none}})));
        if (is_recurrence) before = chain("mul", {through, before});
        const ValueId whole = named("joined", chain(joining.op, {within, before}));
        internal_check(chain.ok(), "a scan by blocks was refused");
        node.inputs = {whole};
        node.does = Apply{find_op("reshape"), shape_of(type.shape, type.logical), {}, {}};
    }

    ValueId named(std::string_view as, ValueId id) {
        const std::string stem = builder_.place().prefix + "." + std::string(as);
        builder_.rename(id, builder_.unique_name(stem, "_"), builder_.place().span);
        return id;
    }

    Graph& graph_;
    Diagnostics diagnostics_;
    Builder builder_;
    std::map<NodeId, i64> blocks_;
};

} // namespace

std::vector<SplitScan> split_scans(const Graph& graph, std::span<const Sharding> values) {
    std::vector<SplitScan> found;
    for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
        const Node& node = graph.node(n);
        if (node.op() == nullptr || node.outputs.size() != 1) continue;
        const Value& result = graph.value(node.outputs[0]);
        if (result.region >= 0 || !joining_of(node, result.type.dtype)) continue;
        const size_t dim = scanned_dim(node);
        const auto along = [&](ValueId id) -> const std::vector<AxisRef>& { return values[id].dims[dim].axes; };
        const std::vector<AxisRef>& axes = along(node.outputs[0]);
        const i64 blocks = total_size(axes), size = result.type.shape[dim];
        bool is_alike = blocks > 1 && size % blocks == 0 && size > blocks;
        for (const ValueId input : node.inputs) is_alike = is_alike && along(input) == axes;
        if (is_alike) found.push_back({n, blocks});
    }
    return found;
}

void write_by_blocks(Graph& graph, Seeds& seeds, const std::vector<SplitScan>& scans) {
    const std::vector<NodeId> moved = Writer(graph, scans).run();
    move_seeds(seeds, graph, moved);
    graph.calls.clear(); // for reverse mode, which is done
}

} // namespace shard
