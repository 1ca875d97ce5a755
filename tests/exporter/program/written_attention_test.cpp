// The kernels that stand in place of attention, run one after the other, against attention itself.
#include "exporter/program/written_attention.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

namespace {

Tensor waves(DType dtype, const Shape& shape, double phase) {
    return make_tensor(dtype, shape, [&](i64 i) { return std::sin(0.37 * static_cast<double>(i) + phase); });
}

double difference(Attend attend, AttendPart part, DType dtype, const std::vector<Tensor>& pairs) {
    attend.part = part;
    const AttendInputs at = attend_inputs(part);
    const Shape q = {2, 5, 4, 3}, k = {2, 6, 2, 3}, v = {2, 6, 2, 2}, o = {2, 5, 4, 2}, rows = {2, 5, 4};
    std::vector<Tensor> made = {waves(dtype, q, 0), waves(dtype, k, 1)};
    if (at.v >= 0) made.push_back(waves(dtype, v, 2));
    if (at.given >= 0) made.push_back(waves(dtype, o, 3));
    if (at.logsumexp >= 0) made.push_back(waves(computed_as(dtype), rows, 4));
    if (at.mean >= 0) made.push_back(waves(computed_as(dtype), rows, 5));
    made.insert(made.end(), pairs.begin(), pairs.end());
    const Shape bias = pairs.empty() ? Shape() : pairs[0].type.shape;
    const Shape results[] = {o, rows, q, k, v, {2, 5, 4, 3}, bias};
    const bool is_wide = part == AttendPart::logsumexp || part == AttendPart::with_logsumexp;
    const TensorType output = {is_wide ? computed_as(dtype) : dtype, results[static_cast<size_t>(part)], {}};
    const std::vector<double> whole = run_alone(attend, made, output.dtype, output.shape);
    std::vector<TensorType> types;
    for (const Tensor& input : made) types.push_back(input.type);
    for (const WrittenStep& step : written_attention(attend, types, output)) {
        std::vector<Tensor> inputs;
        for (int input : step.inputs) inputs.push_back(made[static_cast<size_t>(input)]);
        const std::vector<double> result = run_alone(step.kernel, inputs, step.type.dtype, step.type.shape);
        made.push_back(
            make_tensor(step.type.dtype, step.type.shape, [&](i64 i) { return result[static_cast<size_t>(i)]; }));
    }
    REQUIRE(made.back().type.shape == output.shape);
    REQUIRE(made.back().type.dtype == output.dtype);
    const std::vector<double> written = values(made.back());
    double most = 0, largest = 0;
    for (size_t n = 0; n < whole.size(); ++n) {
        if (whole[n] == -INFINITY && written[n] == -INFINITY) continue; // the logsumexp of no key
        most = std::max(most, std::isfinite(whole[n]) ? std::fabs(whole[n] - written[n]) : INFINITY);
        largest = std::max(largest, std::fabs(whole[n]));
    }
    return most / largest;
}

} // namespace

TEST_CASE("attention written out for other engines is attention, and so are the parts of its gradient") {
    const Attend attends[] = {{AttendPart::values, 0.5, false, 0, 0, {}},
                              {AttendPart::values, 0.5, true, 0, 0, constant(1)},
                              {AttendPart::values, 0.25, true, 2, 0.8, constant(0)},
                              {AttendPart::values, 0.5, false, 3, 0, constant(0)}};
    for (const Attend& attend : attends)
        for (const AttendPart part :
             {AttendPart::values, AttendPart::logsumexp, AttendPart::query_gradient, AttendPart::key_gradient,
              AttendPart::value_gradient, AttendPart::with_logsumexp}) {
            CAPTURE(name(part));
            CAPTURE(attend.causal);
            CAPTURE(attend.window);
            CHECK(difference(attend, part, DType::f64, {}) < 1e-12);
            CHECK(difference(attend, part, DType::bf16, {}) < 2e-2);
        }
}

TEST_CASE("attention that drops weights is written out with the mask that it draws") {
    Random random;
    random.distribution.kind = DistributionKind::bernoulli;
    random.distribution.probability = 0.7;
    random.key = {3, 4};
    random.folds = {constant(5)};
    Attend attend = {AttendPart::values, 0.5, true, 0, 0.8, constant(2)};
    attend.kept = Generate{random, {3, 9, 5, 8}, {constant(1), constant(4), {}, constant(2)}};
    for (const AttendPart part : {AttendPart::values, AttendPart::query_gradient, AttendPart::key_gradient,
                                  AttendPart::value_gradient, AttendPart::with_logsumexp, AttendPart::bias_gradient}) {
        CAPTURE(name(part));
        CHECK(difference(attend, part, DType::f64, {waves(DType::f64, {1, 4, 5, 6}, 6)}) < 1e-12);
        CHECK(difference(attend, part, DType::bf16, {waves(DType::bf16, {1, 4, 5, 6}, 6)}) < 2e-2);
    }
}

TEST_CASE("attention with a bias, a mask and segments is written out too") {
    const Tensor bias = waves(DType::f64, {1, 4, 5, 6}, 6), of_keys = waves(DType::f64, {2, 1, 1, 6}, 6),
                 mask = make_tensor(DType::boolean, {2, 1, 5, 6}, [](i64 i) { return i % 4 != 0 && i / 6 != 7; }),
                 of_queries = make_tensor(DType::i32, {2, 5}, [](i64 i) { return i % 5 / 3; }),
                 segments = make_tensor(DType::i32, {2, 6}, [](i64 i) { return i % 6 / 3; });
    const std::vector<Tensor> all[] = {
        {bias}, {of_keys, mask}, {mask}, {of_queries, segments}, {bias, of_queries, segments}};
    for (const std::vector<Tensor>& pairs : all)
        for (const AttendPart part :
             {AttendPart::values, AttendPart::query_gradient, AttendPart::key_gradient, AttendPart::value_gradient,
              AttendPart::with_logsumexp, AttendPart::bias_gradient}) {
            if (part == AttendPart::bias_gradient && pairs[0].type.dtype != DType::f64) continue;
            CAPTURE(name(part));
            CHECK(difference({AttendPart::values, 0.5, false, 0, 0, {}}, part, DType::f64, pairs) < 1e-12);
            CHECK(difference({AttendPart::values, 0.25, true, 0, 0.8, constant(3)}, part, DType::f64, pairs) < 1e-12);
        }
}

} // namespace shard
