// Every rule that a kernel has to keep, broken alone: what a rule does not see would be read or written by the
// executor.
#include "plans/kernel/kernel_in_place.h"
#include "tests/plans/plan/checked_kernel.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

ScalarStep step(ScalarOp op, std::array<int, 3> args, DType dtype) { return {op, args, dtype, 0, {}}; }
ScalarStep read(int input, DType dtype) { return step(ScalarOp::input, {input, -1, -1}, dtype); }

} // namespace

TEST_CASE("check of a contract: labels, sizes and types") {
    const Contract dot{{0, 1}, {1, 2}, {0, 2}};
    const Types operands = {f32({3, 4}), f32({4, 5})};
    CHECK(problem_of(dot, operands, f32({3, 5})) == "");
    CHECK(problem_of(dot, {f32({3, 4})}, f32({3, 5})) == "contract takes two operands");
    CHECK(problem_of(dot, {f32({3, 4}), f32({4, 5}), f32({4, 5})}, f32({3, 5})) == "contract takes two operands");

    const std::string per_dim = "contract: one label per dim";
    CHECK(problem_of(Contract{{0}, {1, 2}, {0, 2}}, operands, f32({3, 5})) == per_dim);
    CHECK(problem_of(Contract{{0, 1}, {1, 2, 3}, {0, 2}}, operands, f32({3, 5})) == per_dim);
    CHECK(problem_of(Contract{{0, 1}, {1, 2}, {0}}, operands, f32({3, 5})) == per_dim);

    const std::string twice = "contract: a label twice in one tensor";
    CHECK(problem_of(Contract{{1, 1}, {1, 2}, {2}}, {f32({4, 4}), f32({4, 5})}, f32({5})) == twice);
    CHECK(problem_of(Contract{{0, 1}, {1, 1}, {0}}, {f32({3, 4}), f32({4, 4})}, f32({3})) == twice);
    CHECK(problem_of(Contract{{0, 1}, {1}, {0, 0}}, {f32({3, 4}), f32({4})}, f32({3, 3})) == twice);

    CHECK(problem_of(dot, {f32({3, 4}), f32({6, 5})}, f32({3, 5})) == "contract: label 1 has two sizes");
    CHECK(problem_of(dot, operands, f32({4, 5})) == "contract: label 0 has two sizes");
    CHECK(problem_of(dot, operands, f32({3, 4})) == "contract: label 2 has two sizes");

    CHECK(problem_of(Contract{{0, 1, 7}, {1, 2}, {0, 2}}, {f32({3, 4, 2}), f32({4, 5})}, f32({3, 5})) ==
          "contract: label 7 is in one tensor alone");
    CHECK(problem_of(Contract{{0, 1}, {1, 2, 7}, {0, 2}}, {f32({3, 4}), f32({4, 5, 2})}, f32({3, 5})) ==
          "contract: label 7 is in one tensor alone");
    CHECK(problem_of(Contract{{0, 1}, {1, 2}, {0, 2, 7}}, operands, f32({3, 5, 2})) ==
          "contract: label 7 is in one tensor alone");
    CHECK(problem_of(Contract{{7, 0, 1}, {7, 1, 2}, {7, 0, 2}}, {f32({2, 3, 4}), f32({2, 4, 5})}, f32({2, 3, 5})) ==
          "");

    const auto typed = [&](DType lhs, DType rhs, DType out) {
        return problem_of(dot, {of(lhs, {3, 4}), of(rhs, {4, 5})}, of(out, {3, 5}));
    };
    CHECK(typed(DType::f32, DType::f64, DType::f32) == "contract: operands of two types");
    CHECK(typed(DType::bf16, DType::f32, DType::f32) == "contract: operands of two types");
    CHECK(typed(DType::bf16, DType::bf16, DType::bf16) == "");
    CHECK(typed(DType::bf16, DType::bf16, DType::f32) == ""); // what its sums are made in
    CHECK(typed(DType::bf16, DType::bf16, DType::f64) == "contract: a result of another type");
    CHECK(typed(DType::f32, DType::f32, DType::bf16) == "contract: a result of another type");
    CHECK(typed(DType::f64, DType::f64, DType::f32) == "contract: a result of another type");
    CHECK(typed(DType::i32, DType::i32, DType::i32) == "contract: only floating-point types multiply");
}

