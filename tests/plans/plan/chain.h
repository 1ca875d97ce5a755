// A plan so small that one change breaks one rule.
#pragma once

#include "tests/support/plan_builder.h"
#include "tests/support/plan_verdict.h"

namespace shard {

Mesh chain_mesh(); // m of 2
Pointwise negated();
Pointwise added();

// x is negated twice: buffers x, a and b of 16 bytes, behind one another at 0, 64 and 128.
struct Chain {
    PlanBuilder builder{chain_mesh()};
    int x = builder.input("x", DType::f32, {4}), a = builder.buffer("a", DType::f32, {4}),
        b = builder.buffer("b", DType::f32, {4});
    Chain();
    Plan& plan() { return builder.plan(); }
    Buffer& buffer(int id) { return plan().buffers[id]; }
    Compute& step(size_t i) { return std::get<Compute>(plan().steps[i].variant_ref()); }
};
std::string chain(const std::function<void(Chain&)>& change); // the verdict on it

} // namespace shard
