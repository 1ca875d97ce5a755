#include "tests/support/blocks.h"

namespace shard {

DeviceBuffers blocks_of(const Mesh& mesh, const Shape& global, const Sharding& sharding) {
    DeviceBuffers result;
    const Shape local = local_shape(global, sharding);
    const std::vector<i64> strides = row_major_strides(global);
    const i64 parts = total_size(sharding.partial);
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        std::vector<i64> coordinates = coordinates_of(mesh, position);
        std::vector<i64> start = local_start(mesh, global, sharding, coordinates);
        i64 part = linear_coordinate(mesh, coordinates, sharding.partial);
        std::vector<double>& block = result.emplace_back();
        for (i64 element = 0; element < element_count(local); ++element) {
            i64 rest = element, global_element = 0;
            for (size_t d = local.size(); d-- > 0;) {
                global_element += (start[d] + rest % local[d]) * strides[d];
                rest /= local[d];
            }
            double value = static_cast<double>(global_element + 1);
            double sum_of_parts = static_cast<double>(parts * (parts - 1) / 2);
            block.push_back(part == 0 ? value - sum_of_parts : static_cast<double>(part));
        }
    }
    return result;
}

TensorType f32_type(Shape shape) {
    TensorType type{DType::f32, std::move(shape), {}};
    type.logical.resize(type.shape.size());
    return type;
}

Sharding sharding_of(const Mesh& mesh, std::string_view text) {
    std::optional<Sharding> sharding = parse_sharding(mesh, text);
    internal_check(sharding.has_value(), "a sharding in a test parses");
    return closed(*sharding);
}

} // namespace shard
