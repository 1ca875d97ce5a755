// Comparing runs of several steps of training: rounding is forgiven, also where an optimizer makes a step of it; a
// gradient that is off by a factor is not.
#include "executor/verify/compare.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {
namespace {

constexpr i64 size = 32;
constexpr double rate = 1e-3;

// Adam or SGD on two parameters, in f64: the definition, not the planner's.
struct Training {
    bool adam = true;
    int steps = 3;
    // The gradient of element i of parameter 0 or 1, in a step.
    std::function<double(int parameter, i64 i, int step)> gradient;

    RunResult run() const {
        RunResult result;
        result.steps = steps;
        for (int parameter = 0; parameter < 2; ++parameter) {
            const std::string name = parameter == 0 ? "w" : "b";
            std::vector<double> p, mu(size), nu(size);
            for (i64 i = 0; i < size; ++i) p.push_back(initial(i));
            for (int step = 1; step <= steps; ++step) {
                for (size_t i = 0; i < p.size(); ++i) {
                    const double g = gradient(parameter, static_cast<i64>(i), step);
                    mu[i] = 0.9 * mu[i] + 0.1 * g;
                    nu[i] = 0.999 * nu[i] + 0.001 * g * g;
                    const double mean = mu[i] / (1 - std::pow(0.9, step)), square = nu[i] / (1 - std::pow(0.999, step));
                    p[i] -= rate * (adam ? mean / (std::sqrt(square) + 1e-8) : g);
                }
            }
            add(result, name, p, initial);
            if (!adam) continue;
            add(result, name + ".mu", mu, [](i64) { return 0.0; });
            add(result, name + ".nu", nu, [](i64) { return 0.0; });
        }
        for (int step = 0; step < steps; ++step) result.scalars["loss"].push_back(1.0 / (1 + step));
        result.outputs["loss"] = make_tensor(DType::f32, {}, [&](i64) { return result.scalars["loss"].back(); });
        return result;
    }

    static double initial(i64 i) { return 0.1 * std::sin(static_cast<double>(i)); }
    static void add(RunResult& result, const std::string& name, const std::vector<double>& to,
                    const std::function<double(i64)>& from) {
        result.outputs[name] = make_tensor(DType::f32, {size}, [&](i64 i) { return to[i]; });
        result.initial[name] = make_tensor(DType::f32, {size}, from);
    }
};

// The plan as far as a comparison looks at it.
Plan plan_of(bool adam) {
    PlanBuilder b(make_mesh({{"data", 2}}));
    b.output("loss", b.buffer("loss", DType::f32, {}));
    for (const std::string name : {"w", "b", "w.mu", "w.nu", "b.mu", "b.nu"}) {
        const bool is_state = name.size() > 1;
        if (is_state && !adam) continue;
        const int input = b.input(name, DType::f32, {size}, "[data]");
        b.plan().buffers.back().role = is_state ? Role::state : Role::param;
        b.plan().outputs.push_back({name, input, input});
    }
    return b.plan();
}

std::optional<Comparison> compare(bool adam, const RunResult& run, const RunResult& reference,
                                  Diagnostics& diagnostics) {
    const Plan plan = plan_of(adam);
    return compare_results({plan, run}, {plan, reference}, diagnostics);
}

std::string verdict(const Training& plan, const Training& reference) {
    Diagnostics diagnostics;
    const std::optional<Comparison> comparison = compare(plan.adam, plan.run(), reference.run(), diagnostics);
    REQUIRE(comparison);
    CHECK(comparison->equal == diagnostics.all().empty());
    CHECK(comparison->equal == (comparison->max_relative <= comparison->allowed_relative));
    if (comparison->equal) return "equal";
    const std::string& message = diagnostics.all().front().message;
    return message.substr(0, message.find(" differs"));
}

// From 1 down to 0.03; b's are a thousandth of w's, and every eighth of b's is nothing but noise.
double true_gradient(int parameter, i64 i, int step) {
    if (parameter == 1 && i % 8 == 0) return 0;
    return std::cos(static_cast<double>(3 * i + step)) * (parameter == 0 ? 1 : 1e-3);
}
// Rounding: relative to the largest terms, not to the sum.
double rounding(i64 i, int step, int device) {
    return 1e-7 * std::sin(static_cast<double>(7 * i + 13 * step + device));
}

double on_one_device(int parameter, i64 i, int step) {
    return true_gradient(parameter, i, step) + rounding(i, step, 0);
}
double on_many(int parameter, i64 i, int step) { return true_gradient(parameter, i, step) + rounding(i, step, 50); }

} // namespace

TEST_CASE("compare steps: rounding passes, though Adam makes whole steps of a gradient that is nothing but rounding") {
    for (const int steps : {1, 2, 3, 10, 100}) {
        CAPTURE(steps);
        const Training one{true, steps, on_one_device}, many{true, steps, on_many};
        // The noise does move b's elements apart by about the learning rate a step, far more than rounding.
        CHECK(std::fabs(values(one.run().outputs.at("b"))[8] - values(many.run().outputs.at("b"))[8]) > 0.1 * rate);
        CHECK(verdict(many, one) == "equal");
        CHECK(verdict({false, steps, on_many}, {false, steps, on_one_device}) == "equal");
    }
}

TEST_CASE("compare steps: a gradient that is off by a factor fails after any number of steps") {
    for (const int steps : {1, 3, 100, 10000}) {
        CAPTURE(steps);
        for (const double factor : {0.5, 2.0}) {
            CAPTURE(factor);
            const auto wrong = [factor](int which) {
                return [which, factor](int parameter, i64 i, int step) {
                    return on_many(parameter, i, step) * (parameter == which ? factor : 1);
                };
            };
            // Adam's parameters hardly notice, its states do; SGD's parameters do.
            CHECK(verdict({true, steps, wrong(0)}, {true, steps, on_one_device}) == "'w.mu'");
            CHECK(verdict({false, steps, wrong(0)}, {false, steps, on_one_device}) == "'w'");
            if (steps > 100) continue; // b's gradients are a thousandth of w's: below what rounding may have become
            CHECK(verdict({true, steps, wrong(1)}, {true, steps, on_one_device}) == "'b.mu'");
            // Over many steps SGD's b goes to and fro, and is less far from home than its own rounding.
            if (steps <= 3) CHECK(verdict({false, steps, wrong(1)}, {false, steps, on_one_device}) == "'b'");
        }
    }
}

TEST_CASE("compare steps: a parameter whose gradient is no noise may not be elsewhere") {
    const Training training{true, 3, on_one_device};
    RunResult moved = training.run();
    const RunResult reference = training.run();
    moved.outputs["w"] = make_tensor(
        DType::f32, {size}, [&](i64 i) { return values(reference.outputs.at("w"))[i] + (i == 5 ? 0.1 * rate : 0); });
    Diagnostics diagnostics;
    CHECK_FALSE(compare(true, moved, reference, diagnostics)->equal);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].message.starts_with("'w' differs from the reference at index " + shape_text(Shape{5}) +
                                                   ":"));
}

TEST_CASE("compare steps: the loss of every step counts") {
    const Training training{true, 4, on_one_device};
    RunResult other = training.run();
    other.scalars["loss"][1] += 1e-3;
    Diagnostics diagnostics;
    CHECK_FALSE(compare(true, other, training.run(), diagnostics)->equal);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].message == "'loss' of step 1 differs from the reference: 0.501, expected 0.5");
    other.scalars["loss"][1] = 0.5 + 1e-7;
    Diagnostics none;
    CHECK(compare(true, other, training.run(), none)->equal);
}

} // namespace shard
