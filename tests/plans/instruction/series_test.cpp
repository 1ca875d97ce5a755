#include "plans/instruction/series.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Errors {
    double largest = 0; // in units in the last place of the exact value as f32
    int wrong = 0;      // not a number, infinite or subnormal where the exact value is not, or the other way round
};

double unit_in_the_last_place(float value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    return std::ldexp(1.0, exponent - 24);
}

// Over floats of every sign and exponent, beside libm in f64.
template<typename F, typename Exact>
Errors errors_of(F&& f, Exact&& exact) {
    constexpr float least = std::numeric_limits<float>::min();
    constexpr std::uint64_t stride = 10007;
    Errors errors;
    for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32); word += stride) {
        const float x = std::bit_cast<float>(static_cast<std::uint32_t>(word)), got = f(x);
        const double wanted = exact(static_cast<double>(x));
        const float near = static_cast<float>(wanted);
        if (std::isnan(wanted))
            errors.wrong += std::isnan(got) ? 0 : 1;
        else if (std::isinf(near) || !std::isfinite(got))
            errors.wrong += got == near ? 0 : 1;
        else if (std::fabs(near) < 1.1f * least) // what is smaller than a normal number may be 0
            errors.wrong += std::fabs(got - near) <= 1.1f * least ? 0 : 1;
        else
            errors.largest = std::max(errors.largest, std::fabs(got - wanted) / unit_in_the_last_place(near));
    }
    return errors;
}

} // namespace

TEST_CASE("functions of one f32 by series are as near to libm's as docs/verification.md says") {
    struct Case {
        const char* name;
        Errors errors;
        double limit;
    };
    const Case cases[] = {
        {"exp", errors_of([](float x) { return series::exp(x); }, [](double x) { return std::exp(x); }), 1},
        {"expm1", errors_of([](float x) { return series::expm1(x); }, [](double x) { return std::expm1(x); }), 1.6},
        {"log", errors_of([](float x) { return series::log(x); }, [](double x) { return std::log(x); }), 1},
        {"log1p", errors_of([](float x) { return series::log1p(x); }, [](double x) { return std::log1p(x); }), 2.2},
        {"logistic",
         errors_of([](float x) { return series::logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }), 2.5},
        {"tanh", errors_of([](float x) { return series::tanh(x); }, [](double x) { return std::tanh(x); }), 6.5},
        {"erf", errors_of([](float x) { return series::erf(x); }, [](double x) { return std::erf(x); }), 6},
    };
    for (const Case& each : cases) {
        CAPTURE(each.name);
        CHECK(each.errors.wrong == 0);
        CHECK(each.errors.largest <= each.limit);
        CHECK(each.errors.largest > 0.5); // that much was looked at
    }
}

TEST_CASE("functions by series at their ends") {
    CHECK(series::exp(-infinity) == 0);
    CHECK(series::exp(infinity) == infinity);
    CHECK(series::exp(0.0f) == 1);
    CHECK(series::exp(88.72f) < infinity);
    CHECK(std::signbit(series::expm1(-0.0f)));
    CHECK(series::expm1(-infinity) == -1);
    CHECK(series::expm1(infinity) == infinity);
    CHECK(series::log(0.0f) == -infinity);
    CHECK(series::log(-0.0f) == -infinity);
    CHECK(std::isnan(series::log(-1.0f)));
    CHECK(series::log(1.0f) == 0);
    CHECK(series::log(infinity) == infinity);
    CHECK(series::log1p(-1.0f) == -infinity);
    CHECK(std::signbit(series::log1p(-0.0f)));
    CHECK(series::tanh(infinity) == 1);
    CHECK(series::tanh(-infinity) == -1);
    CHECK(std::signbit(series::tanh(-0.0f)));
    CHECK(series::erf(infinity) == doctest::Approx(1));
    CHECK(std::fabs(series::erf(infinity)) <= 1);
    CHECK(series::logistic(-infinity) == 0);
    CHECK(series::logistic(infinity) == 1);
    for (float x : {std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(0xFFC12345u)})
        for (float made : {series::exp(x), series::expm1(x), series::log(x), series::log1p(x), series::logistic(x),
                           series::tanh(x), series::erf(x)})
            CHECK(std::isnan(made));
}

} // namespace shard
