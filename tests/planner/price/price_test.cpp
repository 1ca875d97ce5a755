#include "planner/partition/local.h"
#include "planner/price/judge.h"
#include "planner/price/price.h"
#include "planner/read/policy_reader.h"
#include "plans/file/report_json.h"
#include "tests/support/local_graph.h"
#include "tests/support/read_graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

using namespace shard;

namespace {

Hardware simple_hardware() {
    Hardware hardware;
    hardware.name = "simple";
    hardware.flops = {{"f32", 1e6}};
    hardware.links = {{"link", Link::Topology::uniform, 1e3, 0, false, 0}};
    return hardware;
}

// The guides' DotReluDot forward on data 2, model 4, as local steps.
const std::string dot_relu_dot = R"(local graph on {data: 2, model: 4}
input   x: f32 (4, 1024) of (8, 1024) [data | -] = 1
param   w1: f32 (1024, 256) of (1024, 1024) [- | model] = 1
param   w2: f32 (256, 1024) of (1024, 1024) [model | -] = 1
h: f32 (4, 256) of (8, 1024) [data | model] = dot x, w1
a: f32 (4, 256) of (8, 1024) [data | model] = tanh h
z.partial: f32 (4, 1024) of (8, 1024) [data | -] U{model} = dot a, w2
z: f32 (4, 1024) of (8, 1024) [data | -] = all_reduce over model of z.partial
output  z
)";

// The graph of whole values that a hand-made local graph stands for: its values, but for those in `between`.
Graph whole_graph(Local& local, const std::vector<std::string>& between, Propagation& propagation) {
    Graph graph;
    for (ValueId id = 0; id < static_cast<ValueId>(local.graph.values.size()); ++id) {
        const Value& value = local.graph.value(id);
        if (std::find(between.begin(), between.end(), value.name) != between.end()) continue;
        Value whole = value;
        whole.type.shape = value.part->global_shape;
        if (std::find(local.graph.outputs.begin(), local.graph.outputs.end(), id) != local.graph.outputs.end())
            graph.outputs.push_back(static_cast<ValueId>(graph.values.size()));
        graph.values.push_back(whole);
        propagation.values.push_back(value.part->sharding);
        local.value_of.push_back(id);
    }
    return graph;
}

Plan priced(const std::string& text, const std::vector<std::string>& between, const Hardware& hardware) {
    const GraphState state = read_graph(text);
    Local local{state.graph, {}};
    Propagation propagation;
    const Graph graph = whole_graph(local, between, propagation);
    ScheduleMap map;
    Plan plan = schedule(local, state.mesh, {}, &map);
    price(plan, graph, local, map, propagation, hardware, {});
    return plan;
}

} // namespace

TEST_CASE("price: DotReluDot moves 24576 bytes per device in one all_reduce") {
    const Report report = priced(dot_relu_dot, {"z.partial"}, simple_hardware()).report;
    REQUIRE(report.collectives.size() == 1);
    const CollectiveReport& c = report.collectives[0];
    CHECK(c.kind == "all_reduce");
    CHECK(c.reduce == "sum");
    CHECK(c.dim == -1);
    CHECK(c.tensor == "z");
    CHECK(c.wire_bytes_per_device == 24576); // 2 * 3/4 of 4 x 1024 f32
    CHECK(c.wire_bytes_total == 8 * 24576);
    // Two dots of 2*4*1024*256 and one operation per element of a.
    CHECK(report.flops_per_device == 2 * 2 * 4 * 1024 * 256 + 4 * 256);
    CHECK(report.tensors.size() == 6);
    CHECK(report.tensors[1].name == "w1");
    CHECK(report.tensors[1].shape == Shape{1024, 1024});
    CHECK(report.tensors[1].local_shape == Shape{1024, 256});
    CHECK(report.tensors[1].bytes_per_device == 1024 * 256 * 4);
    CHECK(report.tensors[5].role == Role::output);
}

TEST_CASE("price: memory by role where most is alive") {
    const MemoryReport memory = priced(dot_relu_dot, {"z.partial"}, simple_hardware()).report.memory;
    CHECK(memory.params == 2 * 1024 * 256 * 4);
    CHECK(memory.inputs == 4 * 1024 * 4);
    // During the second dot: a (activation), and the partial sum of z (temporary), in whose bytes it is reduced.
    CHECK(memory.activations == 4 * 256 * 4);
    CHECK(memory.temporaries == 4 * 1024 * 4);
    CHECK(memory.peak >= memory.params + memory.inputs + memory.activations + memory.temporaries);
}

