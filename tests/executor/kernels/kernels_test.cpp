// Every kernel class against loops written from the definition in plans/kernel/kernel.h.
#include "executor/elements/element.h"
#include "executor/formats/tensor.h"
#include "plans/base/index_of.h"
#include "plans/kernel/gemm_layout.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace shard {
namespace {

std::mt19937& engine() {
    static std::mt19937 random(11);
    return random;
}
i64 pick(i64 low, i64 high) { return std::uniform_int_distribution<i64>(low, high)(engine()); }

Tensor random_integers(DType dtype, Shape shape, i64 low = -2, i64 high = 2) {
    if (dtype == DType::u32) low = std::max<i64>(low, 0);
    if (dtype == DType::boolean) {
        low = 0;
        high = 1;
    }
    return make_tensor(dtype, std::move(shape), [&](i64) { return static_cast<double>(pick(low, high)); });
}

// f(index) for every index of a shape, row-major.
void for_each(const Shape& shape, const std::function<void(const std::vector<i64>&)>& f) {
    std::vector<i64> index(shape.size(), 0);
    for (i64 flat = 0; flat < element_count(shape); ++flat) {
        f(index);
        for (size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < shape[d]) break;
            index[d] = 0;
        }
    }
}

size_t flat(const Shape& shape, const std::vector<i64>& index) {
    i64 result = 0;
    for (size_t d = 0; d < shape.size(); ++d) result = result * shape[d] + index[d];
    return static_cast<size_t>(result);
}

std::vector<double> naive_contract(const Contract& kernel, const Tensor& lhs, const Tensor& rhs,
                                   const Shape& out_shape) {
    std::map<int, i64> sizes;
    for (size_t d = 0; d < kernel.lhs.size(); ++d) sizes[kernel.lhs[d]] = lhs.type.shape[d];
    for (size_t d = 0; d < kernel.rhs.size(); ++d) sizes[kernel.rhs[d]] = rhs.type.shape[d];
    Shape all;
    std::map<int, size_t> place;
    for (auto [label, size] : sizes) {
        place[label] = all.size();
        all.push_back(size);
    }
    const std::vector<double> a = values(lhs), b = values(rhs);
    std::vector<double> out(static_cast<size_t>(element_count(out_shape)), 0);
    for_each(all, [&](const std::vector<i64>& index) {
        const auto at = [&](const std::vector<int>& labels) {
            std::vector<i64> result;
            for (int label : labels) result.push_back(index[place[label]]);
            return result;
        };
        out[flat(out_shape, at(kernel.out))] +=
            a[flat(lhs.type.shape, at(kernel.lhs))] * b[flat(rhs.type.shape, at(kernel.rhs))];
    });
    return out;
}

} // namespace

TEST_CASE("contract computes any contraction, packing what does not merge") {
    const DType types[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::u32};
    int packed = 0, direct = 0;
    for (int round = 0; round < 150; ++round) {
        // Each label is a batch, m, n or k; every tensor has its labels in a random order.
        Contract kernel;
        std::map<int, i64> sizes;
        const i64 labels = pick(0, 6);
        for (int label = 0; label < labels; ++label) {
            const i64 role = pick(0, 3);
            sizes[label] = pick(1, 5);
            if (role != 2) kernel.lhs.push_back(label);
            if (role != 1) kernel.rhs.push_back(label);
            if (role != 3) kernel.out.push_back(label);
        }
        const auto shaped = [&](std::vector<int>& list) {
            std::shuffle(list.begin(), list.end(), engine());
            Shape shape;
            for (int label : list) shape.push_back(sizes[label]);
            return shape;
        };
        const Shape lhs_shape = shaped(kernel.lhs), rhs_shape = shaped(kernel.rhs), out_shape = shaped(kernel.out);
        const DType dtype = types[round % 6];
        const Tensor lhs = random_integers(dtype, lhs_shape), rhs = random_integers(dtype, rhs_shape);
        CAPTURE(round);
        CHECK(run_alone(kernel, {lhs, rhs}, dtype, out_shape) == ([&] {
                  std::vector<double> expected = naive_contract(kernel, lhs, rhs, out_shape);
                  if (dtype == DType::bf16) // rounded once, at the end
                      for (double& value : expected) value = static_cast<float>(Bf16(static_cast<float>(value)));
                  return expected;
              }()));
        (gemm_layout(kernel, lhs.type, rhs.type, {dtype, out_shape, {}}).scratch_bytes > 0 ? packed : direct)++;
    }
    CHECK(packed > 30);
    CHECK(direct > 30);
}