TEST_CASE("check of a pointwise kernel: dims of inputs") {
    const auto with = [](std::vector<std::vector<int>> dims, const Types& inputs) {
        return problem_of(Pointwise{std::move(dims), {read(0, DType::f32)}}, inputs, f32({3, 4}));
    };
    CHECK(with({{0, 1}}, {f32({3, 4})}) == "");
    CHECK(with({{1, 0}}, {f32({4, 3})}) == "");
    CHECK(with({{1}}, {f32({4})}) == "");
    CHECK(with({{0, 1}}, {f32({1, 4})}) == ""); // broadcast
    CHECK(with({}, {f32({3, 4})}) == "pointwise: one list of dims per input");
    CHECK(with({{0, 1}, {0, 1}}, {f32({3, 4})}) == "pointwise: one list of dims per input");
    CHECK(with({{0}}, {f32({3, 4})}) == "pointwise: one output dim per dim of an input");
    const std::string gone = "pointwise: an input runs along dims that are not there";
    CHECK(with({{-1, 1}}, {f32({1, 4})}) == gone);
    CHECK(with({{0, 2}}, {f32({3, 1})}) == gone);
    CHECK(with({{1, 1}}, {f32({4, 4})}) == gone);
    CHECK(with({{0, 1}}, {f32({3, 2})}) == "pointwise: dim 1 of input 0 does not fit the result");
    CHECK(with({{0, 1}}, {f32({2, 4})}) == "pointwise: dim 0 of input 0 does not fit the result");
    CHECK(with({{0, 1}, {0}}, {f32({3, 4}), f32({4})}) == "pointwise: dim 0 of input 1 does not fit the result");
}

TEST_CASE("check of a pointwise kernel: every step reads what is there") {
    const auto with = [](std::vector<ScalarStep> steps) {
        return problem_of(Pointwise{{{0, 1}, {0, 1}}, std::move(steps)}, {f32({3, 4}), i32({3, 4})}, f32({3, 4}));
    };
    CHECK(with({read(0, DType::f32)}) == "");
    CHECK(with({}) == "pointwise: the last step is not of the result's type");
    CHECK(with({read(0, DType::f32), read(1, DType::i32)}) == "pointwise: the last step is not of the result's type");
    CHECK(with({read(-1, DType::f32)}) == "pointwise: a step reads an input that is not there");
    CHECK(with({read(2, DType::f32)}) == "pointwise: a step reads an input that is not there");
    CHECK(with({read(1, DType::f32)}) == "pointwise: a step reads an input as another type");

    const auto index = [](int dim, const Affine& start) {
        ScalarStep made = step(ScalarOp::index, {dim, -1, -1}, DType::f32);
        made.start = start;
        return made;
    };
    CHECK(with({index(0, {})}) == "");
    CHECK(with({index(1, constant(7))}) == "");
    CHECK(with({index(-1, {})}) == "pointwise: an index along a dim that is not there");
    CHECK(with({index(2, {})}) == "pointwise: an index along a dim that is not there");
    CHECK(with({index(0, far())}) == "pointwise: an index starts outside what can be computed");

    const std::string later = "pointwise: a step reads a later one";
    CHECK(with({step(ScalarOp::neg, {0, -1, -1}, DType::f32)}) == later);
    CHECK(with({read(0, DType::f32), step(ScalarOp::neg, {1, -1, -1}, DType::f32)}) == later);
    CHECK(with({read(0, DType::f32), step(ScalarOp::neg, {-1, -1, -1}, DType::f32)}) == later);
    CHECK(with({read(0, DType::f32), step(ScalarOp::add, {0, 1, -1}, DType::f32)}) == later);
    CHECK(with({read(0, DType::f32), step(ScalarOp::add, {0, -1, -1}, DType::f32)}) == later);
    CHECK(with({read(0, DType::f32), step(ScalarOp::is_finite, {0, -1, -1}, DType::boolean),
                step(ScalarOp::select, {1, 0, 2}, DType::f32)}) == later);
}

