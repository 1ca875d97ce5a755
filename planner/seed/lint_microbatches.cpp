#include "planner/seed/lint_microbatches.h"

#include "planner/graph/op_def.h"
#include "planner/text/allowances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

constexpr i64 most_counts = 6; // of those that are proposed

// Counts of microbatches whose rows are shared out evenly, the largest.
std::vector<i64> counts_that_fit(i64 rows_of_device, i64 count) {
    std::vector<i64> fit;
    for (i64 n = std::min(count, rows_of_device); n >= 1 && static_cast<i64>(fit.size()) < most_counts; --n)
        if (rows_of_device % n == 0) fit.insert(fit.begin(), n);
    return fit;
}

} // namespace

void lint_microbatches(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                       Diagnostics& diagnostics) {
    for (const Node& node : graph.nodes) {
        if (node.op() == nullptr || node.op()->of_stack != OpDef::OfStack::takes_entry || node.loop < 0) continue;
        const GraphLoop& loop = graph.loops[node.loop];
        const std::optional<Sharding>& seed = seeds.values[node.inputs[0]];
        if (!loop.scope.empty() || !seed || allowances.covers("W0312", loop.span)) continue;
        const TensorType &batch = graph.value(node.inputs[0]).type, &part = graph.value(node.outputs[0]).type;
        const size_t dim = static_cast<size_t>(node.attributes().integer("dim"));
        const i64 devices = shard_count(seed->dims[dim]), rows = part.shape[dim];
        if (rows % devices == 0 || batch.shape[dim] % devices != 0) continue; // or E0313, or padded
        const std::string axes = text(layout.mesh, seed->dims[dim].axes);
        diagnostics
            .warning("W0312", loop.span,
                     fmt::format("a microbatch has {} {} of '{}' for {} devices along {}: {} of them compute the same",
                                 rows, rows == 1 ? "row" : "rows", batch.logical[dim], devices, axes,
                                 devices / std::gcd(rows, devices)))
            .help(fmt::format("{} {} shared out evenly by microbatches: {}; {} microbatches take a multiple of {} rows",
                              batch.shape[dim], batch.shape[dim] == 1 ? "row is" : "rows are",
                              fmt::join(counts_that_fit(batch.shape[dim] / devices, loop.trips), " or "), loop.trips,
                              devices * loop.trips));
        return;
    }
}

} // namespace shard