TEST_CASE("large operands of another type are packed in blocks, whose sum is the same") {
    constexpr i64 depth = i64{1} << 17;
    // Rows or columns of more blocks than one, the last of them smaller; of several dims; and a batch. Label 9 is summed.
    struct Case {
        Contract kernel;
        Shape lhs, rhs, out;
    };
    const std::vector<Case> cases = {
        {{{0, 9}, {9, 2}, {0, 2}}, {150, depth}, {depth, 2}, {150, 2}},
        {{{0, 9}, {9, 2}, {0, 2}}, {2, depth}, {depth, 150}, {2, 150}},
        {{{0, 1, 9}, {9, 3}, {1, 3, 0}}, {3, 70, depth}, {depth, 2}, {70, 2, 3}},
        {{{0, 9}, {2, 3, 9}, {2, 0, 3}}, {2, depth}, {3, 70, depth}, {3, 2, 70}},
        {{{3, 0, 9}, {3, 9, 2}, {3, 0, 2}}, {2, 130, depth}, {2, depth, 1}, {2, 130, 1}},
    };
    for (const Case& of : cases) {
        CAPTURE(of.lhs);
        CAPTURE(of.rhs);
        const Tensor lhs = random_integers(DType::bf16, of.lhs), rhs = random_integers(DType::bf16, of.rhs);
        const GemmLayout layout = gemm_layout(of.kernel, lhs.type, rhs.type, {DType::f32, of.out, {}});
        CHECK(std::max(layout.row_cut.blocks, layout.col_cut.blocks) > 1);
        CHECK(layout.scratch_bytes < (layout.m + layout.n) * layout.k * 4);
        const std::vector<double> a = values(lhs), b = values(rhs);
        std::vector<double> expected;
        for_each(of.out, [&](const std::vector<i64>& index) {
            const auto begin = [&](const std::vector<int>& labels, const Shape& shape) {
                std::vector<i64> at;
                for (const int label : labels) at.push_back(label == 9 ? 0 : index[index_of(of.kernel.out, label)]);
                return flat(shape, at);
            };
            const i64 a_step = row_major_strides(of.lhs)[index_of(of.kernel.lhs, 9)],
                      b_step = row_major_strides(of.rhs)[index_of(of.kernel.rhs, 9)];
            double sum = 0;
            size_t i = begin(of.kernel.lhs, of.lhs), j = begin(of.kernel.rhs, of.rhs);
            for (i64 k = 0; k < depth; ++k, i += static_cast<size_t>(a_step), j += static_cast<size_t>(b_step))
                sum += a[i] * b[j];
            expected.push_back(sum);
        });
        CHECK(run_alone(of.kernel, {lhs, rhs}, DType::f32, of.out) == expected);
    }
}

TEST_CASE("attention's contractions need no packing") {
    const TensorType q = {DType::f32, {2, 8, 3, 4}, {}}, k = {DType::f32, {2, 6, 3, 4}, {}};
    const GemmLayout scores =
        gemm_layout({{0, 1, 2, 3}, {0, 4, 2, 3}, {0, 2, 1, 4}}, q, k, {DType::f32, {2, 3, 8, 6}, {}});
    CHECK(scores.scratch_bytes == 0);
    CHECK(scores.batch == std::vector<i64>{2, 3});
    CHECK(scores.rhs.transposed);
    CHECK(scores.lhs.ld == 12);
    const GemmLayout back =
        gemm_layout({{0, 2, 1, 4}, {0, 4, 2, 3}, {0, 1, 2, 3}}, {DType::f32, {2, 3, 8, 6}, {}}, k, q);
    CHECK(back.scratch_bytes == 0);
    CHECK(back.out.ld == 12);
}