TEST_CASE("check of a pointwise kernel: every instruction is defined on its types") {
    using enum ScalarOp;
    // The op over operands of these types.
    const auto with = [](ScalarOp op, std::vector<DType> operands, DType result) {
        Pointwise kernel;
        Types inputs;
        ScalarStep last = step(op, {-1, -1, -1}, result);
        for (size_t i = 0; i < operands.size(); ++i) {
            kernel.input_dims.push_back({0});
            kernel.steps.push_back(read(static_cast<int>(i), operands[i]));
            inputs.push_back(of(operands[i], {4}));
            last.args[i] = static_cast<int>(i);
        }
        kernel.steps.push_back(last);
        return problem_of(kernel, inputs, of(result, {4}));
    };
    const auto bad = [](ScalarOp op) {
        return "pointwise: " + std::string(name(op)) + " is not defined on these types";
    };
    constexpr DType f = DType::f32, i = DType::i32, u = DType::u32, b = DType::boolean;

    CHECK(with(cast, {f}, i) == "");
    for (const ScalarOp op : {neg, abs, sign, floor, ceil, round}) {
        CHECK(with(op, {f}, f) == "");
        CHECK(with(op, {i}, i) == "");
        CHECK(with(op, {f}, i) == bad(op));
    }
    for (const ScalarOp op : {exp, expm1, log, log1p, sqrt, rsqrt, sin, cos, tanh, logistic, erf}) {
        CHECK(with(op, {f}, f) == "");
        CHECK(with(op, {i}, i) == bad(op));
        CHECK(with(op, {f}, DType::f64) == bad(op));
    }
    for (const ScalarOp op : {add, sub, mul, div, rem, pow, max, min}) {
        CHECK(with(op, {i, i}, i) == "");
        CHECK(with(op, {f, i}, f) == bad(op));
        CHECK(with(op, {i, f}, i) == bad(op));
        CHECK(with(op, {f, f}, i) == bad(op));
    }
    CHECK(with(atan2, {f, f}, f) == "");
    CHECK(with(atan2, {i, i}, i) == bad(atan2));
    CHECK(with(atan2, {f, f}, DType::f64) == bad(atan2));
    for (const ScalarOp op : {eq, ne, lt, le, gt, ge, logical_and, logical_or}) {
        const DType type = op == logical_and || op == logical_or ? b : f;
        CHECK(with(op, {type, type}, b) == "");
        CHECK(with(op, {f, i}, b) == bad(op));
        CHECK(with(op, {i, i}, i) == bad(op));
    }
    CHECK(with(is_finite, {f}, b) == "");
    CHECK(with(is_finite, {f}, f) == bad(is_finite));
    CHECK(with(logical_not, {b}, b) == "");
    CHECK(with(logical_not, {i}, i) == bad(logical_not));
    CHECK(with(select, {b, f, f}, f) == "");
    CHECK(with(select, {f, f, f}, f) == bad(select));
    CHECK(with(select, {b, i, f}, f) == bad(select));
    CHECK(with(select, {b, f, i}, f) == bad(select));
    for (const ScalarOp op : {fold_in_0, fold_in_1}) {
        CHECK(with(op, {u, u, u}, u) == "");
        CHECK(with(op, {i, u, u}, u) == bad(op));
        CHECK(with(op, {u, i, u}, u) == bad(op));
        CHECK(with(op, {u, u, i}, u) == bad(op));
        CHECK(with(op, {u, u, u}, i) == bad(op));
    }
}

TEST_CASE("check of a reduce: sorted dims of the operand, and what is left of it") {
    const auto with = [](std::vector<int> dims, const Types& inputs, const TensorType& output) {
        return problem_of(Reduce{std::move(dims), ReduceOp::sum}, inputs, output);
    };
    CHECK(with({0, 2}, {f32({2, 3, 4})}, f32({3})) == "");
    CHECK(with({}, {f32({2})}, f32({2})) == "");
    CHECK(with({0}, {}, f32({3})) == "reduce: one operand of the result's type");
    CHECK(with({0}, {f32({2, 3}), f32({2, 3})}, f32({3})) == "reduce: one operand of the result's type");
    CHECK(with({0}, {f32({2, 3})}, i32({3})) == "reduce: one operand of the result's type");
    for (const std::vector<int>& dims : {std::vector<int>{2, 0}, {0, 0}, {-1}, {3}})
        CHECK(with(dims, {f32({2, 3, 4})}, f32({3})) == "reduce: dims are not sorted dims of the operand");
    CHECK(with({0}, {f32({2, 3})}, f32({2})) == "reduce: the result's shape is not what is left");
    CHECK(with({0}, {f32({2, 3})}, f32({3, 1})) == "reduce: the result's shape is not what is left");
}

