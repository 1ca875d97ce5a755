// Shardings by the numbers of devices, as programs that were lowered for GSPMD carry them, and the mesh that they are
// over. They name no axes, which are called axis_0, axis_1, ... here, the slowest first.
//
//     {devices=[2,1,4]<=[8] last_tile_dim_replicate}    [axis_0, ~]         on {axis_0: 2, axis_1: 4}
//     {devices=[1,8]<=[2,4]T(1,0)}                      [~, [axis_1, axis_0]]
//
// The form is that of HloSharding::ToString in XLA.
#pragma once

#include "importer/model/device_groups.h"

#include <map>
#include <set>

namespace shard {

class DeviceShardings {
public:
    // Of all that the program says: axes are what cuts the devices as each of them does. No axes if there is no such
    // mesh, or if the program names one itself (sdy.mesh).
    explicit DeviceShardings(const MlirModule& module);

    const ProgramMesh& mesh() const { return mesh_; }

    // As model and layout files write it, of an array of this rank, where these dims are left open; nullopt if it is no
    // split over axes of the mesh.
    std::optional<std::string> text(const std::string& sharding, size_t rank, const std::set<i64>& open = {}) const;

    // Neighbouring parts of a dim are `stride` devices apart; of several factors the slowest is first.
    struct Factor {
        i64 stride, size;
    };
    struct Split {
        i64 devices = 0; // 0: held in full by any
        std::vector<std::vector<Factor>> dims;
    };
    // nullopt of what is no split: an array on one device, of a manual region, or on devices in some other order.
    static std::optional<Split> split_of(std::string_view sharding);

private:
    std::map<std::string, std::optional<Split>> splits_; // by their text
    ProgramMesh mesh_;
};

} // namespace shard
