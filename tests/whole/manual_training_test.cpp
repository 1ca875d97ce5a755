// Training written by hand as in the notebook equals the automatic plans of the same model: numbers and collectives.
#include "tests/support/prove.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

const std::string declared = R"(
inputs:
  x: {shape: [64, 8]}
params:
  w1: {shape: [8, 16]}
  w2: {shape: [16, 4]}
)";

const std::string automatic = "model: automatic" + declared + R"(
graph:
  - h: {dot: [x, w1]}
  - h: {relu: h}
  - z: {dot: [h, w2]}
outputs: [z]
train:
  targets: {t: {shape: [64, 4]}}
  loss: {mse: [z, t]}
  optimizer: {sgd: {learning_rate: 0.5}}
)";

// `border` and `body` are those of a region with the results loss, w1 and w2; `gather` stands in front of the network.
std::string by_hand(const std::string& gather, const std::string& region) {
    std::string with_t = declared;
    with_t.insert(with_t.find("params:"), "  t: {shape: [64, 4]}\n");
    return "model: hand" + with_t + R"(
modules:
  net:
    inputs: [x, t, w1, w2]
    graph:
)" + gather +
           R"(      - h: {dot: [x, w1]}
      - h: {relu: h}
      - z: {dot: [h, w2]}
      - loss: {mse: [z, t]}
    outputs: [loss]
graph:
  - loss, new1, new2:
      manual:
)" + region +
           "outputs: [loss, new1, new2]\n";
}

struct Run {
    std::vector<std::string> collectives; // sorted: "all_reduce 128"
    std::map<std::string, std::vector<float>> outputs;
};

Run run_of(const std::string& model, const std::string& layout, const std::string& mode) {
    ProofOptions options;
    options.mode = mode;
    CHECK(prove(model, layout, options) == std::vector<std::string>{});
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    Run run;
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        run.collectives.push_back(fmt::format("{} {}", collective.kind, collective.wire_bytes_total));
    std::sort(run.collectives.begin(), run.collectives.end());
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(*compilation.plan, {}, diagnostics);
    REQUIRE(result.has_value());
    for (const auto& [name, tensor] : result->outputs) {
        std::vector<float>& values = run.outputs[name];
        values.resize(static_cast<size_t>(tensor.type.elements()));
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    }
    return run;
}

void check_same(const Run& hand, const Run& plan) {
    CHECK(hand.collectives == plan.collectives);
    const std::pair<std::string, std::string> names[] = {{"loss", "loss"}, {"new1", "w1"}, {"new2", "w2"}};
    for (const std::pair<std::string, std::string>& name : names) {
        CAPTURE(name.second);
        const std::vector<float>&got = hand.outputs.at(name.first), &want = plan.outputs.at(name.second);
        REQUIRE(got.size() == want.size());
        for (size_t n = 0; n < got.size(); ++n)
            CHECK(static_cast<double>(got[n]) == doctest::Approx(static_cast<double>(want[n])).epsilon(1e-5));
    }
}

} // namespace

TEST_CASE("data-parallel training by hand is the automatic plan") {
    const Run plan = run_of(automatic, "mesh: {data: 4}\ninputs: {x: [data, ~], t: [data, ~]}\n", "train");
    const std::string body = R"(          - loss: {pmean: loss, over: data}
          - g1: {pmean: g1, over: data}
          - g2: {pmean: g2, over: data}
          - p1: {sgd: [w1, g1], learning_rate: 0.5}
          - p2: {sgd: [w2, g2], learning_rate: 0.5}
)";
    const std::string border = "        in: {x: [data, ~], t: [data, ~], w1: ~, w2: ~}\n"
                               "        out: {loss: [], p1: ~, p2: ~}\n";
    // Gradients are each device's own where the weights vary, or where nothing is checked.
    const Run varied = run_of(by_hand("", border + R"(        body:
          - v1: {pvary: w1, over: data}
          - v2: {pvary: w2, over: data}
          - loss, g1, g2: {value_and_grad: net, in: [x, t, v1, v2], wrt: [v1, v2]}
)" + body),
                              "mesh: {data: 4}\n", "forward");
    check_same(varied, plan);
    const Run unchecked = run_of(by_hand("", border + R"(        check: false
        body:
          - loss, g1, g2: {value_and_grad: net, in: [x, t, w1, w2], wrt: [w1, w2]}
)" + body),
                                 "mesh: {data: 4}\n", "forward");
    check_same(unchecked, plan);
    // With respect to weights that are the same everywhere, the gradient is the sum already.
    const Run summed = run_of(by_hand("", border + R"(        body:
          - loss, g1, g2: {value_and_grad: net, in: [x, t, w1, w2], wrt: [w1, w2]}
          - loss: {pmean: loss, over: data}
          - g1: {div: [g1, 4]}
          - g2: {div: [g2, 4]}
          - p1: {sgd: [w1, g1], learning_rate: 0.5}
          - p2: {sgd: [w2, g2], learning_rate: 0.5}
)"),
                              "mesh: {data: 4}\n", "forward");
    check_same(summed, plan);
}

TEST_CASE("fully-sharded training by hand is the automatic plan") {
    const Run plan = run_of(automatic,
                            "mesh: {data: 4}\ninputs: {x: [data, ~], t: [data, ~]}\n"
                            "params: {w1: [data, ~], w2: [data, ~]}\n",
                            "train");
    // The gather is part of what is differentiated, and its gradient scatters the sum.
    const Run hand = run_of(by_hand(R"(      - w1: {all_gather: w1, over: data, dim: 0, tiled: true}
      - w2: {all_gather: w2, over: data, dim: 0, tiled: true}
)",
                                    R"(        in: {x: [data, ~], t: [data, ~], w1: [data, ~], w2: [data, ~]}
        out: {loss: [], p1: [data, ~], p2: [data, ~]}
        body:
          - loss, g1, g2: {value_and_grad: net, in: [x, t, w1, w2], wrt: [w1, w2]}
          - loss: {pmean: loss, over: data}
          - g1: {div: [g1, 4]}
          - g2: {div: [g2, 4]}
          - p1: {sgd: [w1, g1], learning_rate: 0.5}
          - p2: {sgd: [w2, g2], learning_rate: 0.5}
)"),
                            "mesh: {data: 4}\n", "forward");
    check_same(hand, plan);
}

} // namespace shard
