// Gradients that modules declare for themselves: equal to the derivatives where they say the same, and used where they
// say something else, in loops, in several parts of a batch, in 16 bits and in manual regions.
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <sstream>

namespace shard {
namespace {

// Two dots with a tanh between them, and the gradient that follows from it.
const std::string true_gradient = R"(
    gradient:
      given: {y: dy}
      graph:
        - da: {einsum: "be,he->bh", in: [dy, w2]}
        - s: {mul: [a, a]}
        - s: {sub: [1, s]}
        - dh: {mul: [da, s]}
        - dx: {einsum: "bh,eh->be", in: [dh, w1]}
        - dw1: {einsum: "be,bh->eh", in: [x, dh]}
        - dw2: {einsum: "bh,be->he", in: [a, dy]}
      gives: {x: dx, w1: dw1, w2: dw2})";

struct Variant {
    std::string name, module, repeat, train, model;
    bool same_sums = true; // to the last bits but a few
};

const std::vector<Variant> variants = {
    {"written out", "", "", "", ""},
    {"scanned", "", ", scan: true", "", ""},
    {"microbatches", "", "", "\n  microbatches: 2", ""},
    {"scanned microbatches", "", ", scan: true", "\n  microbatches: 2", ""},
    {"remat", "\n    remat: full", "", "", ""},
    {"scanned remat", "\n    remat: dots", ", scan: true", "", ""},
    {"bf16", "", "", "", "precision: {compute: bf16}\n", false},
    {"bf16 parameters, scanned", "", ", scan: true", "", "precision: {params: bf16}\n", false},
};

std::string blocks(const Variant& variant, const std::string& gradient) {
    return fmt::format(R"(model: blocks
axes: {{batch: 16, embed: 8, hidden: 16, layers: 3}}
{}inputs: {{x: {{axes: [batch, embed], init: normal}}}}
modules:
  block:
    inputs: [x]{}
    params:
      w1: {{axes: [embed, hidden]}}
      w2: {{axes: [hidden, embed]}}
    graph:
      - h: {{dot: [x, w1]}}
      - a: {{tanh: h}}
      - y: {{dot: [a, w2]}}
    outputs: [y]{}
graph:
  - y: {{repeat: block, times: 3, in: x, axis: layers{}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 0.0078125}}}}{}
)",
                       variant.model, variant.module, gradient, variant.repeat, variant.train);
}

const std::string one = "mesh: {data: 1}\n";
const std::string eight = "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\n";

std::string proved(const std::string& model, const std::string& layout, int steps = 2) {
    ProofOptions options;
    options.mode = "train";
    options.steps = steps;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

// "all_reduce over model 576", one a collective, sorted: values have other names where their gradients have.
std::string sent(const Plan& plan) {
    std::istringstream lines(collectives_text(plan));
    std::multiset<std::string> all;
    for (std::string kind, name, rest; lines >> kind >> name && std::getline(lines, rest);) all.insert(kind + rest);
    return fmt::format("{}", fmt::join(all, "\n"));
}

// A model of one parameter `w` (2, 4), all of it `start`, a module `m` and the graph after it.
std::string model_of(const std::string& module, const std::string& graph, const std::string& start = "0.75") {
    return fmt::format(R"(model: small
axes: {{batch: 2, in: 4}}
inputs: {{ids: {{axes: [batch, in], dtype: i32, init: zeros}}}}
params: {{w: {{axes: [batch, in], init: {{constant: {{value: {2}}}}}}}}}
modules:
  m:
{0}
graph:
{1}
outputs: [w]
train:
  loss: {{reduce_sum: z}}
  optimizer: {{sgd: {{learning_rate: 1}}}}
)",
                       module, graph, start);
}

// What one step with learning rate 1 subtracts from every element of w.
double gradient_of(const std::string& model, double start = 0.75) {
    CHECK(proved(model, eight, 1) == "");
    const Numbers after = run_steps(train_plan(model, one), 1)[0].at("w");
    for (double value : after) CHECK(value == after[0]);
    return start - after[0];
}

} // namespace