TEST_CASE("price: computation between a start and its wait hides the collective") {
    // A uniform link of 1000 bytes/s; all_reduce of 64 f32 over 2 devices: 2 * 1/2 * 256 bytes = 0.256 s. One neg of 64
    // elements: 64 us.
    const auto time = [](bool between, bool overlaps = true) {
        Hardware hardware = simple_hardware();
        hardware.overlaps = overlaps;
        std::string text = "local graph on {m: 2}\ninput   x: f32 (64) [-] = 1\n"
                           "sum: f32 (64) [-] = all_reduce over m of x\n";
        std::string last = "x";
        for (int i = 0; between && i < 1000; ++i) {
            const std::string next = fmt::format("a{}", i);
            text += fmt::format("{}: f32 (64) [-] = neg {}\n", next, last);
            last = next;
        }
        text += fmt::format("out: f32 (64) [-] = add sum, {}\noutput  out\n", last);
        return priced(text, {}, hardware).report.time;
    };
    CHECK(time(false).communication_seconds == doctest::Approx(0.256));
    CHECK(time(false).exposed_communication_seconds == doctest::Approx(0.256));
    CHECK(time(false).step_seconds == doctest::Approx(0.256 + 64e-6));
    CHECK(time(true).communication_seconds == doctest::Approx(0.256));
    CHECK(time(true).compute_seconds == doctest::Approx(1001 * 64e-6));
    CHECK(time(true).exposed_communication_seconds == doctest::Approx(0.256 - 1000 * 64e-6));
    CHECK(time(true).step_seconds == doctest::Approx(0.256 + 64e-6));
    // What sends computes nothing meanwhile.
    CHECK(time(true, false).exposed_communication_seconds == doctest::Approx(0.256));
    CHECK(time(true, false).step_seconds == doctest::Approx(0.256 + 1001 * 64e-6));
    CHECK(time(false, false).step_seconds == doctest::Approx(0.256 + 64e-6));
}

TEST_CASE("price: the JSON report has the agreed names") {
    Plan plan = priced(dot_relu_dot, {"z.partial"}, simple_hardware());
    plan.tool = "shardc 0.1.0";
    plan.model = "dot_relu_dot";
    plan.mode = "forward";
    const std::string text = print_report(plan);
    CHECK(text.starts_with("{\n  \"format_version\": 1,\n  \"tool\": \"shardc 0.1.0\",\n  \"model\": "
                           "\"dot_relu_dot\",\n  \"mode\": \"forward\",\n"
                           "  \"mesh\": {\"axes\": [{\"name\": \"data\", \"size\": 2}, {\"name\": \"model\", \"size\": "
                           "4}], \"devices\": 8},\n"));
    CHECK(text.find("{\"name\": \"w1\", \"role\": \"param\", \"dtype\": \"f32\", \"shape\": [1024, 1024], \"logical\": "
                    "[\"\", \"\"], "
                    "\"sharding\": \"[- | model]\", \"spec\": [null, \"model\"], \"local_shape\": [1024, 256], "
                    "\"bytes_per_device\": 1048576, \"source\": null}") != std::string::npos);
    CHECK(text.find("{\"kind\": \"all_reduce\", \"axes\": [\"model\"], \"reduce\": \"sum\", \"dim\": null, \"tensor\": "
                    "\"z\"") != std::string::npos);
    CHECK(text.find("\"compute\": {\"flops_per_device\": 4195328, \"seconds\": ") != std::string::npos);
}

TEST_CASE("judge: a finding says the figure, the limit and what contributes most") {
    const Plan plan = priced(dot_relu_dot, {"z.partial"}, simple_hardware());
    const auto found = [&plan](const std::string& text) {
        Sources sources;
        Diagnostics findings;
        const std::optional<PolicyDecl> policy = read_policy(sources, sources.add("policy.yaml", text), findings);
        REQUIRE(policy.has_value());
        judge(plan, *policy, findings);
        return findings;
    };
    const Diagnostics fine = found(fmt::format("max_memory_per_device: {}\n"
                                               "max_wire_bytes_per_device: 24576\n"
                                               "max_collectives: 1\n"
                                               "forbid_collectives: [all_gather]\n"
                                               "max_replicated_param_bytes: 0\n",
                                               plan.report.memory.peak));
    CHECK(words(fine) == std::vector<std::string>{});

    const Diagnostics findings = found("max_memory_per_device: 1 MiB\n"
                                       "max_wire_bytes_per_device: 24575\n"
                                       "max_collectives: 0\n"
                                       "forbid_collectives: [all_reduce]\n"
                                       "max_step_seconds: 1\n");
    const std::vector<std::string> said = words(findings);
    REQUIRE(said.size() == 5);
    CHECK(said[0] == "P0101 peak memory is 2.04 MiB (2,134,016 B) per device, the limit is 1.00 MiB (1,048,576 B)");
    CHECK(said[1] == "P0102 a device sends 24.0 KiB (24,576 B), the limit is 24.0 KiB (24,575 B)");
    CHECK(said[2] == "P0103 the plan executes 1 collective, the limit is 0");
    CHECK(said[3] == "P0104 all_reduce is forbidden, the plan has 1");
    CHECK(said[4] == "P0106 a step takes 28.8 s on simple, the limit is 1.00 s");
    CHECK(findings.all()[0].notes[0] == "w1: 1.00 MiB (1,048,576 B) of f32 (1024, 1024) [- | model]");
    CHECK(findings.all()[1].notes[0] == "all_reduce over model of z: 24.0 KiB (24,576 B)");
    for (const Diagnostic& diagnostic : findings.all()) CHECK(diagnostic.finding);
    CHECK(findings.all()[3].labels[0].span == Span{0, 4, 22, 10}); // the kind that is forbidden
    CHECK_FALSE(findings.has_error());
}