TEST_CASE("check of a reduce of what a program makes: the program, and an operand with the dims that are reduced") {
    const auto with = [](Shape shape, std::vector<std::vector<int>> dims, const Types& inputs, const TensorType& output,
                         DType made = DType::f32) {
        Pointwise program = pointwise(ScalarOp::add, 2, 0, made, made);
        program.input_dims = std::move(dims);
        return problem_of(Reduce{{1}, ReduceOp::sum, Reduce::Made{std::move(shape), program}}, inputs, output);
    };
    const Types two = {f32({3, 4}), f32({3})};
    CHECK(with({3, 4}, {{0, 1}, {0}}, two, f32({3})) == "");
    CHECK(with({3, 4}, {{1}, {0}}, {f32({4}), f32({3})}, f32({3})) == "");
    CHECK(with({3, 4}, {{0, 1}, {1}}, two, f32({3})) == "reduce: pointwise: dim 0 of input 1 does not fit the result");
    CHECK(with({3, 4}, {{0, 1}, {0}}, {f32({3, 4})}, f32({3})) == "reduce: pointwise: one list of dims per input");
    CHECK(with({3, 4}, {{0, 1}, {0}}, {i32({3, 4}), i32({3})}, f32({3}), DType::i32) ==
          "reduce: pointwise: the last step is not of the result's type");
    const std::string none = "reduce: dims that no operand has";
    CHECK(with({3, 4}, {{0, 1}, {0}}, {f32({3, 1}), f32({3})}, f32({3})) == none);
    CHECK(with({3, i64{1} << 40}, {{0, 1}, {0}}, {f32({3, 1}), f32({3})}, f32({3})) == none);
    CHECK(with({1, 4}, {{0, 1}, {0}}, {f32({1, 4}), f32({1})}, f32({3})) ==
          "reduce: the result's shape is not what is left");
    CHECK(with({4}, {{0}, {0}}, {f32({4}), f32({4})}, f32({})) == none);
}

TEST_CASE("check of a move: operands, permutation and pieces") {
    const Move whole = [] {
        Move move;
        move.pieces.push_back({0, {constant(0), constant(0)}, {1, 1}, {constant(0), constant(0)}, {1, 1}, {3, 4}});
        return move;
    }();
    const Types one = {f32({3, 4})};
    CHECK(problem_of(whole, one, f32({3, 4})) == "");
    CHECK(problem_of(whole, {i32({3, 4})}, f32({3, 4})) == "move: element types differ");
    CHECK(problem_of(whole, {f32({3, 4}), i32({3, 4})}, f32({3, 4})) == "move: element types differ");

    Move flat;
    flat.flat = true;
    CHECK(problem_of(flat, one, f32({2, 6})) == "");
    CHECK(problem_of(flat, one, f32({2, 5})) == "move: a reshape keeps the elements");
    CHECK(problem_of(flat, {}, f32({2, 6})) == "move: a reshape keeps the elements");
    CHECK(problem_of(flat, {f32({3, 4}), f32({3, 4})}, f32({2, 6})) == "move: a reshape keeps the elements");

    const auto permuted = [&](std::vector<int> permutation) {
        Move move = whole;
        move.permutation = std::move(permutation);
        return problem_of(move, {f32({4, 4})}, f32({4, 4}));
    };
    CHECK(permuted({1, 0}) == "");
    for (const std::vector<int>& wrong : {std::vector<int>{0}, {0, 1, 2}, {0, 0}, {1, 1}, {1, 2}, {-1, 0}})
        CHECK(permuted(wrong) == "move: not a permutation of the dims");

    const auto with = [&](const std::function<void(MovePiece&)>& change) {
        Move move = whole;
        change(move.pieces[0]);
        return problem_of(move, one, f32({3, 4}));
    };
    CHECK(with([](MovePiece& p) { p.operand = -1; }) == "move: a piece of an operand that is not there");
    CHECK(with([](MovePiece& p) { p.operand = 1; }) == "move: a piece of an operand that is not there");
    CHECK(with([](MovePiece& p) { p.in_start.pop_back(); }) == "move: a piece of another rank");
    CHECK(with([](MovePiece& p) { p.in_stride.pop_back(); }) == "move: a piece of another rank");
    CHECK(with([](MovePiece& p) { p.out_start.push_back({}); }) == "move: a piece of another rank");
    CHECK(with([](MovePiece& p) { p.out_stride.push_back(1); }) == "move: a piece of another rank");
    CHECK(with([](MovePiece& p) { p.extent.pop_back(); }) == "move: a piece of another rank");
    CHECK(problem_of(whole, {f32({3, 4, 1})}, f32({3, 4})) == "move: a piece of another rank");
    CHECK(with([](MovePiece& p) { p.in_start[1] = far(); }) == "move: a start outside what can be computed");
    CHECK(with([](MovePiece& p) { p.out_start[0] = far(); }) == "move: a start outside what can be computed");

    const std::string reaches = "move: a piece that reaches outside what can be computed";
    constexpr i64 limit = i64{1} << 60;
    CHECK(with([](MovePiece& p) { p.extent[1] = -1; }) == reaches);
    CHECK(with([](MovePiece& p) { p.extent[1] = 0; }) == "");
    CHECK(with([](MovePiece& p) { p.in_stride[0] = 0; }) == reaches);
    CHECK(with([](MovePiece& p) { p.out_stride[1] = 0; }) == reaches);
    for (const i64 sign : {1, -1}) {
        CHECK(with([=](MovePiece& p) { p.in_stride[1] = sign * limit / 4; }) == reaches); // times 4 elements
        CHECK(with([=](MovePiece& p) { p.in_stride[1] = sign * (limit / 4 - 1); }) == "");
        CHECK(with([=](MovePiece& p) { p.out_stride[1] = sign * limit / 4; }) == reaches);
        CHECK(with([=](MovePiece& p) { p.out_stride[1] = sign * limit; }) == reaches);           // 2^62
        CHECK(with([=](MovePiece& p) { p.out_stride[1] = sign * 8 * (limit / 2); }) == reaches); // leaves 64 bits
    }
    // The operand's strides are in its own order: dim 1 of the result runs along dim 0 of the operand.
    Move turned = whole;
    turned.permutation = {1, 0};
    turned.pieces[0].extent = {1, 1000};
    turned.pieces[0].in_stride = {limit / 1000, limit / 1000 + 1};
    CHECK(problem_of(turned, {f32({4, 4})}, f32({4, 4})) == "");
    std::swap(turned.pieces[0].in_stride[0], turned.pieces[0].in_stride[1]);
    CHECK(problem_of(turned, {f32({4, 4})}, f32({4, 4})) == reaches);
}