TEST_CASE("a module that declares its derivatives trains as without") {
    for (const Variant& variant : variants) {
        CAPTURE(variant.name);
        const std::string plain = blocks(variant, ""), declared = blocks(variant, true_gradient);
        if (variant.same_sums) CHECK(proved(declared, eight) == "");
        CHECK(sent(train_plan(declared, eight)) == sent(train_plan(plain, eight)));
        for (const std::string& layout : {one, eight}) {
            const std::vector<std::map<std::string, Numbers>> expected = run_steps(train_plan(plain, layout), 3),
                                                              got = run_steps(train_plan(declared, layout), 3);
            const double epsilon = variant.same_sums ? 1e-5 : 2e-2;
            for (size_t step = 0; step < expected.size(); ++step)
                for (const auto& [key, numbers] : expected[step]) {
                    const std::string name = key;
                    CAPTURE(name);
                    if (!variant.same_sums && name != "loss") continue; // Adam makes steps of the sign
                    REQUIRE(got[step].at(name).size() == numbers.size());
                    for (size_t n = 0; n < numbers.size(); ++n)
                        CHECK(got[step].at(name)[n] == doctest::Approx(numbers[n]).epsilon(epsilon));
                }
        }
    }
}

TEST_CASE("a forward plan has nothing of a declared gradient, nor what only it reads") {
    const auto forward = [](const std::string& mask, const std::string& gradient) {
        const std::string module = "    inputs: [x]\n    graph:\n" + mask + "      - y: {tanh: x}\n    outputs: [y]";
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add("model.yaml", model_of(module + gradient, "  - z: {m: w}"));
        request.layout_file = sources.add("layout.yaml", eight);
        const Compilation compilation = compile(sources, request);
        REQUIRE(compilation.graph.has_value());
        std::string names;
        for (const Value& value : compilation.graph->values) names += value.name + " ";
        return names;
    };
    const std::string gradient = R"(
    gradient:
      given: {y: dy}
      graph: [{dx: {select: [near, dy, zero]}}]
      gives: {x: dx})";
    const std::string mask = "      - near: {lt: [x, 1]}\n      - zero: {mul: [x, 0]}\n";
    CHECK(forward(mask, gradient) == "ids w m.y ");
    CHECK(forward("", "") == "ids w m.y ");
}

TEST_CASE("a straight-through estimator: the gradient goes past what has none") {
    const std::string round = "    inputs: [x]\n    graph: [{y: {round: x}}]\n    outputs: [y]";
    const std::string through = round + "\n    gradient: {given: {y: dy}, gives: {x: dy}}";
    const std::string graph = "  - q: {m: w}\n  - z: {mul: [q, q]}";
    CHECK(gradient_of(model_of(round, graph)) == 0);
    CHECK(gradient_of(model_of(through, graph)) == 2); // 2 round(0.75)
    CHECK(gradient_of(model_of(round + "\n    gradient: {given: {y: dy}, gives: {}}", graph)) == 0);
    // Constants are copied for their readers; not this one.
    CHECK(
        gradient_of(model_of("    inputs: [x]\n    graph: [{y: {constant: 2, shape: [batch, in]}}]\n    outputs: [y]\n"
                             "    gradient: {given: {y: dy}, gives: {x: dy}}",
                             graph)) == 4);
}

