// Random graphs of modules that declare gradients: what they declare is linear, and not what would follow from their
// own graphs, so the gradient of the whole is known without any differentiation. The train step is proved on a random
// mesh.
#include "tests/support/property.h"
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>

using namespace shard;

namespace {

using Tape = std::vector<std::uint32_t>;

class Case {
public:
    explicit Case(const Tape& tape) : tape_(tape) {
        const size_t count = 1 + choose(5);
        for (size_t n = 0; n < count; ++n) step();
        gradients_.back() = 1;
        for (size_t n = steps_.size(); n-- > 0;) steps_[n](gradients_);
        const bool loop = choose(3) == 2;
        model_ = fmt::format(R"(model: random
axes: {{batch: 8, in: 4}}
inputs: {{x: {{axes: [batch, in], dtype: f64, init: ones}}}}
params: {{w: {{axes: [in], dtype: f64, init: {{constant: {{value: 0.5}}}}}}}}
modules:
{}graph:
  - v0: {{mul: [x, w]}}
{}outputs: [v0]
train:
  loss: {{mean: v{}}}
  optimizer: {{sgd: {{learning_rate: 1}}}}
{})",
                             modules_, graph_, values_ - 1, loop ? "  microbatches: 2\n" : "");
        const size_t rows = 1 + choose(2), columns = 1U << choose(3);
        const char* batch = choose(2) == 0 ? "a" : "~";
        const char* in = choose(2) == 0 ? "b" : "~";
        layout_ = fmt::format("mesh: {{a: {}, b: {}}}\nrules: [{{batch: {}}}, {{in: {}}}]\n", rows, columns, batch, in);
    }

    const std::string& model() const { return model_; }
    const std::string& layout() const { return layout_; }
    // Of every element of w: a mean over rows of 4 columns.
    double gradient() const { return gradients_[0] / 4; }

private:
    size_t choose(size_t count) {
        const size_t at = position_++;
        return at < tape_.size() ? tape_[at] % count : 0;
    }
    double factor() { return std::vector<double>{1, -1, 2, 0.5, -0.5}[choose(5)]; }
    // The newest for 0.
    size_t any() { return values_ - 1 - choose(values_); }
    size_t make() {
        gradients_.push_back(0);
        return values_++;
    }

    void step() {
        const std::string name = fmt::format("m{}", steps_.size());
        const std::string remat = choose(4) == 3 ? "remat: full\n    " : "";
        switch (choose(3)) {
        case 0:
            return two_inputs(name, remat);
        case 1:
            return two_outputs(name, remat);
        default:
            return repeated(name, remat);
        }
    }

    void two_inputs(const std::string& name, const std::string& remat) {
        const double c = factor(), d = choose(3) == 2 ? 0 : factor();
        const size_t x = any(), y = any(), z = make();
        modules_ += fmt::format("  {}:\n    inputs: [x, y]\n    {}graph:\n      - h: {{mul: [x, 0.25]}}\n"
                                "      - z: {{add: [h, y]}}\n    outputs: [z]\n    gradient:\n      given: {{z: dz}}\n"
                                "      graph:\n        - dx: {{mul: [dz, {}]}}\n",
                                name, remat, c);
        if (d != 0) modules_ += fmt::format("        - dy: {{mul: [dz, {}]}}\n", d);
        modules_ += fmt::format("      gives: {{x: dx{}}}\n", d != 0 ? ", y: dy" : "");
        graph_ += fmt::format("  - v{}: {{{}: [v{}, v{}]}}\n", z, name, x, y);
        steps_.push_back([=](std::vector<double>& of) { of[x] += c * of[z], of[y] += d * of[z]; });
    }

    // An output that is the input, and one that has no derivative.
    void two_outputs(const std::string& name, const std::string& remat) {
        const double c = factor(), d = factor();
        const size_t x = any(), p = make(), q = make();
        modules_ += fmt::format("  {}:\n    inputs: [x]\n    {}graph:\n      - q: {{round: x}}\n    outputs: [x, q]\n"
                                "    gradient:\n      given: {{x: dp, q: dq}}\n      graph:\n"
                                "        - s: {{mul: [dp, {}]}}\n        - t: {{mul: [dq, {}]}}\n"
                                "        - dx: {{add: [s, t]}}\n      gives: {{x: dx}}\n",
                                name, remat, c, d);
        graph_ += fmt::format("  - v{}, v{}: {{{}: v{}}}\n", p, q, name, x);
        steps_.push_back([=](std::vector<double>& of) { of[x] += c * of[p] + d * of[q]; });
    }

    void repeated(const std::string& name, const std::string& remat) {
        const double c = factor();
        const size_t x = any(), y = any(), times = 1 + choose(3), z = make();
        modules_ += fmt::format("  {}:\n    inputs: [x, y]\n    {}graph:\n      - h: {{tanh: x}}\n"
                                "      - z: {{mul: [h, y]}}\n    outputs: [z]\n    gradient:\n      given: {{z: dz}}\n"
                                "      graph:\n        - k: {{add: [h, 3]}}\n        - o: {{div: [k, k]}}\n"
                                "        - s: {{mul: [dz, o]}}\n        - dx: {{mul: [s, {}]}}\n"
                                "      gives: {{x: dx, y: dz}}\n",
                                name, remat, c);
        const char* scan = choose(2) == 1 ? ", scan: true" : "";
        graph_ += fmt::format("  - v{}: {{repeat: {}, times: {}, in: [v{}, v{}]{}}}\n", z, name, times, x, y, scan);
        steps_.push_back([=](std::vector<double>& of) {
            double carried = of[z];
            for (size_t n = 0; n < times; ++n) of[y] += carried, carried *= c;
            of[x] += carried;
        });
    }

    const Tape& tape_;
    size_t position_ = 0, values_ = 1;
    std::vector<std::function<void(std::vector<double>&)>> steps_;
    std::vector<double> gradients_ = {0};
    std::string modules_, graph_, model_, layout_;
};

std::vector<std::string> problems_of(const Case& made) {
    ProofOptions proof;
    proof.mode = "train";
    std::vector<std::string> problems = prove(made.model(), made.layout(), proof);
    if (!problems.empty()) return problems;
    const Numbers after = run_steps(train_plan(made.model(), made.layout()), 1)[0].at("w");
    for (double value : after)
        if (std::abs(0.5 - value - made.gradient()) > 1e-9 * (1 + std::abs(made.gradient())))
            problems.push_back(fmt::format("a gradient of {}, not {}", 0.5 - value, made.gradient()));
    return problems;
}

} // namespace

TEST_CASE("declared gradients are used wherever modules are called, on any mesh") {
    const bool held = holds("declared gradients", [] {
        const Tape tape = *rc::gen::container<Tape>(40, rc::gen::inRange<std::uint32_t>(0, 1000));
        const Case made(tape);
        const std::vector<std::string> problems = problems_of(made);
        if (!problems.empty()) RC_FAIL(fmt::format("{}\n{}{}", fmt::join(problems, "\n"), made.model(), made.layout()));
    });
    CHECK(held);
}
