// Convolutions whose groups are moved to where engines have them, run one kernel after the other, against themselves.
#include "exporter/program/written_convolution.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

namespace {

Tensor waves(const Shape& shape, double phase) {
    return make_tensor(DType::f64, shape, [&](i64 i) { return std::sin(0.37 * static_cast<double>(i) + phase); });
}

// The largest difference; `steps` is how many kernels it is written as.
double difference(const Convolve& kernel, const Shape& lhs, const Shape& rhs, const Shape& out, size_t& steps) {
    std::vector<Tensor> made = {waves(lhs, 0), waves(rhs, 1)};
    const std::vector<double> whole = run_alone(kernel, made, DType::f64, out);
    const TensorType types[] = {made[0].type, made[1].type};
    const std::vector<WrittenStep> written = written_convolution(kernel, types, {DType::f64, out, {}});
    steps = written.size();
    if (written.empty()) return 0;
    for (const WrittenStep& step : written) {
        std::vector<Tensor> inputs;
        for (int input : step.inputs) inputs.push_back(made[static_cast<size_t>(input)]);
        const std::vector<double> result = run_alone(step.kernel, inputs, step.type.dtype, step.type.shape);
        made.push_back(
            make_tensor(step.type.dtype, step.type.shape, [&](i64 i) { return result[static_cast<size_t>(i)]; }));
        if (const Convolve* inner = std::get_if<Convolve>(&step.kernel)) {
            const TensorType of[] = {inputs[0].type, inputs[1].type};
            CHECK(written_convolution(*inner, of, step.type).empty()); // engines have it
        }
    }
    REQUIRE(made.back().type.shape == out);
    const std::vector<double> got = values(made.back());
    double most = 0;
    for (size_t n = 0; n < whole.size(); ++n) most = std::max(most, std::fabs(whole[n] - got[n]));
    return most;
}

} // namespace

TEST_CASE("groups are moved to what is summed and what is made, and only where they lie elsewhere") {
    const std::vector<Slide> slide = {{1, 1, 1, 1, false}};
    const auto check = [&](const char* dims, const Shape& lhs, const Shape& rhs, const Shape& out, size_t wanted) {
        CAPTURE(dims);
        size_t steps = 0;
        CHECK(difference({dims, 2, slide}, lhs, rhs, out, steps) < 1e-12);
        CHECK(steps == wanted);
    };
    check("nw(gi),wi(go)->nw(go)", {2, 6, 6}, {3, 3, 8}, {2, 6, 8}, 0);
    check("nw(go),wi(go)->nw(gi)", {2, 6, 8}, {3, 3, 8}, {2, 6, 6}, 4); // the second operand
    check("nw(gi),nw(go)->wi(go)", {2, 6, 6}, {2, 6, 8}, {3, 3, 8}, 4); // the first
    check("wi(go),nw(go)->nw(gi)", {3, 3, 8}, {2, 6, 8}, {2, 4, 6}, 7); // the second, and the result
    check("(gn)wi,(gi)wo->(go)wn", {4, 6, 3}, {6, 3, 4}, {8, 6, 2}, 7); // the first and the second
    size_t steps = 1;
    CHECK(difference({"nwi,wio->nwo", 1, slide}, {2, 6, 3}, {3, 3, 4}, {2, 6, 4}, steps) == 0);
    CHECK(steps == 0);
}

TEST_CASE("an engine's letters say which dim is which, and what is added behind makes the result's size") {
    const Convolve gradient = {"nhwi,nhwo->hwio", 1, {{1, 1, 2, 1, false}, {2, 0, 1, 1, false}}};
    const ConvolveLetters letters = convolve_letters(gradient);
    CHECK(letters.lhs == "I01N");
    CHECK(letters.rhs == "I01O");
    CHECK(letters.out == "01NO");
    const TensorType types[] = {{DType::f32, {2, 8, 8, 3}, {}}, {DType::f32, {2, 4, 7, 5}, {}}};
    // Along h 3 places of a window that covers 7 of 8 elements with one before; along w 1 of one of 7.
    CHECK(convolve_high(gradient, types, {DType::f32, {3, 1, 3, 5}, {}}) == std::vector<i64>{0, -1});
}

} // namespace shard
