// Experts as the box has them: the ways in which tokens reach them, their losses, what they send, and what steps move.
#include "planner/pipeline/pipeline.h"
#include "tests/support/gradient_check.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shard {

namespace {

constexpr i64 batch = 8, length = 16, embed = 8, experts = 4, chosen = 2, parts = 4;

std::string model(const std::string& by, i64 capacity, i64 room,
                  const std::string& outputs = "[y, balance, z, dropped]") {
    return fmt::format(R"(model: experts
include: moe
axes: {{batch: {}, length: {}, embed: {}, experts: {}, expert_mlp: 12, capacity: {}, parts: {}, room: {}}}
inputs: {{x: {{axes: [batch, length, embed]}}}}
params: {{scale: {{axes: [embed], init: ones}}}}
graph:
  - n: {{mul: [x, scale]}}
  - y, balance, z, dropped: {{moe: n, std: 0.7, by: {}, losses: true, gives: [y, balance, z, dropped]}}
  - worth: {{mse: [y, x]}}
  - total: {{add: [worth, {{add: [{{mul: [balance, 0.01]}}, {{mul: [z, 0.001]}}]}}]}}
outputs: {}
train:
  loss: total
  metrics: {{balance: balance, z: z, dropped: dropped}}
  optimizer: {{adam: {{learning_rate: 0.01}}}}
)",
                       batch, length, embed, experts, capacity, parts, room, by, outputs);
}

const std::string apart =
    "mesh: {data: 2, expert: 4}\n"
    "rules: [{batch: [data, expert]}, {experts: expert}, {parts: expert}]\nmissing_axes: ignore\n";

Graph graph_of(const std::string& text) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", text);
    request.layout_file = sources.add("layout.yaml", "mesh: {}\n");
    const Compilation compilation = compile_as_written(sources, request);
    REQUIRE_MESSAGE(compilation.graph.has_value(), text_of(sources, compilation.diagnostics));
    return *compilation.graph;
}

double difference(const Array& a, const Array& b) {
    REQUIRE(a.values.size() == b.values.size());
    double most = 0;
    for (size_t n = 0; n < a.values.size(); ++n) most = std::max(most, std::fabs(a.values[n] - b.values[n]));
    return most;
}

} // namespace

TEST_CASE("experts make the same of tokens by capacity, dropless and exchanged, where there is room for all") {
    std::map<std::string, std::map<std::string, Array>> results;
    for (const char* by : {"with_capacity", "dropless", "exchanged"}) {
        const Graph graph = graph_of(model(by, length, length * chosen));
        results[by] = interpret(graph, random_inputs(graph, 3));
        CHECK(results[by].at("dropped").values[0] == 0);
    }
    for (const char* by : {"dropless", "exchanged"})
        for (const char* output : {"y", "balance", "z"}) {
            CAPTURE(by);
            CAPTURE(output);
            CHECK(difference(results["with_capacity"].at(output), results[by].at(output)) < 1e-9);
        }
}

TEST_CASE("what is dropped is counted, and the losses of a router are what their papers say") {
    const std::string outputs = "[y, balance, z, dropped, moe.logits, moe.expert]";
    for (const char* by : {"with_capacity", "exchanged"}) {
        CAPTURE(by);
        const i64 capacity = 7, room = 9;
        const Graph graph = graph_of(model(by, capacity, room, outputs));
        const std::map<std::string, Array> results = interpret(graph, random_inputs(graph, 3));
        const std::vector<double>&logits = results.at("moe.logits").values, &expert = results.at("moe.expert").values;
        std::vector<double> likely(experts), load(experts);
        double z = 0, dropped = 0;
        for (i64 b = 0; b < batch; ++b) {
            std::vector<i64> count(experts);
            for (i64 t = b * length; t < (b + 1) * length; ++t) {
                double sum = 0;
                for (i64 e = 0; e < experts; ++e) sum += std::exp(logits[static_cast<size_t>(t * experts + e)]);
                for (i64 e = 0; e < experts; ++e)
                    likely[static_cast<size_t>(e)] += std::exp(logits[static_cast<size_t>(t * experts + e)]) / sum;
                z += std::log(sum) * std::log(sum);
                for (i64 c = 0; c < chosen; ++c)
                    ++count[static_cast<size_t>(expert[static_cast<size_t>(t * chosen + c)])];
            }
            const i64 limit = std::string(by) == "exchanged" ? room : capacity; // a group is one expert here
            for (size_t e = 0; e < count.size(); ++e) {
                load[e] += static_cast<double>(count[e]);
                dropped += static_cast<double>(std::max<i64>(0, count[e] - limit));
            }
        }
        double balance = 0;
        for (size_t e = 0; e < load.size(); ++e)
            balance += experts * load[e] / (batch * length) * likely[e] / (batch * length);
        CHECK(results.at("balance").values[0] == doctest::Approx(balance));
        CHECK(results.at("z").values[0] == doctest::Approx(z / (batch * length)));
        CHECK(dropped > 0);
        CHECK(results.at("dropped").values[0] == dropped);
    }
}

