// The two ways in which tensors of a block that is repeated are kept: a block that is scanned has one tensor of all
// layers, `block.w` of [L, ...], a block that is written out has `block.0.w` to `block.(L-1).w` of [...]. A checkpoint
// of one serves the other.
//
//     checkpoint                   plan               found
//     block.0.w, block.1.w [8]     block.w [2, 8]     {block.0.w, from {}, to {0}}, {block.1.w, from {}, to {1}}
//     block.w [2, 8]               block.1.w [8]      {block.w, from {1}, to {}}
//     a.b.0.w, a.b.1.w [3, 8]      a.2.b.w [2, 8]     {a.b.0.w, from {2}, to {0}}, {a.b.1.w, from {2}, to {1}}
//     a.b.0.w, a.b.1.w [3, 8]      a.b.w [3, 2, 8]    {a.b.0.w, from {*}, to {*, 0}}, {a.b.1.w, from {*}, to {*, 1}}
//
// A number that is a part of a path of its own is that of a layer (`block.0.w`, not `dense_0.w`). The layers of scanned
// blocks are the leading dims, outer blocks first; the plan says which blocks these are (PlanInput::layers). So all
// loops around its tensor are known, and a stored name says which of them it was written out for.
#pragma once

#include "plans/plan/plan.h"

#include <map>

namespace shard {

// A stored tensor whose part at the leading indices `from` is the part of a plan's tensor at the leading indices `to`.
struct LayerSource {
    static constexpr i64 every = -1; // all indices, the same in both: the first in `from` is the first in `to`
    std::string stored;
    std::vector<i64> from, to;
    Shape layers; // the sizes that the stored tensor's leading dims must have: as many layers as the plan has
    bool operator==(const LayerSource&) const = default;
};

class LayerNames {
public:
    void add_stored(const std::string& name) { add(stored_, name); }
    void add_planned(const std::string& name) { add(planned_, name); }

    // Where the parts of a plan's tensor are, in the order of `to`: that of its own name if it is stored, else all its
    // layers or the stack that it is a layer of. Empty if they are not there, or not in one way only. Shapes are the
    // caller's to check. `stacked`: as PlanInput::layers.
    std::vector<LayerSource> find(const std::string& name, const Shape& shape, std::span<const i64> stacked) const;

    using Positions = std::vector<i64>; // how many words stand before each number
    struct LayeredName {
        std::string words; // each with a dot behind it
        Positions positions;
        std::vector<i64> numbers;
    };
    static LayeredName layered_name(const std::string& name);

private:
    using Members = std::map<std::vector<i64>, std::string>; // names by numbers
    using Family = std::map<Positions, Members>;
    using Families = std::map<std::string, Family>; // by the words of the path

    static void add(Families& families, const std::string& name);
    // With stored tensors that have numbers at these positions.
    std::vector<LayerSource> read_as(const LayeredName& wanted, const Shape& shape, std::span<const i64> stacked,
                                     const Positions& positions, const Members& names) const;

    Families stored_, planned_;
};

} // namespace shard
