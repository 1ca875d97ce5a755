// The sequence in zigzag order: how parts of it come to their devices and back, and what is computed of which.
#include "planner/attention/ring_region.h"

#include <algorithm>
#include <limits>

namespace shard {

RingRegion::Values RingRegion::zigzag_forward(const Block& block, const Values& kept, const Rows& low,
                                              const Rows& high) {
    const ValueId early = emit("lt", {block.source, rank_});
    const std::array<Values, 2> of_block = halves(block);
    const std::ptrdiff_t count = std::ssize(kept) / 2;
    Values of_low(kept.begin(), kept.begin() + count), of_high(kept.begin() + count, kept.end());
    of_high = merge(of_high, forward_of(high, of_block[0], -1, false, block.source));
    const Values some =
        forward_of(select(early, low, high), select(early, of_block[0], of_block[1]), -1, false, block.source);
    // Where it does not belong it weighs nothing.
    const ValueId nothing = builder_.scalar(-std::numeric_limits<double>::infinity(), type(some.back()).dtype);
    Values to_low = some, to_high = some;
    to_low.back() = select(early, some.back(), nothing);
    to_high.back() = select(early, nothing, some.back());
    of_low = merge(of_low, to_low);
    of_high = merge(of_high, to_high);
    of_low.insert(of_low.end(), of_high.begin(), of_high.end());
    return of_low;
}

RingRegion::Values RingRegion::halves(ValueId id) {
    const Shape shape = type(id).shape;
    Shape zeros(shape.size(), 0), middle = shape, second = zeros;
    middle[1] = second[1] = shape[1] / 2;
    return {emit("slice", {id}, attributes_of({{"start", zeros}, {"limit", middle}})),
            emit("slice", {id}, attributes_of({{"start", second}, {"limit", shape}}))};
}

ValueId RingRegion::joined(const Values& low_and_high) {
    return emit("concatenate", low_and_high, attributes_of({{"dim", std::vector<i64>{1}}}));
}

ValueId RingRegion::select(ValueId condition, ValueId yes, ValueId no) {
    return yes < 0 ? -1 : emit("select", {condition, yes, no});
}

RingRegion::Values RingRegion::select(ValueId condition, const Values& yes, const Values& no) {
    Values made;
    for (size_t n = 0; n < yes.size(); ++n) made.push_back(select(condition, yes[n], no[n]));
    return made;
}

RingRegion::Rows RingRegion::select(ValueId condition, const Rows& yes, const Rows& no) {
    return {select(condition, yes.q, no.q), select(condition, yes.given, no.given),
            select(condition, yes.logsumexp, no.logsumexp), select(condition, yes.mean, no.mean),
            select(condition, yes.segments, no.segments)};
}

std::array<RingRegion::Rows, 2> RingRegion::halves(const Rows& rows) {
    std::array<Rows, 2> made;
    for (ValueId Rows::*of : {&Rows::q, &Rows::given, &Rows::logsumexp, &Rows::mean, &Rows::segments}) {
        if (rows.*of < 0) continue;
        const Values both = halves(rows.*of);
        made[0].*of = both[0];
        made[1].*of = both[1];
    }
    return made;
}

std::array<RingRegion::Values, 2> RingRegion::halves(const Block& block) {
    std::array<Values, 2> made;
    for (const ValueId id : block.values) {
        const Values both = id < 0 ? Values{-1, -1} : halves(id);
        made[0].push_back(both[0]);
        made[1].push_back(both[1]);
    }
    return made;
}

// Where the even parts go, and the odd ones: part p belongs to device p, or 2c - 1 - p if that is the smaller one.
std::array<std::vector<i64>, 2> RingRegion::permutations(bool back) const {
    std::array<std::vector<i64>, 2> made;
    for (i64 device = 0; device < devices_; ++device)
        for (const i64 odd : {0, 1}) {
            const i64 part = 2 * device + odd, to = std::min(part, 2 * devices_ - 1 - part);
            const std::array<i64, 2> pair = back ? std::array<i64, 2>{to, device} : std::array<i64, 2>{device, to};
            made[static_cast<size_t>(odd)].insert(made[static_cast<size_t>(odd)].end(), pair.begin(), pair.end());
        }
    return made;
}

ValueId RingRegion::permuted(ValueId id, const std::vector<i64>& perm) {
    const std::string why =
        "the sequence is brought into zigzag order and back: then a causal mask leaves all devices as much";
    const ValueId made = emit("ppermute", {id}, over({{"perm", perm}, {"passes", why}}));
    name(made, "zigzag");
    return made;
}

// A device's low part is even if the device is, and then its high part is odd.
ValueId RingRegion::into_zigzag(ValueId id) {
    const auto [known, added] = zigzagged_.try_emplace(id, -1);
    if (!added) return known->second;
    const Values both = halves(id);
    const std::array<std::vector<i64>, 2> perms = permutations(false);
    const ValueId even = permuted(both[0], perms[0]), odd = permuted(both[1], perms[1]);
    const ValueId is_even = emit("eq", {emit("rem", {rank_, integer(2)}), integer(0)});
    const ValueId made = joined({select(is_even, even, odd), select(is_even, odd, even)});
    return zigzagged_[id] = made;
}

ValueId RingRegion::out_of_zigzag(ValueId id) {
    const Values both = halves(id);
    const std::array<std::vector<i64>, 2> perms = permutations(true);
    const ValueId is_even = emit("eq", {emit("rem", {rank_, integer(2)}), integer(0)});
    const ValueId even = select(is_even, both[0], both[1]), odd = select(is_even, both[1], both[0]);
    const ValueId made = joined({permuted(even, perms[0]), permuted(odd, perms[1])});
    zigzagged_[made] = id; // what goes out may come back in the backward pass
    return made;
}

} // namespace shard
