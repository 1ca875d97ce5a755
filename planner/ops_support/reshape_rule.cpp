#include "planner/ops_support/reshape_rule.h"

#include "planner/ops_support/rule_maker.h"

#include <numeric>

namespace shard {

namespace {

// One side of the walk, major to minor. `dims` is the product of the dims entered, `factors` that of the factors
// emitted.
struct Side {
    const Shape& shape;
    TensorFactors& out;
    size_t entered = 0;
    i64 dims = 1, factors = 1;

    bool exhausted() const { return dims == factors; }
    i64 rest() const { return dims / factors; } // of the current dim
    void enter(RuleMaker& maker) {
        while (exhausted() && entered < shape.size()) {
            const i64 size = shape[entered++];
            out.emplace_back();
            if (size == 1) out.back().push_back(maker.factor(FactorKind::pass_through, 1));
            dims *= size;
        }
    }
    void take(int factor, i64 size) {
        out.back().push_back(factor);
        factors *= size;
    }
    void take_private(RuleMaker& maker, i64 size) {
        if (size > 1) take(maker.factor(FactorKind::need_replication, size), size);
    }
    // This side is behind: what it emits alone until it has caught up with `other`, if it can.
    i64 catch_up(const Side& other, i64 common) const {
        if (other.factors % factors == 0 && rest() % (other.factors / factors) == 0) return other.factors / factors;
        return rest() > common ? rest() / common : rest();
    }
};

} // namespace

IndexRule reshape_rule(const Shape& from, const Shape& to) {
    RuleMaker maker(1, 1);
    Side in{from, maker.operand(0)}, out{to, maker.result()};
    for (;;) {
        in.enter(maker);
        out.enter(maker);
        if (in.exhausted() && out.exhausted()) break;
        const i64 common = std::gcd(in.rest(), out.rest());
        if (in.factors < out.factors) {
            in.take_private(maker, in.catch_up(out, common));
        } else if (in.factors > out.factors) {
            out.take_private(maker, out.catch_up(in, common));
        } else if (common > 1) {
            const int factor = maker.factor(FactorKind::pass_through, common);
            in.take(factor, common);
            out.take(factor, common);
        } else {
            const i64 in_rest = in.rest(), out_rest = out.rest();
            in.take_private(maker, in_rest);
            out.take_private(maker, out_rest);
        }
    }
    return maker.rule();
}

} // namespace shard