TEST_CASE("reduce over any dims, with lengths around the blocks") {
    const DType types[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::u32};
    for (int round = 0; round < 80; ++round) {
        const Shape shape = {pick(1, 5), pick(1, 70), pick(1, 3), round % 4 == 0 ? pick(250, 270) : pick(1, 40)};
        Reduce kernel;
        kernel.op = static_cast<ReduceOp>(pick(0, 3));
        Shape out_shape;
        for (int d = 0; d < 4; ++d) {
            if (pick(0, 1) == 0)
                kernel.dims.push_back(d);
            else
                out_shape.push_back(shape[d]);
        }
        DType dtype = types[round % 6];
        const bool product = kernel.op == ReduceOp::prod;
        if (product) dtype = DType::f64;
        const Tensor input = product ? random_integers(dtype, shape, -1, 1) : random_integers(dtype, shape, -2, 2);
        const std::vector<double> in = values(input);
        std::vector<double> expected(static_cast<size_t>(element_count(out_shape)));
        std::vector<bool> seen(expected.size(), false);
        for_each(shape, [&](const std::vector<i64>& index) {
            std::vector<i64> kept;
            for (int d = 0; d < 4; ++d)
                if (std::find(kernel.dims.begin(), kernel.dims.end(), d) == kernel.dims.end()) kept.push_back(index[d]);
            const size_t at = flat(out_shape, kept);
            const double value = in[flat(shape, index)];
            double& sum = expected[at];
            if (!seen[at])
                sum = value;
            else if (kernel.op == ReduceOp::sum)
                sum += value;
            else if (kernel.op == ReduceOp::prod)
                sum *= value;
            else if (kernel.op == ReduceOp::max)
                sum = std::max(sum, value);
            else
                sum = std::min(sum, value);
            seen[at] = true;
        });
        if (dtype == DType::bf16)
            for (double& value : expected) value = static_cast<float>(Bf16(static_cast<float>(value)));
        CAPTURE(round);
        CHECK(run_alone(kernel, {input}, dtype, out_shape) == expected);
    }
}

TEST_CASE("max and min propagate NaN") {
    const Tensor input = make_tensor(DType::f32, {3, 40}, [](i64 i) { return i == 57 ? NAN : static_cast<double>(i); });
    for (ReduceOp op : {ReduceOp::max, ReduceOp::min}) {
        const std::vector<double> rows = run_alone(Reduce{{1}, op}, {input}, DType::f32, {3});
        CHECK(std::isnan(rows[1]));
        CHECK(rows[0] == (op == ReduceOp::max ? 39 : 0));
        CHECK(std::isnan(run_alone(Reduce{{0}, op}, {input}, DType::f32, {40})[17]));
    }
}

// Rows that fit into a block, that fill several, and that end within one; sums of one run, of columns and of both.
TEST_CASE("a reduce of what a program makes is, bit for bit, that of what the program stores") {
    const std::vector<Shape> shapes = {{3, 2500},     {2500, 3},    {7, 150},   {150, 7},
                                       {40, 4, 1100}, {3, 1500, 2}, {5, 1, 33}, {2, 30, 3, 40}};
    for (const Shape& shape : shapes)
        for (const DType dtype : {DType::f32, DType::bf16, DType::i8})
            for (int chosen = 1; chosen < 1 << shape.size(); ++chosen) {
                const int rank = static_cast<int>(shape.size());
                Reduce apart{{}, static_cast<ReduceOp>(pick(0, 3))};
                Shape left;
                for (int d = 0; d < rank; ++d) {
                    if ((chosen >> d & 1) != 0)
                        apart.dims.push_back(d);
                    else
                        left.push_back(shape[d]);
                }
                const auto fractions = [&](Shape of) {
                    return make_tensor(dtype, std::move(of),
                                       [](i64) { return static_cast<double>(pick(-99, 99)) / 64; });
                };
                const std::vector<Tensor> inputs = {fractions(shape), fractions({shape.back()})};
                Pointwise program = pointwise(ScalarOp::mul, 2, rank, dtype, dtype);
                program.input_dims[1] = {rank - 1};
                ScalarStep place;
                place.op = ScalarOp::index;
                place.args[0] = 0;
                place.dtype = dtype;
                program.steps.push_back(place);
                program.steps.push_back({ScalarOp::add, {2, 3}, dtype, 0, {}});
                Reduce together = apart;
                together.made = {shape, program};
                const Tensor stored =
                    make_tensor(dtype, shape, [made = run_alone(program, inputs, dtype, shape)](i64 i) {
                        return made[static_cast<size_t>(i)];
                    });
                CAPTURE(shape);
                CAPTURE(apart.dims);
                CHECK(run_alone(together, inputs, dtype, left) == run_alone(apart, {stored}, dtype, left));
            }
}

