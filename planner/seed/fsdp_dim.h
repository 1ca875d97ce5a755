// Which parameters the layout's `fsdp` splits, and along which dim.
//
//     fsdp: {axis: data, min_size: 16}, 8 devices, kernel 784 x 512: [data | -]; bias 512: [data]; bias 10: too small
#pragma once

#include "planner/model/layout.h"
#include "plans/sharding/sharding.h"

namespace shard {

// The mesh axis of `fsdp`; nullopt if the layout has none, or the mesh lacks it or has it with one device.
std::optional<AxisRef> fsdp_axis(const Layout& layout);

enum class FsdpFit {
    splits,
    too_small,
    uses_axis, // some dim is split over the axis already
    no_dim     // none is free and divides
};
// The largest dim that the axis divides and that nothing splits; of equally large ones the last. That is the guide's
// order, numpy.argsort(shape)[::-1]. `seed`: what the layout otherwise asks of the parameter.
struct FsdpChoice {
    FsdpFit fit = FsdpFit::too_small;
    size_t dim = 0;
};
FsdpChoice choose_fsdp_dim(const FsdpDecl& fsdp, const AxisRef& axis, const TensorType& type, const Sharding& seed);

} // namespace shard