TEST_CASE("experts train alike on one device and on meshes, however tokens reach them") {
    for (const char* by : {"with_capacity", "dropless", "exchanged"})
        for (const std::string& layout :
             {apart, std::string("mesh: {data: 2, expert: 4}\nrules: [{batch: data}, {experts: expert}]\nfsdp: {axis: "
                                 "data, min_size: 1}\n")}) {
            CAPTURE(by);
            CAPTURE(layout);
            ProofOptions options;
            options.mode = "train";
            options.steps = 2;
            CHECK(fmt::format("{}", fmt::join(prove(model(by, 10, 12), layout, options), "; ")) == "");
        }
}

TEST_CASE(
    "tokens of the capacity form travel by two all_to_alls forward and two backward, of f T k d (e - 1) / e numbers") {
    // Experts large enough that tokens travel.
    const auto all_to_alls = [](const std::string& mode) {
        std::string text = model("with_capacity", 10, 12);
        text.replace(text.find("expert_mlp: 12"), 14, "expert_mlp: 4096");
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add("model.yaml", text);
        request.layout_file = sources.add("layout.yaml", apart);
        request.mode = mode;
        const Compilation compilation = compile(sources, request);
        REQUIRE(compilation.plan);
        // 10 places of each expert are 1.25 times 2 of 16 tokens of 4 experts; a device has one sequence.
        const i64 bytes = 4 * 5 * (batch / 8 * length) * chosen * embed / 4 * 3 / 4;
        i64 count = 0;
        for (const CollectiveReport& collective : compilation.plan->report.collectives)
            if (collective.kind == "all_to_all" && collective.wire_bytes_per_device == bytes * collective.count)
                count += collective.count;
            else if (collective.kind == "all_to_all")
                count = 1000; // of other bytes
        return count;
    };
    CHECK(all_to_alls("forward") == 2);
    CHECK(all_to_alls("train") == 4);
}

TEST_CASE("a train step moves DeepSeek's balance up for experts that are chosen less often than the mean") {
    const std::string text = R"(model: balanced
include: deepseek
axes: {batch: 8, length: 8, embed: 8, experts: 8, expert_mlp: 4, capacity: 8}
inputs: {x: {axes: [batch, length, embed]}}
graph:
  - y: {deepseek_moe: x, chosen: 2, groups: 4, chosen_groups: 2, std: 1.0, speed: 0.125, name: moe}
outputs: [y]
train:
  targets: {t: {axes: [batch, length, embed]}}
  loss: {mse: [y, t]}
  optimizer: {sgd: {learning_rate: 0.1}}
)";
    for (const char* layout : {"mesh: {data: 2, expert: 4}\nrules: [{batch: [data, expert]}, {experts: expert}]\n",
                               "mesh: {data: 4}\nrules: [{batch: data}]\n"}) {
        ProofOptions options;
        options.mode = "train";
        options.steps = 3;
        CHECK(fmt::format("{}", fmt::join(prove(text, layout, options), "; ")) == "");
    }
}

} // namespace shard
