// The mesh of a plan with a name for every part of an axis that something is split over. Other engines know whole axes
// alone: where a plan splits over a part of `model`, they get a mesh in which the parts are axes.
//
//     a plan that splits over model:(1)2 on {data: 2, model: 4}:  data 2, model_0 2, model_1 2
#pragma once

#include "plans/plan/plan.h"

namespace shard {

class NamedMesh {
public:
    // nullopt and E0509 if the parts of an axis lie across each other, such as the halves and the thirds of 6 devices.
    static std::optional<NamedMesh> of(const Plan& plan, Diagnostics& diagnostics);

    const std::vector<MeshAxis>& axes() const { return axes_; } // outer to inner
    // What a reference, or a list of them, is in these axes, major to minor.
    std::vector<std::string> names(const AxisRef& ref) const;
    std::vector<std::string> names(std::span<const AxisRef> refs) const;

private:
    std::vector<MeshAxis> axes_;
    std::vector<AxisRef> parts_; // of the plan's mesh, one for each axis
};

} // namespace shard
