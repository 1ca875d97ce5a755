#include "planner/graph/first_places.h"

#include <algorithm>
#include <numeric>

namespace shard {

std::vector<size_t> first_places(std::span<const ValueId> values) {
    constexpr size_t few = 16; // they are compared with each other, and nothing is sorted
    if (values.size() <= few) {
        std::vector<size_t> places(values.size());
        for (size_t i = 0; i < values.size(); ++i)
            places[i] =
                std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) - values.begin();
        return places;
    }
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    std::vector<size_t> places(values.size());
    for (size_t i = 0; i < order.size(); ++i) {
        const bool again = i > 0 && values[order[i]] == values[order[i - 1]];
        places[order[i]] = again ? places[order[i - 1]] : order[i];
    }
    return places;
}

} // namespace shard
