#include "importer/model/device_groups.h"

#include "importer/model/draft.h"

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr i64 most_devices = 1 << 20;

i64 count_of(const ProgramMesh& mesh) {
    i64 count = 1;
    for (const i64 size : mesh.sizes) count = std::min(count * std::min(size, most_devices), 2 * most_devices);
    return count;
}

std::vector<i64> coordinates(const ProgramMesh& mesh, i64 device) {
    std::vector<i64> at(mesh.sizes.size());
    for (size_t i = at.size(); i-- > 0; device /= mesh.sizes[i]) at[i] = device % mesh.sizes[i];
    return at;
}

// The number of a device among those that differ in these axes alone.
i64 rank_along(const ProgramMesh& mesh, const std::vector<size_t>& axes, const std::vector<i64>& at) {
    i64 rank = 0;
    for (const size_t axis : axes) rank = rank * mesh.sizes[axis] + at[axis];
    return rank;
}

std::vector<std::string> names_of(const ProgramMesh& mesh, const std::vector<size_t>& axes) {
    std::vector<std::string> names;
    for (const size_t axis : axes) names.push_back(mesh.axes[axis]);
    return names;
}

bool all_devices(const ProgramMesh& mesh, const std::vector<std::vector<i64>>& groups) {
    std::set<i64> seen;
    for (const std::vector<i64>& group : groups)
        for (const i64 device : group)
            if (device < 0 || device >= count_of(mesh) || !seen.insert(device).second) return false;
    return static_cast<i64>(seen.size()) == count_of(mesh);
}

} // namespace

ProgramMesh mesh_of(const MlirModule& module) {
    ProgramMesh mesh;
    for (const MlirOp& op : module.ops) {
        if (op.name != "sdy.mesh" || !mesh.axes.empty()) continue;
        for (const MlirItem& item : op.items)
            for (const MlirAttribute& part : item.parts)
                for (const MlirItem& list : part.items)
                    for (const MlirAttribute& inner : list.parts)
                        for (const MlirItem& axis : inner.items)
                            if (!axis.key.empty() && axis.parts.size() == 1 && name_text(axis.key) == axis.key &&
                                axis.parts[0].kind == MlirAttribute::Kind::integer && axis.parts[0].integer > 0) {
                                mesh.axes.push_back(axis.key);
                                mesh.sizes.push_back(axis.parts[0].integer);
                            }
    }
    return mesh;
}

std::optional<std::vector<std::string>> axes_of_groups(const ProgramMesh& mesh,
                                                       const std::vector<std::vector<i64>>& groups) {
    if (groups.empty() || count_of(mesh) > most_devices || !all_devices(mesh, groups)) return std::nullopt;
    std::vector<size_t> axes;
    const std::vector<i64> first = coordinates(mesh, groups[0][0]);
    i64 size = 1;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
        if (std::any_of(groups[0].begin(), groups[0].end(),
                        [&](i64 device) { return coordinates(mesh, device)[axis] != first[axis]; })) {
            axes.push_back(axis);
            size *= mesh.sizes[axis];
        }
    if (axes.size() > 6) return std::nullopt;
    const auto counts = [&](const std::vector<size_t>& order) {
        return std::all_of(groups.begin(), groups.end(), [&](const std::vector<i64>& group) {
            if (static_cast<i64>(group.size()) != size) return false;
            const std::vector<i64> begin = coordinates(mesh, group[0]);
            for (size_t i = 0; i < group.size(); ++i) {
                const std::vector<i64> at = coordinates(mesh, group[i]);
                if (rank_along(mesh, order, at) != static_cast<i64>(i)) return false;
                for (size_t axis = 0; axis < at.size(); ++axis)
                    if (at[axis] != begin[axis] && std::find(order.begin(), order.end(), axis) == order.end())
                        return false;
            }
            return true;
        });
    };
    do // in the order of the mesh first
        if (counts(axes)) return names_of(mesh, axes);
    while (std::next_permutation(axes.begin(), axes.end()));
    return std::nullopt;
}

std::optional<PermutedAxes> axes_of_pairs(const ProgramMesh& mesh, const std::vector<std::pair<i64, i64>>& pairs) {
    const i64 count = count_of(mesh);
    if (count > most_devices) return std::nullopt;
    std::set<size_t> differing;
    for (const auto& [from, to] : pairs) {
        if (from < 0 || from >= count || to < 0 || to >= count) return std::nullopt;
        const std::vector<i64> a = coordinates(mesh, from), b = coordinates(mesh, to);
        for (size_t axis = 0; axis < a.size(); ++axis)
            if (a[axis] != b[axis]) differing.insert(axis);
    }
    const std::vector<size_t> axes(differing.begin(), differing.end());
    // The same pairs for each place along the other axes.
    std::set<std::pair<i64, i64>> along;
    i64 size = 1;
    for (const size_t axis : axes) size *= mesh.sizes[axis];
    for (const auto& [from, to] : pairs)
        along.emplace(rank_along(mesh, axes, coordinates(mesh, from)), rank_along(mesh, axes, coordinates(mesh, to)));
    if (axes.empty() || static_cast<i64>(pairs.size()) != static_cast<i64>(along.size()) * (count / size) ||
        std::set<std::pair<i64, i64>>(pairs.begin(), pairs.end()).size() != pairs.size())
        return std::nullopt;
    PermutedAxes found{names_of(mesh, axes), {}};
    for (const auto& [from, to] : pairs) { // in the order in which they are written
        const std::pair<i64, i64> pair(rank_along(mesh, axes, coordinates(mesh, from)),
                                       rank_along(mesh, axes, coordinates(mesh, to)));
        if (along.erase(pair) > 0) found.pairs.push_back(pair);
    }
    return found;
}

} // namespace shard
