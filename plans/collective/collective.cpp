#include "plans/collective/collective.h"

#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

#define REGISTER(stem) const CollectiveDef& collective_##stem();
#include "collective_registry.inc"
#undef REGISTER

namespace {

// The shortest runs of the two orders that stand for each other, where the dims cut them too: of {x -> y} for x and y of
// 4, a dim split by x:(1)2 alone needs {x:(1)2 -> y:(1)2}.
std::vector<AlignedAxes> runs_of(const Collective& permute, const Sharding& sharding) {
    std::vector<AxisRef> on_dims;
    for (const DimSharding& dim : sharding.dims) on_dims.insert(on_dims.end(), dim.axes.begin(), dim.axes.end());
    const std::vector<AxisRef> source = cut(permute.source_order, on_dims);
    std::vector<AxisRef> target;
    i64 blocks = 1; // that what is in `target` numbers
    for (AxisRef rest : permute.target_order) {
        i64 ends = 1;
        for (const AxisRef& piece : source) {
            ends *= piece.size;
            const i64 size = ends / blocks;
            if (ends % blocks != 0 || size <= 1 || size >= rest.size || rest.size % size != 0) continue;
            target.push_back({rest.axis, rest.pre, size});
            rest = {rest.axis, rest.pre * size, rest.size / size};
            blocks = ends;
        }
        target.push_back(rest);
        blocks *= rest.size;
    }
    return align_axes(source, target);
}

// Renames axes on the dims: what a device holds in a block numbered by source_order is afterwards numbered by
// target_order.
void permute_dims(Sharding& sharding, const Collective& collective) {
    const std::vector<AlignedAxes> pairs = runs_of(collective, sharding);
    std::vector<AxisRef> marks;
    for (const AlignedAxes& pair : pairs) marks.insert(marks.end(), pair.source.begin(), pair.source.end());
    for (DimSharding& dim : sharding.dims) {
        std::vector<AxisRef> pieces = cut(dim.axes, marks);
        dim.axes.clear();
        for (size_t i = 0; i < pieces.size();) {
            auto starts_here = [&](const AlignedAxes& pair) {
                return pair.source.size() <= pieces.size() - i &&
                       std::equal(pair.source.begin(), pair.source.end(),
                                  pieces.begin() + static_cast<std::ptrdiff_t>(i));
            };
            auto pair = std::find_if(pairs.begin(), pairs.end(), starts_here);
            if (pair == pairs.end()) {
                internal_check(!overlaps_any(pieces[i], marks), "a permutation renames whole runs of axes");
                append_axis(dim.axes, pieces[i++]);
                continue;
            }
            for (const AxisRef& ref : pair->target) append_axis(dim.axes, ref);
            i += pair->source.size();
        }
    }
}

} // namespace

const std::vector<const CollectiveDef*>& all_collectives() {
#define REGISTER(stem) &collective_##stem(),
    static const std::vector<const CollectiveDef*> table = {
#include "collective_registry.inc"
    };
#undef REGISTER
    return table;
}

const CollectiveDef* find_collective(std::string_view name) {
    for (const CollectiveDef* def : all_collectives()) {
        if (def->name == name) return def;
    }
    return nullptr;
}

const CollectiveDef* collective_with(const CollectiveDef::Uses& uses) {
    for (const CollectiveDef* def : all_collectives())
        if (def->uses == uses) return def;
    internal_error("no kind of collective does this");
}

Sharding sharding_after(const Collective& collective, const Sharding& before) {
    Sharding after = before;
    // Axes that were partial and are reduced now: all of the group, or none of it for a kind that only moves data.
    after.partial = without(before.partial, collective.axes);
    if (after.partial.empty()) after.reduce = ReduceOp::sum;
    if (!collective.source_order.empty()) {
        permute_dims(after, collective);
        return after;
    }
    for (const AxisMove& move : collective.moves) {
        if (move.from >= 0) drop_suffix(after.dims[move.from].axes, move.axes);
    }
    for (const AxisMove& move : collective.moves) {
        if (move.to < 0) continue;
        for (const AxisRef& ref : move.axes) append_axis(after.dims[move.to].axes, ref);
    }
    return after;
}

std::string text(const Mesh& mesh, const Collective& collective) {
    std::string result = fmt::format("{} over {}", collective.def->name, text(mesh, collective.axes));
    if (!collective.source_order.empty()) {
        return fmt::format("{} ({} -> {})", result, text(mesh, collective.source_order),
                           text(mesh, collective.target_order));
    }
    std::string places;
    for (const auto& [source, destination] : collective.pairs)
        places += fmt::format("{}{} -> {}", places.empty() ? "" : ", ", source, destination);
    for (const AxisMove& move : collective.moves) {
        if (!places.empty()) places += ", ";
        if (move.from >= 0 && move.to >= 0) {
            places += fmt::format("dim {} -> dim {}", move.from, move.to);
        } else {
            places += fmt::format("dim {}", std::max(move.from, move.to));
        }
    }
    return places.empty() ? result : fmt::format("{} ({})", result, places);
}

} // namespace shard
