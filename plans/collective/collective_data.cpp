#include "plans/collective/collective_data.h"

#include "plans/base/index_of.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <cmath>

namespace shard {

TensorType moved_type(const Collective& collective, const TensorType& before) {
    TensorType after = before;
    for (const AxisMove& move : collective.moves) {
        i64 n = total_size(move.axes);
        if (move.from >= 0) after.shape[move.from] *= n;
        if (move.to < 0) continue;
        i64& size = after.shape[move.to];
        internal_check(size % n == 0, "a collective splits dims evenly");
        size /= n;
    }
    return after;
}

double combine(ReduceOp op, double a, double b) {
    switch (op) {
    case ReduceOp::sum:
        return a + b;
    case ReduceOp::prod:
        return a * b;
    case ReduceOp::max:
        return std::isnan(a) || a > b ? a : b;
    case ReduceOp::min:
        return std::isnan(a) || a < b ? a : b;
    }
    internal_error("unknown reduction");
}

std::vector<double> reduced_over_group(const Collective& collective, const Mesh& mesh, i64 position,
                                       const DeviceBuffers& buffers) {
    std::vector<i64> group = group_of(mesh, position, collective.axes);
    std::vector<double> result = buffers[group.front()];
    for (size_t rank = 1; rank < group.size(); ++rank) {
        const std::vector<double>& other = buffers[group[rank]];
        for (size_t i = 0; i < result.size(); ++i) result[i] = combine(collective.reduce, result[i], other[i]);
    }
    return result;
}

i64 permute_source(const Collective& collective, const Mesh& mesh, i64 position) {
    std::vector<i64> coordinates = coordinates_of(mesh, position);
    if (is_pairwise(collective)) {
        const i64 rank = linear_coordinate(mesh, coordinates, collective.axes);
        for (const auto& [source, destination] : collective.pairs) {
            if (destination != rank) continue;
            set_linear_coordinate(mesh, coordinates, collective.axes, source);
            return position_of(mesh, coordinates);
        }
        return -1;
    }
    i64 block = linear_coordinate(mesh, coordinates, collective.target_order);
    set_linear_coordinate(mesh, coordinates, collective.source_order, block);
    return position_of(mesh, coordinates);
}

namespace {

bool power_of_two(const AxisRef& ref) { return (ref.size & (ref.size - 1)) == 0; }

// Cuts both orders until they are made of the same pieces, each against one of its own size. Sizes that are powers of
// two always can.
void cut_into_common_pieces(std::vector<AxisRef>& sources, std::vector<AxisRef>& targets) {
    if (!std::all_of(sources.begin(), sources.end(), power_of_two)) return;
    for (size_t before = 0; before != sources.size();) {
        before = sources.size();
        std::vector<AxisRef> cut_sources = cut(sources, targets), cut_targets = cut(targets, sources);
        sources.clear();
        targets.clear();
        for (const AlignedAxes& pair : align_axes(cut_sources, cut_targets)) {
            sources.push_back(pair.source[0]);
            targets.push_back(pair.target[0]);
        }
    }
}

// Whether one order is the other with its pieces renamed, each to one of its own size.
bool renames(std::span<const AxisRef> sources, std::span<const AxisRef> targets) {
    const auto same_size = [](const AxisRef& s, const AxisRef& t) { return s.size == t.size; };
    return std::equal(sources.begin(), sources.end(), targets.begin(), targets.end(), same_size) &&
           std::is_permutation(sources.begin(), sources.end(), targets.begin());
}

} // namespace

// Where the orders cut into equal single pieces, the permutation renames pieces, and a device keeps its buffer if its
// coordinates agree along every cycle of the renaming: as many choices as the cycle's piece has parts. Otherwise the
// group is counted out; of one that is too large for that, all devices are taken to move.
i64 unmoved_devices(const Collective& collective, const Mesh& mesh) {
    if (is_pairwise(collective)) {
        const auto moves = [](const std::pair<i64, i64>& pair) { return pair.first != pair.second; };
        return group_size(collective) - std::count_if(collective.pairs.begin(), collective.pairs.end(), moves);
    }
    std::vector<AxisRef> sources = collective.source_order, targets = collective.target_order;
    if (!renames(sources, targets)) cut_into_common_pieces(sources, targets);
    if (renames(sources, targets)) {
        i64 unmoved = 1;
        std::vector<bool> seen(sources.size());
        for (size_t start = 0; start < sources.size(); ++start) {
            if (seen[start]) continue;
            unmoved *= sources[start].size;
            for (size_t i = start; !seen[i];) {
                seen[i] = true;
                i = index_of(sources, targets[i]);
            }
        }
        return unmoved;
    }
    constexpr i64 most_counted = 1 << 20;
    if (group_size(collective) > most_counted) return 0;
    i64 unmoved = 0;
    std::vector<i64> coordinates(mesh.axes.size());
    for (i64 rank = 0; rank < group_size(collective); ++rank) {
        set_linear_coordinate(mesh, coordinates, collective.source_order, rank);
        if (linear_coordinate(mesh, coordinates, collective.target_order) == rank) ++unmoved;
    }
    return unmoved;
}

} // namespace shard
