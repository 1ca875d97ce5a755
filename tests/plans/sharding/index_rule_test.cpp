#include "plans/sharding/index_rule.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

TensorType tensor(Shape shape) {
    TensorType type;
    type.logical.resize(shape.size());
    type.shape = std::move(shape);
    return type;
}
std::vector<TensorType> tensors(std::vector<Shape> shapes) {
    std::vector<TensorType> types;
    for (Shape& shape : shapes) types.push_back(tensor(std::move(shape)));
    return types;
}
std::string rule_text(const char* notation, std::vector<Shape> operands, std::vector<Shape> results) {
    return text(make_rule(notation, tensors(std::move(operands)), tensors(std::move(results))));
}

} // namespace

TEST_CASE("a contraction's letters that are in operands only are reductions") {
    CHECK(rule_text("ik,kj->ij", {{8, 32}, {32, 16}}, {{8, 16}}) ==
          "([i, k],[k, j])->([i, j]) {i=8, k=32, j=16} reduction={k}");
    CHECK(rule_text("ij->", {{4, 8}}, {{}}) == "([i, j])->([]) {i=4, j=8} reduction={i, j}");
    CHECK(rule_text("bik,bkj->bij", {{2, 8, 32}, {2, 32, 16}}, {{2, 8, 16}}) ==
          "([b, i, k],[b, k, j])->([b, i, j]) {b=2, i=8, k=32, j=16} reduction={k}");
}

TEST_CASE("grouped letters: reshapes") {
    CHECK(rule_text("(ij)k->i(jk)", {{8, 4}}, {{2, 16}}) == "([ij, k])->([i, jk]) {i=2, j=4, k=4}");
    CHECK(rule_text("i(jkl)->ijkl", {{4, 12}}, {{4, 2, 3, 2}}) == "([i, jkl])->([i, j, k, l]) {i=4, j=2, k=3, l=2}");
}

TEST_CASE("size-1 dims and dots are private") {
    const IndexRule rule = make_rule("ij,ij->ij", tensors({{4, 1}, {4, 8}}), tensors({{4, 8}}));
    CHECK(text(rule) == "([i, k],[i, j])->([i, j]) {i=4, k=1, j=8}");
    CHECK(rule_text("i->.i", {{8}}, {{4, 8}}) == "([i])->([j, i]) {i=8, j=4}");
    CHECK(rule_text(".i->i", {{4, 8}}, {{8}}) == "([j, i])->([i]) {j=4, i=8} need_replication={j}");
    CHECK(rule_text("->.", {}, {{8}}) == "()->([i]) {i=8}");
    CHECK(rule_text("ik,kj->ij", {{8, 1}, {1, 16}}, {{8, 16}}) ==
          "([i, k],[k, j])->([i, j]) {i=8, k=1, j=16} reduction={k}");
}

TEST_CASE("pointwise rules align at the last dim and leave scalars without factors") {
    CHECK(text(pointwise_rule(tensors({{4, 8}, {8}, {}}), tensors({{4, 8}}))) ==
          "([i, j],[j],[])->([i, j]) {i=4, j=8}");
    CHECK(text(pointwise_rule(tensors({{4, 1}, {1, 8}}), tensors({{4, 8}}))) ==
          "([i, k],[l, j])->([i, j]) {i=4, k=1, l=1, j=8}");
}

TEST_CASE("kinds are changed by letter and printed") {
    IndexRule rule = make_rule("ij->ij", tensors({{4, 8}}), tensors({{4, 8}}));
    set_kind(rule, 'j', FactorKind::permutation, true);
    CHECK(text(rule) == "([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked={j}");
    CHECK_THROWS_AS(set_kind(rule, 'z', FactorKind::reduction), InternalError);
}

TEST_CASE("notation that does not fit the shapes is a broken assumption") {
    CHECK_THROWS_AS(rule_text("ik,kj->ij", {{8, 32}, {31, 16}}, {{8, 16}}), InternalError);
    CHECK_THROWS_AS(rule_text("ik,kj->ij", {{8, 32}}, {{8, 16}}), InternalError);
    CHECK_THROWS_AS(rule_text("i->i", {{8, 32}}, {{8, 32}}), InternalError);
    CHECK_THROWS_AS(rule_text("(ij)->(ij)", {{8}}, {{8}}), InternalError);
    CHECK_THROWS_AS(rule_text("(ij)k->i(jk)", {{8, 4}}, {{3, 16}}), InternalError);
}
