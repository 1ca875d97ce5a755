#include "plans/kernel/attend_pairs.h"

#include <algorithm>

namespace shard {

AttendPairs attend_pairs(AttendPart part, std::span<const TensorType> inputs) {
    AttendPairs pairs;
    pairs.count = attend_inputs(part).count;
    const auto next = [&](bool (*fits)(const TensorType&)) {
        const size_t n = static_cast<size_t>(pairs.count);
        return n < inputs.size() && fits(inputs[n]) ? pairs.count++ : -1;
    };
    constexpr auto is_segments = [](const TensorType& type) { return type.rank() == 2 && is_integer(type.dtype); };
    pairs.bias = next([](const TensorType& type) { return type.rank() == 4 && is_floating(type.dtype); });
    pairs.mask = next([](const TensorType& type) { return type.rank() == 4 && type.dtype == DType::boolean; });
    pairs.query_segments = next(is_segments);
    pairs.key_segments = next(is_segments);
    return pairs;
}

bool may_hide_all(const Attend& attend, const AttendPairs& pairs) {
    const auto is_scalar = [](const AffineTerm& term) { return term.kind == AffineTerm::Kind::scalar; };
    return pairs.any() || std::any_of(attend.start.terms.begin(), attend.start.terms.end(), is_scalar);
}

std::string attend_pairs_problem(const AttendPairs& pairs, const AttendSizes& sizes,
                                 std::span<const TensorType> inputs) {
    const auto shape_of = [&](int input) -> const Shape& { return inputs[static_cast<size_t>(input)].shape; };
    const Shape all = {sizes.batch, sizes.heads, sizes.queries, sizes.keys};
    for (int input : {pairs.bias, pairs.mask})
        for (size_t d = 0; input >= 0 && d < all.size(); ++d)
            if (shape_of(input)[d] != 1 && shape_of(input)[d] != all[d]) return "a bias or mask of other sizes";
    if (pairs.query_segments < 0) return "";
    if (pairs.key_segments < 0 || shape_of(pairs.query_segments) != Shape{sizes.batch, sizes.queries} ||
        shape_of(pairs.key_segments) != Shape{sizes.batch, sizes.keys})
        return "segments that are not those of the queries and the keys";
    return "";
}

} // namespace shard