TEST_CASE("check of a generate: a block inside the whole, and one value per element") {
    const auto with = [](const Generate& generate, const TensorType& output, const Types& inputs = {}) {
        return problem_of(generate, inputs, output);
    };
    const TensorType block = f32({2, 3});
    CHECK(with({Fill{1}, {4, 6}, {}}, block) == "");
    CHECK(with({Fill{1}, {2, 3}, {}}, block, {f32({2, 3})}) == "generate takes no operands");
    CHECK(with({Fill{1}, {4}, {}}, block) == "generate: a whole shape that does not fit");
    CHECK(with({Fill{1}, {4, 0}, {}}, block) == "generate: a whole shape that does not fit");
    CHECK(with({Fill{1}, {i64{1} << 40, i64{1} << 40}, {}}, block) == "generate: a whole shape that does not fit");
    CHECK(with({Fill{1}, {4, 6}, {constant(0)}}, block) == "generate: one start per dim");
    CHECK(with({Fill{1}, {4, 6}, {constant(2), constant(3)}}, block) == "");
    for (const Affine& start : {constant(3), constant(-1), far()})
        CHECK(with({Fill{1}, {4, 6}, {start, constant(0)}}, block) == "generate: a block outside the whole");
    CHECK(with({Fill{1}, {4, 6}, {constant(0), constant(4)}}, block) == "generate: a block outside the whole");
    CHECK(with({Fill{1}, {1, 6}, {}}, block) == "generate: a block larger than the whole");
    CHECK(with({Fill{1}, {4, 2}, {}}, block) == "generate: a block larger than the whole");
    CHECK(with({Literal{{1, 2, 3, 4, 5, 6}}, {2, 3}, {}}, block) == "");
    CHECK(with({Literal{{1, 2, 3, 4, 5}}, {2, 3}, {}}, block) == "generate: one value per element");
    CHECK(with({Literal{{1, 2, 3, 4, 5, 6, 7}}, {2, 3}, {}}, block) == "generate: one value per element");
    CHECK(with({Iota{0}, {4, 6}, {}}, block) == "");
    CHECK(with({Iota{1}, {4, 6}, {}}, block) == "");
    CHECK(with({Iota{-1}, {4, 6}, {}}, block) == "generate: iota along a dim that is not there");
    CHECK(with({Iota{2}, {4, 6}, {}}, block) == "generate: iota along a dim that is not there");
}