TEST_CASE("an output that is an input: its gradient is clipped") {
    const std::string clip = R"(    inputs: [x]
    params: {unused: {axes: [in]}}
    graph: []
    outputs: [x]
    gradient:
      given: {x: dy}
      graph: [{dx: {clamp: dy, min: -1, max: 1}}]
      gives: {x: dx})";
    CHECK(gradient_of(model_of(clip, "  - c: {m: w}\n  - z: {mul: [c, 5]}")) == 1);
    // What goes by the module is not clipped, and each call clips its own.
    CHECK(gradient_of(model_of(clip, "  - c: {m: w}\n  - s: {mul: [c, 5]}\n  - t: {mul: [w, 7]}\n"
                                     "  - z: {add: [s, t]}")) == 8);
    CHECK(gradient_of(model_of(clip, "  - c: {m: w}\n  - d: {m: w}\n  - s: {mul: [c, 5]}\n  - t: {mul: [d, 7]}\n"
                                     "  - z: {add: [s, t]}")) == 2);
    CHECK(gradient_of(model_of(clip, "  - c: {m: w}\n  - s: {mul: [c, 5]}\n  - t: {mul: [c, -6.5]}\n"
                                     "  - z: {add: [s, t]}")) == -1);
}

TEST_CASE("several outputs are given together, zeros for those that nobody reads") {
    const std::string two = R"(    inputs: [x, ids]
    graph:
      - a: {mul: [x, 2]}
      - b: {mul: [x, 3]}
      - n: {add: [ids, 1]}
    outputs: [a, b, n]
    gradient:
      given: {a: da, b: db}
      graph:
        - s: {mul: [da, 10]}
        - t: {mul: [db, 100]}
        - dx: {add: [s, t]}
      gives: {x: dx})";
    const std::string call = "  - a, b, n: {m: [w, ids]}\n";
    CHECK(gradient_of(model_of(two, call + "  - z: {mul: [a, 1]}")) == 10);
    CHECK(gradient_of(model_of(two, call + "  - z: {mul: [b, 1]}")) == 100);
    CHECK(gradient_of(model_of(two, call + "  - z: {add: [a, b]}")) == 110);
}

TEST_CASE("calls of calls, operands given twice, and values within that are read by their path") {
    const std::string tenfold = R"(    inputs: [x, y]
    graph:
      - h: {mul: [x, 2]}
      - z: {add: [h, y]}
    outputs: [z]
    gradient:
      given: {z: dz}
      graph: [{dx: {scaled: dz}}]
      gives: {x: dx, y: dz}
  scaled:
    inputs: [d]
    graph: [{e: {mul: [d, 10]}}]
    outputs: [e])";
    CHECK(gradient_of(model_of(tenfold, "  - z: {m: [w, w]}")) == 11);
    CHECK(gradient_of(model_of(tenfold, "  - a: {m: [w, w]}\n  - z: {m: [a, w]}")) == 111);
    CHECK(gradient_of(model_of(tenfold, "  - a: {m: [w, w]}\n  - z: {add: [a, m.h]}")) == 13);
    CHECK(gradient_of(model_of(tenfold, "  - z: {repeat: m, times: 3, in: [w, w], scan: true}")) == 1111);
}

TEST_CASE("a loop within a module that declares its gradient is not run backwards") {
    const std::string outer = R"(    inputs: [x]
    graph:
      - y: {repeat: doubled, times: 3, in: x, scan: true}
    outputs: [y]
    gradient:
      given: {y: dy}
      graph:
        - s: {mul: [dy, y]}
        - dx: {mul: [s, 5]}
      gives: {x: dx}
  doubled:
    inputs: [x]
    graph: [{y: {mul: [x, 2]}}]
    outputs: [y])";
    CHECK(gradient_of(model_of(outer, "  - z: {m: w}")) == 30); // y = 6
}

