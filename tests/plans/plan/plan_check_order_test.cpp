// As plan_check_kernel_test.cpp: the rules of lookups, scans, sorts and attention.
#include "tests/plans/plan/checked_kernel.h"

#include <doctest/doctest.h>

#include <limits>

using namespace shard;

TEST_CASE("check of a gather and a scatter: the table, the indices and what is between") {
    const auto gathered = [](Gather gather, const Types& inputs, const TensorType& output) {
        return problem_of(gather, inputs, output);
    };
    const Types inputs = {f32({2, 6, 3}), i32({5, 4})};
    const TensorType output = f32({2, 5, 4, 3});
    CHECK(gathered({1, 6, {}}, inputs, output) == "");
    CHECK(gathered({1, 1, {}}, inputs, output) == "");
    CHECK(gathered({1, 6, {}}, {f32({2, 6, 3})}, output) == "gather takes a table and indices");
    CHECK(gathered({1, 6, {}}, {f32({2, 6, 3}), i32({5, 4}), i32({5, 4})}, output) ==
          "gather takes a table and indices");
    CHECK(gathered({1, 6, {}}, {i32({2, 6, 3}), i32({5, 4})}, output) == "gather: element types do not fit");
    CHECK(gathered({1, 6, {}}, {f32({2, 6, 3}), f32({5, 4})}, output) == "gather: element types do not fit");
    CHECK(gathered({-1, 6, {}}, inputs, output) == "gather: no such dim of the table");
    CHECK(gathered({3, 6, {}}, inputs, output) == "gather: no such dim of the table");
    CHECK(gathered({1, 0, {}}, inputs, output) == "gather: no such dim of the table");
    CHECK(gathered({0, 2, {}}, inputs, output) == "gather: the result's shape does not fit");
    CHECK(gathered({1, 6, {}}, inputs, f32({2, 5, 3})) == "gather: the result's shape does not fit");
    CHECK(gathered({1, 6, far()}, inputs, output) == "gather: a start outside what can be computed");

    const auto scattered = [](Scatter scatter, const Types& of, const TensorType& result) {
        return problem_of(scatter, of, result);
    };
    const Types updates = {i32({5, 4}), f32({2, 5, 4, 3})};
    const TensorType result = f32({2, 6, 3});
    CHECK(scattered({1, 6, {}}, updates, result) == "");
    CHECK(scattered({1, 1, {}}, updates, result) == "");
    CHECK(scattered({1, 6, {}}, {i32({5, 4})}, result) == "scatter takes indices and updates");
    CHECK(scattered({1, 6, {}}, {i32({5, 4}), f32({2, 5, 4, 3}), f32({})}, result) ==
          "scatter takes indices and updates");
    CHECK(scattered({1, 6, {}}, {f32({5, 4}), f32({2, 5, 4, 3})}, result) == "scatter: element types do not fit");
    CHECK(scattered({1, 6, {}}, {i32({5, 4}), i32({2, 5, 4, 3})}, result) == "scatter: element types do not fit");
    CHECK(scattered({1, 6, {}}, {i32({5, 4}), of(DType::boolean, {2, 5, 4, 3})}, of(DType::boolean, {2, 6, 3})) ==
          "scatter: element types do not fit");
    CHECK(scattered({-1, 6, {}}, updates, result) == "scatter: no such dim of the table");
    CHECK(scattered({3, 6, {}}, updates, result) == "scatter: no such dim of the table");
    CHECK(scattered({1, 0, {}}, updates, result) == "scatter: no such dim of the table");
    CHECK(scattered({0, 6, {}}, updates, result) == "scatter: the updates' shape does not fit");
    CHECK(scattered({1, 6, {}}, {i32({5, 4}), f32({2, 5, 4})}, result) == "scatter: the updates' shape does not fit");
    CHECK(scattered({1, 6, far()}, updates, result) == "scatter: a start outside what can be computed");
}

