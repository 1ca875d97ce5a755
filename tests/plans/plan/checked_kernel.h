// A kernel alone, on types and under a mesh: what the check of a plan says of it.
#pragma once

#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"

namespace shard {

using Types = std::vector<TensorType>;

inline TensorType of(DType dtype, Shape shape) { return {dtype, std::move(shape), {}}; }
inline TensorType f32(Shape shape) { return of(DType::f32, std::move(shape)); }
inline TensorType i32(Shape shape) { return of(DType::i32, std::move(shape)); }

inline Affine far() { return constant(i64{1} << 61); } // no index starts there

inline std::string problem_of(const Kernel& kernel, const Types& inputs, const TensorType& output) {
    const Mesh mesh{{{"data", 2, ""}, {"model", 4, ""}}, {}};
    return kernel_problem(AffineScope{&mesh, {}, {}}, kernel, inputs, output);
}

} // namespace shard