TEST_CASE("value_and_grad uses it, and differentiates it a second time") {
    const auto second = [](const std::string& body, const std::string& gradient) {
        return model_of("    inputs: [x]\n    graph:\n" + body +
                            "    outputs: [y]\n    gradient:\n      given: {y: dy}\n" + "      graph:\n" + gradient +
                            "      gives: {x: dx}\n" +
                            "  f:\n    inputs: [x]\n    graph:\n      - y: {m: x}\n      - s: {mul: [y, y]}\n" +
                            "      - l: {reduce_sum: s}\n    outputs: [l]",
                        "  - l, z: {value_and_grad: f, in: w, wrt: w}", "3");
    };
    // y = x, whose derivative is said to be 5x: of y^2 it is 10 x^2, and of that 20 x, through x, and through y 5x
    // times what it is multiplied by.
    CHECK(
        gradient_of(second("      - y: {mul: [x, 1]}\n", "        - s: {mul: [x, 5]}\n        - dx: {mul: [dy, s]}\n"),
                    3) == 10 * 3 + 10 * 3 * 15);
    // The gradient reads h = 2x, a value within: 2y h, whose derivative is 2 h y' + 2y 2, where y' = h.
    CHECK(gradient_of(second("      - h: {mul: [x, 2]}\n      - y: {mul: [h, 1]}\n", "        - dx: {mul: [dy, h]}\n"),
                      3) == 2 * 6 * 6 + 2 * 6 * 2);
    // 2 round(x): straight through a second time, also where it is computed again.
    CHECK(gradient_of(second("      - y: {round: x}\n", "        - dx: {mul: [dy, 1]}\n"), 3) == 2);
}

namespace {

// x (4, 4) is 0 to 15 by rows and split over i; w is ones, and the body's w 1 to 4.
std::string region_of(const std::string& gradient, const std::string& body) {
    return fmt::format(R"(model: region
params: {{w: {{shape: [4], init: ones}}}}
modules:
  scaled:
    inputs: [x, w]
    graph: [{{y: {{mul: [x, w]}}}}]
    outputs: [y]
    gradient:
      given: {{y: dy}}
      graph:
        - d: {{clamp: dy, min: -1, max: 1}}
        - dx: {{mul: [d, w]}}
        - s: {{mul: [d, x]}}
        - dw: {{reduce_sum: s, dims: 0}}
{}
      gives: {{x: dx, w: dw}}
  clip:
    inputs: [x]
    graph: []
    outputs: [x]
    gradient: {{given: {{x: dy}}, graph: [{{dx: {{clamp: dy, min: -1, max: 1}}}}], gives: {{x: dx}}}}
graph:
  - r: {{iota: ~, shape: [16], dtype: f32}}
  - x: {{reshape: r, shape: [4, 4]}}
  - k: {{iota: ~, shape: [4], dtype: f32}}
  - k: {{add: [k, 1]}}
  - v: {{mul: [w, k]}}
  - l:
      manual:
        in: {{x: [i, ~], v: ~}}
        out: {{l: ~}}
        body:
{}          - q: {{reduce_sum: s}}
          - h: {{mul: [q, 0.01]}}
          - l: {{psum: h, over: i}}
outputs: [l]
train:
  loss: {{reduce_sum: l}}
  optimizer: {{sgd: {{learning_rate: 1}}}}
)",
                       gradient, body);
}

void check_region(const std::string& model, double loss, const Numbers& gradients) {
    const std::string four = "mesh: {i: 4}\n";
    CHECK(proved(model, four, 1) == "");
    CHECK(proved(model, "mesh: {i: 2, j: 2}\n", 1) == "");
    const std::map<std::string, Numbers> after = run_steps(train_plan(model, four), 1)[0];
    CHECK(after.at("loss")[0] == doctest::Approx(loss).epsilon(1e-6));
    for (size_t n = 0; n < gradients.size(); ++n)
        CHECK(1 - after.at("w")[n] == doctest::Approx(gradients[n] * static_cast<double>(n + 1)).epsilon(1e-5));
}

} // namespace

TEST_CASE("in a manual region, what every device reads gets the sum of the gradients that are given") {
    const std::string squares = "          - y: {scaled: [x, v]}\n          - s: {mul: [y, y]}\n";
    // JAX 0.10.2, shard_map over 4 devices of value_and_grad of psum(sum((x w)^2) / 100) with this custom_vjp, whose
    // backward function ends in the psum that stands here by itself, for x = arange(16), w = 1 to 4.
    const Numbers jax = {4.4799995, 11.039999, 20.16, 29.32};
    check_region(region_of("", squares), 108.16, jax);
    check_region(region_of("        - dw: {psum: dw, over: i}", squares), 108.16, jax);
}

