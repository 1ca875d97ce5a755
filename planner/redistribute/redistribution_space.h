// The states and moves that the redistribution search walks over.
//
// The axes of both ends are cut into pieces that are equal or disjoint, and further where the size of one piece divides
// another's, so that one can take the other's place. A state says which pieces lie on which dim, major to minor, and
// which are partial; leading pieces that both ends have in the same place never move and are left out.
//
//     {x:4, y:2}, [y | - | x] -> [- | x,y | -]:  pieces x:(1)2, x:(2)2, y;  state {{y}, {}, {x1, x2}}
#pragma once

#include "planner/redistribute/redistribute.h"
#include "plans/base/saturating.h"

#include <map>
#include <tuple>
#include <unordered_map>

namespace shard {

struct Placement {
    std::vector<std::vector<int>> dims; // pieces, major to minor
    std::vector<int> partial;           // ascending
    bool operator==(const Placement&) const = default;
};
// As a text, which is small; texts have the order of the lists.
std::string text_of(const Placement& placement);
Placement placement_of(std::string_view text);

// The order of preference.
struct MoveCost {
    double seconds = 0;
    i64 wire_bytes = 0;
    int collectives = 0;
    int steps = 0;
    auto operator<=>(const MoveCost&) const = default;
    MoveCost operator+(const MoveCost& other) const {
        return {seconds + other.seconds, add_saturating(wire_bytes, other.wire_bytes), collectives + other.collectives,
                steps + other.steps};
    }
};

// Who is told the moves out of a placement, one after the other. Most lead nowhere, and to count what a move sends takes
// longer than to see that.
class MoveVisitor {
public:
    virtual ~MoveVisitor() = default;
    virtual bool wants(const Placement& after, double seconds) = 0; // false: no more needs to be known
    virtual void take(int number, const MoveCost& cost) = 0;        // of the move that was asked about last
};

class RedistributionSpace {
public:
    // `idle`: axes that neither end uses may split the value on the way.
    RedistributionSpace(const Mesh& mesh, const Hardware& hardware, const TensorType& global, const Sharding& from,
                        const Sharding& to, bool idle = false);

    bool has_idle() const { return first_idle_ < pieces_.size(); } // such axes are there, and not too many to search
    const Placement& start() const { return start_; }
    const Placement& goal() const { return goal_; }
    i64 local_bytes(const Placement& placement) const;
    // In a fixed order, numbered from 0.
    void visit_moves(const Placement& placement, MoveVisitor& visitor) const;
    RedistributionStep step(const Placement& placement, int number) const; // what the move does
    // Never more than what is left to pay: a device receives at least the bytes by which its block has to grow, and to
    // finish a sum over n devices at least 2(n-1)/n of the smaller of its blocks now and at the goal; and one of them at
    // least what is not in place. The fastest links carry them.
    MoveCost at_least(const Placement& placement) const;
    // The cost of a whole way through a placement, as the search orders it: seconds that differ by rounding alone are
    // equal.
    MoveCost estimate(const MoveCost& paid, const MoveCost& rest) const;
    double grain() const { return grain_; } // seconds that differ by less are equal

private:
    // Of the goal's block of a device, what of it the device holds now, of those that hold the least.
    i64 bytes_in_place(const Placement& placement) const;

    class Generator;
    using Group = std::uint64_t; // a set of pieces
    struct Price {
        double seconds = 0;
        i64 wire_bytes = 0;
    };

    const Mesh* mesh_;
    const Hardware* hardware_;
    ReduceOp reduce_ = ReduceOp::sum;
    std::vector<AxisRef> pieces_;
    size_t first_idle_ = 0; // pieces from here on are of axes that neither end uses
    Shape shape_;           // without what the fixed leading pieces split
    i64 bytes_ = 0;         // of that shape
    double rate_ = 0;       // bytes/s that a device can receive at most
    double hop_ = 0;        // seconds that any collective takes
    double grain_ = 0;
    Placement start_, goal_;
    Group units_ = 0; // pieces of one part
    // What was asked for once: by kind, group and bytes of a block; and the wire bytes of permutations.
    mutable std::map<std::tuple<const CollectiveDef*, Group, i64>, Price> prices_;
    mutable std::map<const CollectiveDef*, std::unordered_map<std::string, i64>> permutation_bytes_;
};

} // namespace shard
