// Which parameters the layout's `fsdp` splits, and along which dim.
//
//     fsdp: {axis: data, min_size: 16}, 8 devices, kernel 784 x 512: [data | -]; bias 512: [data]; bias 10: too small
#pragma once

#include "planner/model/layout.h"
#include "plans/sharding/sharding.h"

namespace shard {

// The mesh axes of `fsdp` with more than one device; none if the layout has no fsdp, or the mesh lacks them.
std::vector<AxisRef> fsdp_axes(const Layout& layout);

enum class FsdpFit {
    splits,
    too_small,
    uses_axes, // dims are split over all of the axes already
    no_dim     // none is free and divides
};
// The largest dim that the axes divide and that nothing splits; of equally large ones the last. That is the guide's
// order, numpy.argsort(shape)[::-1]. `seed`: what the layout otherwise asks of the parameter; axes that it uses are not
// used again.
struct FsdpChoice {
    FsdpFit fit = FsdpFit::too_small;
    size_t dim = 0;
    std::vector<AxisRef> axes; // over which it is split
};
FsdpChoice choose_fsdp_dim(const FsdpDecl& fsdp, std::span<const AxisRef> axes, const TensorType& type,
                           const Sharding& seed);

} // namespace shard