TEST_CASE("in a manual region, a module that is called on values that are the same is called on each device") {
    // 500 times x is clipped on each of the 4 devices, whose gradients are then summed; the first device's 0 stays 0.
    const std::string body = "          - p: {pvary: v, over: i}\n          - c: {clip: p}\n"
                             "          - t: {mul: [x, c]}\n          - s: {mul: [t, 50000]}\n";
    const std::string model = region_of("", body);
    const std::string four = "mesh: {i: 4}\n";
    CHECK(proved(model, four, 1) == "");
    const Numbers after = run_steps(train_plan(model, four), 1)[0].at("w");
    CHECK(1 - after[0] == 3);
    CHECK(1 - after[1] == 4 * 2);
    // The sum of the four, where they read the value that does not vary: clipped once.
    const std::string once = region_of("", "          - c: {clip: v}\n          - t: {mul: [x, c]}\n"
                                           "          - s: {mul: [t, 50000]}\n");
    CHECK(proved(once, four, 1) == "");
    CHECK(1 - run_steps(train_plan(once, four), 1)[0].at("w")[1] == 1 * 2);
}

TEST_CASE("in a loop of a manual region") {
    const auto gradients = [](const std::string& body) {
        const std::string model = region_of("", body);
        CHECK(proved(model, "mesh: {i: 4}\n", 1) == "");
        CHECK(proved(model, "mesh: {i: 2, j: 2}\n", 1) == "");
        Numbers after = run_steps(train_plan(model, "mesh: {i: 4}\n"), 1)[0].at("w");
        for (double& value : after) value = 1 - value;
        return after;
    };
    for (const std::string& scan : {std::string(), std::string(", scan: true")}) {
        CAPTURE(scan);
        // 500 x, clipped on each device in the last trip, and its sum over the devices in the one before.
        CHECK(gradients("          - p: {repeat: clip, times: 2, in: v" + scan + "}\n" +
                        "          - c: {pvary: p, over: i}\n          - d: {repeat: clip, times: 2, in: c" + scan +
                        "}\n          - t: {mul: [x, d]}\n          - s: {mul: [t, 50000]}\n") == Numbers{1, 2, 3, 4});
    }
    const std::string squares = "}\n          - s: {mul: [y, y]}\n";
    const std::string chain = "          - y: {repeat: scaled, times: 3, in: [x, v]";
    const Numbers written = gradients(chain + squares), scanned = gradients(chain + ", scan: true" + squares);
    for (size_t n = 0; n < written.size(); ++n) CHECK(scanned[n] == doctest::Approx(written[n]).epsilon(1e-5));
}

TEST_CASE("a gradient that reads a result which is computed again, beside a manual region") {
    const std::string model = R"(model: both
params: {w: {shape: [8], init: {constant: {value: 0.5}}}}
modules:
  twice:
    inputs: [x]
    graph: [{y: {add: [x, x]}}, {z: {mul: [x, 3]}}]
    outputs: [y, z]
    gradient:
      given: {y: dy, z: dz}
      graph: [{d: {mul: [dy, z]}}]
      gives: {x: d}
  f:
    inputs: [x]
    graph: [{"y, z": {twice: x}}, {l: {reduce_sum: y}}]
    outputs: [l]
graph:
  - v:
      manual:
        in: {w: [i]}
        out: {v: [i]}
        body: [{"v, u": {twice: w}}]
  - l, g: {value_and_grad: f, in: v, wrt: v}
outputs: [l]
train:
  loss: {reduce_sum: g}
  optimizer: {sgd: {learning_rate: 1}}
)";
    CHECK(proved(model, "mesh: {i: 4}\n", 1) == "");
    // v = 2w; g = z = 3v, but the gradient of z is not given: dz goes nowhere.
    CHECK(run_steps(train_plan(model, "mesh: {i: 4}\n"), 1)[0].at("w")[0] == 0.5);
}

} // namespace shard