TEST_CASE("move copies boxes with strides, permutations and affine starts, and skips what lies outside") {
    for (int round = 0; round < 200; ++round) {
        const Shape in = {pick(1, 6), pick(1, 7), pick(1, 40)};
        Move kernel;
        if (round % 3 != 0) {
            kernel.permutation = {0, 1, 2};
            std::shuffle(kernel.permutation.begin(), kernel.permutation.end(), engine());
        }
        const Shape out = {pick(1, 40), pick(1, 7), pick(1, 6)};
        kernel.covers = false;
        kernel.fill = -7;
        const std::vector<Tensor> inputs = {random_integers(DType::i32, in, 0, 1000),
                                            random_integers(DType::i32, in, 0, 1000)};
        std::vector<double> expected(static_cast<size_t>(element_count(out)), -7);
        for (i64 p = 0; p < pick(1, 2); ++p) {
            MovePiece piece;
            piece.operand = static_cast<int>(p % 2);
            for (int d = 0; d < 3; ++d) {
                piece.in_start.push_back(constant(pick(-3, 8)));
                piece.in_stride.push_back(pick(-2, 2));
                piece.out_start.push_back(constant(pick(-3, 3)));
                piece.out_stride.push_back(pick(1, 2));
                piece.extent.push_back(pick(0, 12));
            }
            const std::vector<double> from = values(inputs[piece.operand]);
            for_each(piece.extent, [&](const std::vector<i64>& t) {
                std::vector<i64> to(3), at(3);
                bool inside = true;
                for (size_t d = 0; d < 3; ++d) {
                    const size_t q = kernel.permutation.empty() ? d : static_cast<size_t>(kernel.permutation[d]);
                    to[d] = piece.out_start[d].constant + piece.out_stride[d] * t[d];
                    at[q] = piece.in_start[q].constant + piece.in_stride[q] * t[d];
                    inside = inside && to[d] >= 0 && to[d] < out[d] && at[q] >= 0 && at[q] < in[q];
                }
                if (inside) expected[flat(out, to)] = from[flat(in, at)];
            });
            kernel.pieces.push_back(piece);
        }
        CAPTURE(round);
        CHECK(run_alone(kernel, inputs, DType::i32, out) == expected);
    }
}

TEST_CASE("transposes of every element size are right beyond one tile") {
    for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::boolean}) {
        const Tensor input = random_integers(dtype, {3, 37, 50}, 0, 100);
        Move kernel;
        kernel.permutation = {2, 0, 1};
        kernel.pieces = {{0,
                          {constant(0), constant(0), constant(0)},
                          {1, 1, 1},
                          {constant(0), constant(0), constant(0)},
                          {1, 1, 1},
                          {50, 3, 37}}};
        const std::vector<double> from = values(input), to = run_alone(kernel, {input}, dtype, {50, 3, 37});
        for_each({50, 3, 37}, [&](const std::vector<i64>& i) {
            REQUIRE(to[flat({50, 3, 37}, i)] == from[flat({3, 37, 50}, {i[1], i[2], i[0]})]);
        });
    }
}

TEST_CASE("gather clamps indices and gives zeros for rows that another shard holds") {
    const Tensor table = make_tensor(DType::f32, {2, 3, 2}, [](i64 i) { return static_cast<double>(i + 1); });
    const Tensor indices = make_tensor(DType::i32, {4}, [](i64 i) { return std::vector<double>{-5, 3, 4, 99}[i]; });
    Gather kernel;
    kernel.axis = 1;
    kernel.size = 6; // global; this shard holds rows 3 to 5
    kernel.start = constant(3);
    CHECK(run_alone(kernel, {table, indices}, DType::f32, {2, 4, 2}) ==
          std::vector<double>{0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12});
}

