// Which inputs are an optimizer's.
#include "importer/model/states.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {

TEST_CASE("what is replaced and needed for nothing else is a state: moments, and no parameter, count or target") {
    Draft draft;
    const DraftType vector{DType::f32, {4}}, whole{DType::i32, {}};
    const DraftId x = draft.input("x", vector, false), w = draft.input("w", vector, true),
                  mu = draft.input("mu", vector, false), count = draft.input("count", whole, false),
                  target = draft.input("target", vector, false), passed = draft.input("passed", vector, false);
    const DraftId gradient = draft.pointwise("mul", {x, draft.pointwise("sub", {w, target}, vector)}, vector);
    const DraftId loss = draft.pointwise("mul", {gradient, gradient}, vector);
    const DraftId mu_next = draft.pointwise("add", {mu, gradient}, vector);
    const DraftId w_next = draft.pointwise("sub", {w, mu_next}, vector);
    const DraftId count_next = draft.pointwise("add", {count, draft.number(whole, {1, 0})}, whole);
    const DraftId target_next = draft.pointwise("add", {target, w_next}, vector);
    const DraftUpdates updates = {
        {w, w_next}, {mu, mu_next}, {count, count_next}, {target, target_next}, {passed, mu_next}};
    const std::vector<DraftId> outputs = {loss, passed, w_next, mu_next, count_next, target_next};
    const std::vector<bool> found = states_of(draft, outputs, updates);
    for (DraftId id = 0; id < draft.value_count(); ++id) CHECK(found[static_cast<size_t>(id)] == (id == mu));
    // Of a step that returns nothing else nobody knows what is needed.
    const std::vector<bool> none = states_of(draft, {w_next, mu_next, count_next, target_next}, updates);
    CHECK(std::find(none.begin(), none.end(), true) == none.end());
}

} // namespace shard
