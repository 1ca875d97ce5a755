#include "executor/devices/nudge.h"

#include "executor/elements/element.h"

#include <random>

namespace shard {

void nudge_values(const Nudge& nudge, const Buffer& buffer, std::byte* data) {
    if (nudge.share == 0) return;
    visit_dtype(buffer.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (is_float_element<T>) {
            T* values = reinterpret_cast<T*>(data);
            std::seed_seq seeds{nudge.seed, static_cast<unsigned>(buffer.offset)};
            std::mt19937 signs(seeds);
            for (i64 i = 0; i < element_count(buffer.shape); ++i) {
                const double share = signs() % 2 == 0 ? nudge.share : -nudge.share;
                values[i] = convert_value<T>(convert_value<double>(values[i]) * (1 + share));
            }
        }
    });
}

} // namespace shard
