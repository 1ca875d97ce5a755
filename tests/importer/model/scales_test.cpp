// Which parameters begin with ones.
#include "importer/model/scales.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("vectors that others are scaled by are scales, and matrices, biases and what the program scales are none") {
    Draft draft;
    const DraftType vector{DType::f32, {4}}, rows{DType::f32, {2, 4}};
    const auto param = [&](const DraftType& type) { return draft.input("p", type, true); };
    const DraftId x = draft.input("x", rows, false), norm = param(vector), bias = param(vector), gain = param(vector),
                  repeated = param(vector), decayed = param(vector), matrix = param(rows),
                  whole = param({DType::i32, {4}});
    draft.add("layer_norm", {x, norm, bias}, {}, rows);
    draft.pointwise("mul", {x, gain}, rows);
    draft.pointwise("mul", {draft.broadcast(repeated, {2, 4}, {1}), x}, rows);
    draft.pointwise("mul", {decayed, draft.number({DType::f32, {}}, {0.1, 0})}, vector);
    draft.pointwise("mul", {matrix, x}, rows);
    draft.pointwise("mul", {whole, whole}, {DType::i32, {4}});
    const std::vector<bool> found = scales_of(draft);
    const auto is_scale = [&](DraftId id) { return found[static_cast<size_t>(id)]; };
    for (const DraftId id : {norm, gain, repeated}) CHECK(is_scale(id));
    for (const DraftId id : {x, bias, decayed, matrix, whole}) CHECK_FALSE(is_scale(id));
}

} // namespace shard
