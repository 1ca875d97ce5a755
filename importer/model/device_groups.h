// Of devices by number, as StableHLO's collectives name them, the axes of the mesh that they differ in: devices are
// numbered with the last axis fastest.
//
//     <["data"=2, "model"=4]>, [[0, 4], [1, 5], [2, 6], [3, 7]]   the axis data
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

struct ProgramMesh {
    std::vector<std::string> axes;
    std::vector<i64> sizes;
};

ProgramMesh mesh_of(const MlirModule& module); // the first; without axes if there is none

// The axes that each group runs over, in the order in which its members count; none if groups are of one device.
// nullopt where that is not what the groups are.
std::optional<std::vector<std::string>> axes_of_groups(const ProgramMesh& mesh,
                                                       const std::vector<std::vector<i64>>& groups);

// Of source and target devices: the axes that they differ in, and the pairs along them.
struct PermutedAxes {
    std::vector<std::string> axes;
    std::vector<std::pair<i64, i64>> pairs;
};
std::optional<PermutedAxes> axes_of_pairs(const ProgramMesh& mesh, const std::vector<std::pair<i64, i64>>& pairs);

} // namespace shard