TEST_CASE("check of random values: parameters, keys of stacks, folds and blocks") {
    const auto with = [](const std::function<void(Random&)>& change, DType dtype = DType::f32) {
        Random random;
        random.distribution.kind = DistributionKind::normal;
        change(random);
        return problem_of(Generate{random, {4, 6}, {}}, {}, of(dtype, {2, 3}));
    };
    CHECK(with([](Random&) {}) == "");
    for (double Distribution::*field : {&Distribution::value, &Distribution::low, &Distribution::high,
                                        &Distribution::probability, &Distribution::scale, &Distribution::offset})
        CHECK(with([&](Random& r) { r.distribution.*field = std::numeric_limits<double>::infinity(); }) ==
              "random: a parameter that is not a finite number");
    for (const DistributionKind kind :
         {DistributionKind::uniform, DistributionKind::normal, DistributionKind::truncated_normal})
        CHECK(with([&](Random& r) { r.distribution.kind = kind; }, DType::i32) ==
              "random: a continuous distribution of integers");
    for (const DistributionKind kind :
         {DistributionKind::constant, DistributionKind::bernoulli, DistributionKind::randint, DistributionKind::bits})
        CHECK(with([&](Random& r) { r.distribution.kind = kind; }, DType::i32) == "");
    CHECK(with([](Random& r) { r.words = {constant(3), constant(4)}; }) == "");
    const std::string other_words = "random: a key that is computed has two words, of rbg four, and no layers";
    CHECK(with([](Random& r) { r.words = {constant(3)}; }) == other_words);
    const auto with_rbg = [&](auto change) {
        return with([&](Random& r) {
            r.layout = BitLayout::rbg;
            r.words = {constant(1), constant(2), constant(3), constant(4)};
            change(r);
        });
    };
    CHECK(with_rbg([](Random&) {}) == "");
    CHECK(with_rbg([](Random& r) { r.words.pop_back(); }) == other_words);
    CHECK(with_rbg([](Random& r) { r.layers = std::vector<Key>(4); }) == other_words);
    CHECK(with_rbg([](Random& r) { r.layout = BitLayout::legacy; }) == other_words);
    const std::string of_rbg = "random: a key of rbg is computed, and nothing is folded into it or made of it";
    CHECK(with_rbg([](Random& r) { r.words = {}; }) == of_rbg);
    CHECK(with_rbg([](Random& r) { r.folds = {constant(3)}; }) == of_rbg);
    CHECK(with_rbg([](Random& r) { r.blocks = {2, 3}; }) == of_rbg);
    CHECK(with_rbg([](Random& r) { r.multiplier = 3; }) == of_rbg);
    CHECK(with_rbg([](Random& r) { r.distribution.kind = DistributionKind::randint; }) == of_rbg);
    CHECK(with([](Random& r) {
              r.words = {constant(3), constant(4)};
              r.layers = std::vector<Key>(4);
          }) == other_words);
    CHECK(with([](Random& r) { r.words = {constant(3), far()}; }) == "random: a key outside what can be computed");
    CHECK(with([](Random& r) { r.folds = {constant(3)}; }) == "");
    CHECK(with([](Random& r) { r.folds = {constant(3), far()}; }) == "random: a fold outside what can be computed");
    CHECK(with([](Random& r) { r.blocks = {2, 3}; }) == "");
    CHECK(with([](Random& r) { r.blocks = {1, 3}; }) == "");
    CHECK(with([](Random& r) { r.blocks = {2}; }) == "random: one number of blocks per dim");
    CHECK(with([](Random& r) { r.blocks = {2, 4}; }) == "random: blocks that do not divide the whole");
    CHECK(with([](Random& r) { r.blocks = {0, 3}; }) == "random: blocks that do not divide the whole");
    CHECK(with([](Random& r) { r.layers.resize(4); }) == "");
    CHECK(with([](Random& r) { r.layers.resize(24); }) == "");
    CHECK(with([](Random& r) { r.layers.resize(6); }) == "random: one key per entry of the first dims");
}

