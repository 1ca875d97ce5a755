// Makes values from nothing: fills, literals, counts, random numbers. `start` are per-dim offsets of the local block in
// the global value of shape `shape`.
#pragma once

#include "plans/base/number.h"
#include "plans/random/distribution.h"
#include "plans/random/random.h"
#include "plans/sharding/affine.h"

#include <variant>

namespace shard {

struct Fill {
    Number value = 0;
    bool operator==(const Fill&) const = default;
};
struct Literal {
    std::vector<Number> values; // row-major, global
    bool operator==(const Literal&) const = default;
};
struct Iota {
    int dim = 0;
    bool operator==(const Iota&) const = default;
};
struct Random {
    Distribution distribution;
    Key key;
    BitLayout layout = BitLayout::partitionable;
    std::uint32_t multiplier = 1; // of the random bits, modulo 2^32; not 1 only to reproduce what XLA got wrong
    // If any: the first dims are stacks, as many dims as have that many entries together (row-major), and each entry is
    // an array of its own, drawn with its key in place of `key`.
    std::vector<Key> layers = {};
    std::vector<Affine> words = {}; // if any, those of the key, in place of `key`: two, of rbg four
    std::vector<Affine> folds = {}; // folded into the key one after the other: a step count, a loop index, a coordinate
    // If not empty, into how many blocks each dim of the whole is cut: every block is an array of its own, drawn under
    // the key folded with the block's index (row-major), after `folds`.
    std::vector<i64> blocks = {};
    bool operator==(const Random&) const = default;
};
struct Generate {
    std::variant<Fill, Literal, Iota, Random> source;
    Shape shape;
    std::vector<Affine> start;
    bool operator==(const Generate&) const = default;
};

// How many of a shape's first dims have `entries` entries together; at least one. nullopt: no number of them does.
std::optional<size_t> stack_dims(const Shape& shape, size_t entries);

} // namespace shard