TEST_CASE("check of a lookup: each paired dim is one of the table and one of the indices, of one size") {
    const Types inputs = {f32({4, 6, 3}), i32({3, 4})};
    const auto gathered = [&](std::vector<std::pair<int, int>> batch, const Shape& output) {
        return problem_of(Gather{1, 6, {}, std::move(batch)}, inputs, f32(output));
    };
    CHECK(gathered({{0, 1}}, {4, 3, 3}) == "");
    CHECK(gathered({{0, 1}, {2, 0}}, {4, 3}) == "");
    CHECK(gathered({{0, 1}}, {4, 3, 4, 3}) == "gather: the result's shape does not fit");
    CHECK(gathered({{0, 2}}, {4, 3}) == "gather: [0, 2] is no dim of the table and one of the indices");
    CHECK(gathered({{-1, 0}}, {4, 3}) == "gather: [-1, 0] is no dim of the table and one of the indices");
    CHECK(gathered({{1, 0}}, {4, 3}) == "gather: [1, 0] has a dim that is looked up along, or in another pair");
    CHECK(gathered({{0, 1}, {2, 1}}, {4, 3}) == "gather: [2, 1] has a dim that is looked up along, or in another pair");
    CHECK(gathered({{0, 0}}, {4, 3}) == "gather: [0, 0] pairs a dim of size 4 with one of size 3");
    const Scatter scatter = {1, 6, {}, ReduceOp::max, {{0, 1}}};
    CHECK(problem_of(scatter, {i32({3, 4}), f32({4, 3, 3})}, f32({4, 6, 3})) == "");
    CHECK(problem_of(scatter, {i32({4, 3}), f32({4, 3, 3})}, f32({4, 6, 3})) ==
          "scatter: [0, 1] pairs a dim of size 4 with one of size 3");
}

TEST_CASE("check of a scan: as many operands as the operation takes, of the result's type") {
    const auto with = [](const Scan& scan, const Types& inputs, const TensorType& output) {
        return problem_of(scan, inputs, output);
    };
    const Types one = {f32({3, 4})}, two = {f32({3, 4}), f32({3, 4})};
    CHECK(with({1, ScanOp::sum, true}, one, f32({3, 4})) == "");
    CHECK(with({0, ScanOp::linear, false}, two, f32({3, 4})) == "");
    CHECK(with({0, ScanOp::max, false}, {i32({3, 4})}, i32({3, 4})) == "");
    CHECK(with({0, ScanOp::sum, false}, two, f32({3, 4})) == "scan: sum takes 1 operands");
    CHECK(with({0, ScanOp::linear, false}, one, f32({3, 4})) == "scan: linear takes 2 operands");
    CHECK(with({0, ScanOp::linear, false}, {f32({3, 4}), f32({3, 1})}, f32({3, 4})) ==
          "scan: operands of the result's type");
    CHECK(with({0, ScanOp::sum, false}, one, i32({3, 4})) == "scan: operands of the result's type");
    CHECK(with({2, ScanOp::sum, false}, one, f32({3, 4})) == "scan: no such dim");
    CHECK(with({-1, ScanOp::sum, false}, one, f32({3, 4})) == "scan: no such dim");
    CHECK(with({0, ScanOp::logsumexp, false}, {i32({3})}, i32({3})) == "scan: logsumexp is not defined on i32");
    CHECK(with({0, ScanOp::sum, false}, {of(DType::boolean, {3})}, of(DType::boolean, {3})) ==
          "scan: sum is not defined on bool");
}

TEST_CASE("check of a sort: keys of one shape, and positions of all of them or of the first few") {
    const auto with = [](const Sort& sort, const Types& keys, const TensorType& output) {
        return problem_of(sort, keys, output);
    };
    const Types keys = {f32({3, 4}), i32({3, 4})};
    CHECK(with({1, false}, keys, i32({3, 4})) == "");
    CHECK(with({1, true}, keys, i32({3, 2})) == "");
    CHECK(with({1, false}, {}, i32({3, 4})) == "sort: no key");
    CHECK(with({1, false}, {f32({3, 4}), f32({4, 3})}, i32({3, 4})) == "sort: keys of several shapes");
    CHECK(with({2, false}, keys, i32({3, 4})) == "sort: no such dim");
    CHECK(with({-1, false}, keys, i32({3, 4})) == "sort: no such dim");
    CHECK(with({1, false}, keys, f32({3, 4})) == "sort: positions are i32");
    CHECK(with({0, false}, {f32({i64{1} << 31})}, i32({4})) == "sort: positions are i32");
    for (const Shape& shape : {Shape{3, 5}, {2, 4}, {3}, {}})
        CHECK(with({1, false}, keys, i32(shape)) == "sort: the result's shape does not fit");
}