TEST_CASE("in place runs only what reads an element before it writes it, and never again") {
    const Pointwise same{{{0, 1}}, {}};
    CHECK(can_run_in_place(same, 0, f32({3, 4}), f32({3, 4})));
    CHECK(can_run_in_place(same, 0, i32({3, 4}), f32({3, 4})));
    CHECK_FALSE(can_run_in_place(same, 0, of(DType::bf16, {3, 4}), f32({3, 4})));
    CHECK_FALSE(can_run_in_place(same, 0, f32({1, 4}), f32({3, 4}))); // broadcast
    CHECK_FALSE(can_run_in_place(Pointwise{{{1, 0}}, {}}, 0, f32({4, 4}), f32({4, 4})));
    CHECK(can_run_in_place(Pointwise{{{1}}, {}}, 0, f32({4}), f32({1, 4}))); // the dim that it lacks has size 1
    CHECK_FALSE(can_run_in_place(Pointwise{{{1}}, {}}, 0, f32({4}), f32({3, 4})));
    CHECK_FALSE(can_run_in_place(Pointwise{{{0}}, {}}, 0, f32({3}), f32({3, 4})));
    CHECK(can_run_in_place(Pointwise{{{0, 1}, {1, 0}}, {}}, 0, f32({4, 4}), f32({4, 4})));
    CHECK_FALSE(can_run_in_place(Pointwise{{{0, 1}, {1, 0}}, {}}, 1, f32({4, 4}), f32({4, 4})));
    CHECK_FALSE(can_run_in_place(Reduce{{}, ReduceOp::sum}, 0, f32({3, 4}), f32({3, 4})));
    CHECK_FALSE(can_run_in_place(Contract{{0, 1}, {1, 2}, {0, 2}}, 0, f32({4, 4}), f32({4, 4})));

    // The operand stays as it is, and a slice is written over it.
    const std::vector<Affine> zero = {constant(0), constant(0)};
    Move update;
    update.pieces = {{0, zero, {1, 1}, zero, {1, 1}, {3, 4}},
                     {1, zero, {1, 1}, {constant(1), constant(0)}, {1, 1}, {1, 4}}};
    const auto stays = [&](const std::function<void(Move&)>& change, Shape input = {3, 4}) {
        Move move = update;
        change(move);
        return can_run_in_place(move, 0, f32(std::move(input)), f32({3, 4}));
    };
    CHECK(stays([](Move&) {}));
    CHECK_FALSE(can_run_in_place(update, 1, f32({3, 4}), f32({3, 4})));
    CHECK_FALSE(stays([](Move& m) { m.flat = true; }));
    CHECK_FALSE(stays([](Move& m) { m.permutation = {0, 1}; }));
    CHECK_FALSE(stays([](Move& m) { m.covers = false; }));
    CHECK_FALSE(stays([](Move&) {}, {4, 4}));
    CHECK_FALSE(stays([](Move& m) { m.pieces[0].in_start[1] = constant(1); }));
    CHECK_FALSE(stays([](Move& m) { m.pieces[0].out_start[0] = constant(1); }));
    CHECK_FALSE(stays([](Move& m) { m.pieces[0].out_start[0] = block_start(4, std::vector<AxisRef>{{0, 1, 2}}); }));
    CHECK_FALSE(stays([](Move& m) { m.pieces[0].in_stride[0] = -1; }));
    CHECK_FALSE(stays([](Move& m) { m.pieces[0].out_stride[0] = 2; }));
    CHECK_FALSE(stays([](Move& m) { m.pieces[0].extent[0] = 2; }));
    CHECK_FALSE(stays([](Move& m) { std::swap(m.pieces[0], m.pieces[1]); })); // whole, but not first
    CHECK_FALSE(stays([](Move& m) { m.pieces[1].operand = 0; }));
    CHECK(stays([](Move& m) { m.pieces[0].operand = 1; })); // of which nothing is read at all
}

TEST_CASE("scalars that a kernel reads are those of its affine expressions") {
    Move move;
    move.pieces.push_back({0, {Affine{0, {{AffineTerm::Kind::scalar, {}, 7, 1}}}}, {1}, {constant(0)}, {1}, {4}});
    CHECK(scalars_read(move) == std::vector<int>{7});
    CHECK(scalars_read(
              Gather{0, 4, Affine{0, {{AffineTerm::Kind::loop, {}, 3, 1}, {AffineTerm::Kind::scalar, {}, 5, 1}}}}) ==
          std::vector<int>{5});
    CHECK(scalars_read(Contract{}).empty());
}
