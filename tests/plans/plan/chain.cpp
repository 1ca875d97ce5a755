#include "tests/plans/plan/chain.h"

namespace shard {

Mesh chain_mesh() { return make_mesh({{"m", 2}}); }
Pointwise negated() { return pointwise(ScalarOp::neg, 1, 1, DType::f32, DType::f32); }
Pointwise added() { return pointwise(ScalarOp::add, 2, 1, DType::f32, DType::f32); }

Chain::Chain() {
    builder.compute(negated(), {x}, a);
    builder.compute(negated(), {a}, b);
    builder.output("b", b);
}

std::string chain(const std::function<void(Chain&)>& change) {
    Chain made;
    change(made);
    return plan_verdict(made.plan());
}

} // namespace shard