TEST_CASE("check of attention: operands of each part, a result of its type, and numbers that can be computed with") {
    const auto with = [](const Attend& attend, const Types& inputs, const TensorType& output) {
        return problem_of(attend, inputs, output);
    };
    const TensorType q = f32({2, 5, 4, 3}), k = f32({2, 6, 2, 3}), v = f32({2, 6, 2, 7}), o = f32({2, 5, 4, 7}),
                     rows = f32({2, 5, 4});
    Attend attend;
    CHECK(with(attend, {q, k, v}, o) == "");
    CHECK(with(attend, {q, k}, o) == "attend: it takes 3 operands");
    CHECK(with(attend, {q, k, rows}, o) == "attend: operands of 4 dims and one type");
    CHECK(with(attend, {q, k, of(DType::bf16, {2, 6, 2, 7})}, o) == "attend: operands of 4 dims and one type");
    CHECK(with(attend, {i32({2, 5, 4, 3}), i32({2, 6, 2, 3}), i32({2, 6, 2, 7})}, i32({2, 5, 4, 7})) ==
          "attend: operands that are not floating-point");
    CHECK(with(attend, {q, f32({2, 6, 3, 3}), f32({2, 6, 3, 7})}, o) ==
          "attend: heads that are no multiple of those of k");
    CHECK(with(attend, {q, k, f32({2, 5, 2, 7})}, o) == "attend: operands whose sizes differ");
    CHECK(with(attend, {q, f32({1, 6, 2, 3}), v}, o) == "attend: operands whose sizes differ");
    CHECK(with(attend, {q, k, v}, q) == "attend: a result of another type");
    CHECK(with(attend, {q, k, v}, of(DType::bf16, {2, 5, 4, 7})) == "attend: a result of another type");
    attend.start = far();
    CHECK(with(attend, {q, k, v}, o) == "attend: a start outside what can be computed");
    attend = {AttendPart::values, std::numeric_limits<double>::infinity(), false, 0, 0, {}};
    CHECK(with(attend, {q, k, v}, o) == "attend: a scale, window or soft cap that is none");
    attend = {AttendPart::values, 1, false, -1, 0, {}};
    CHECK(with(attend, {q, k, v}, o) == "attend: a scale, window or soft cap that is none");
    attend = {AttendPart::values, 1, false, 0, -1, {}};
    CHECK(with(attend, {q, k, v}, o) == "attend: a scale, window or soft cap that is none");

    const auto part = [&](AttendPart which, const Types& inputs, const TensorType& output) {
        return problem_of(Attend{which, 1, false, 0, 0, {}}, inputs, output);
    };
    CHECK(part(AttendPart::logsumexp, {q, k}, rows) == "");
    CHECK(part(AttendPart::logsumexp, {q, k}, q) == "attend: a result of another type");
    CHECK(part(AttendPart::query_gradient, {q, k, v, o, rows, rows}, q) == "");
    CHECK(part(AttendPart::key_gradient, {q, k, v, o, rows, rows}, k) == "");
    CHECK(part(AttendPart::key_gradient, {q, k, v, q, rows, rows}, k) == "attend: operands whose sizes differ");
    CHECK(part(AttendPart::key_gradient, {q, k, v, o, rows, f32({2, 5})}, k) ==
          "attend: a number of f32 for every query");
    CHECK(part(AttendPart::value_gradient, {q, k, o, rows}, v) == "");
    CHECK(part(AttendPart::value_gradient, {q, k, o, of(DType::f64, {2, 5, 4})}, v) ==
          "attend: a number of f32 for every query");
}
