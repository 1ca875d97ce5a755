// What every device holds of a global value by definition, to compare moved data with. Element e of the value is the
// number e + 1.
#pragma once

#include "plans/collective/collective_data.h"

namespace shard {

// Over partial axes the number is split into unequal parts that sum to it.
DeviceBuffers blocks_of(const Mesh& mesh, const Shape& global, const Sharding& sharding);

TensorType f32_type(Shape shape);
Sharding sharding_of(const Mesh& mesh, std::string_view text); // internal error if it does not parse

} // namespace shard