TEST_CASE("scatter adds up rows in order, clamps indices and leaves out rows that another shard holds") {
    const Tensor indices = make_tensor(DType::i32, {4}, [](i64 i) { return std::vector<double>{-5, 3, 99, 3}[i]; });
    const Tensor updates = make_tensor(DType::f32, {2, 4, 2}, [](i64 i) { return static_cast<double>(i + 1); });
    Scatter kernel;
    kernel.axis = 1;
    kernel.size = 6; // global; this shard holds rows 3 to 5
    kernel.start = constant(3);
    CHECK(run_alone(kernel, {indices, updates}, DType::f32, {2, 3, 2}) ==
          std::vector<double>{3 + 7, 4 + 8, 0, 0, 5, 6, 11 + 15, 12 + 16, 0, 0, 13, 14});
    // 256 + 1 is no bf16, 256 + 1 + 1 is one: the sums are f32's.
    const Tensor zeros = make_tensor(DType::i32, {3}, [](i64) { return 0.0; });
    const Tensor terms = make_tensor(DType::bf16, {3}, [](i64 i) { return i == 0 ? 256.0 : 1.0; });
    CHECK(run_alone(Scatter{0, 2, constant(0)}, {zeros, terms}, DType::bf16, {2}) == std::vector<double>{258, 0});
}

TEST_CASE("generate makes boxes of fills, literals, iotas and random values") {
    const Generate fill = {Fill{2.5}, {4, 6}, {constant(1), constant(2)}};
    CHECK(run_alone(fill, {}, DType::bf16, {1, 2}) == std::vector<double>{2.5, 2.5});
    const Generate literal = {Literal{{0, 1, 2, 3, 4, 5}}, {2, 3}, {constant(1), constant(1)}};
    CHECK(run_alone(literal, {}, DType::i64, {1, 2}) == std::vector<double>{4, 5});
    const Generate iota = {Iota{0}, {9, 2}, {constant(5), constant(0)}};
    CHECK(run_alone(iota, {}, DType::f32, {3, 2}) == std::vector<double>{5, 5, 6, 6, 7, 7});
    Random random;
    random.distribution.kind = DistributionKind::normal;
    Generate whole = {random, {5, 8}, {}}, part = {random, {5, 8}, {constant(3), constant(4)}};
    const std::vector<double> all = run_alone(whole, {}, DType::f32, {5, 8}),
                              box = run_alone(part, {}, DType::f32, {2, 4});
    for_each({2, 4}, [&](const std::vector<i64>& i) {
        CHECK(box[flat({2, 4}, i)] == all[flat({5, 8}, {i[0] + 3, i[1] + 4})]);
    });
}

TEST_CASE("random values are drawn under the folded key, each block as an array of its own") {
    Random random;
    random.distribution.kind = DistributionKind::uniform;
    random.distribution.high = 1;
    random.key = key_from_seed(7);
    Random folded = random;
    folded.folds = {constant(3), constant(5)};
    Random by_hand = random;
    by_hand.key = fold_in(fold_in(random.key, 3), 5);
    CHECK(run_alone(Generate{folded, {4, 6}, {}}, {}, DType::f32, {4, 6}) ==
          run_alone(Generate{by_hand, {4, 6}, {}}, {}, DType::f32, {4, 6}));

    // Four blocks of (2, 3); a box may hold parts of several.
    folded.blocks = {2, 2};
    const std::vector<double> whole = run_alone(Generate{folded, {4, 6}, {}}, {}, DType::f32, {4, 6});
    for (i64 block = 0; block < 4; ++block) {
        Random own = by_hand;
        own.key = fold_in(by_hand.key, static_cast<std::uint32_t>(block));
        const std::vector<double> values = run_alone(Generate{own, {2, 3}, {}}, {}, DType::f32, {2, 3});
        for_each({2, 3}, [&](const std::vector<i64>& i) {
            CHECK(whole[flat({4, 6}, {i[0] + 2 * (block / 2), i[1] + 3 * (block % 2)})] == values[flat({2, 3}, i)]);
        });
    }
    const std::vector<double> box =
        run_alone(Generate{folded, {4, 6}, {constant(1), constant(2)}}, {}, DType::f32, {2, 3});
    for_each({2, 3}, [&](const std::vector<i64>& i) {
        CHECK(box[flat({2, 3}, i)] == whole[flat({4, 6}, {i[0] + 1, i[1] + 2})]);
    });
}

} // namespace shard
