// Traces of predicted and of executed steps: every step of the plan is there, as often as it runs, and slices lie
// inside or beside each other.
#include "cli/command/command.h"
#include "tests/support/layered_model.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace shard {
namespace {

using nlohmann::json;

struct Trace {
    std::string line;
    std::string said;
    json events;
};

Trace trace_of(const std::string& line) {
    MemoryFiles files;
    files.files["model.yaml"] = layered_model(true);
    files.files["layout.yaml"] = layered_layout;
    const CommandResult result = run_command(files, line);
    CHECK_MESSAGE(result.code == 0, result.err);
    return {line, result.err, json::parse(files.files.at("trace.json")).at("traceEvents")};
}

std::vector<json> slices_of(const Trace& trace, int process, int track) {
    std::vector<json> slices;
    for (const json& event : trace.events)
        if (event.at("ph") == "X" && event.at("pid") == process && event.at("tid") == track) slices.push_back(event);
    return slices;
}

double begin_of(const json& slice) { return slice.at("ts").get<double>(); }
double end_of(const json& slice) { return begin_of(slice) + slice.at("dur").get<double>(); }

// Up to the rounding of begin and length.
void check_nested(const std::vector<json>& slices) {
    constexpr double slack = 0.002;
    std::vector<const json*> open;
    for (const json& slice : slices) {
        while (!open.empty() && end_of(*open.back()) <= begin_of(slice) + slack) open.pop_back();
        if (!open.empty()) CHECK_MESSAGE(end_of(slice) <= end_of(*open.back()) + slack, slice.dump());
        open.push_back(&slice);
    }
}

i64 count_of(const std::vector<json>& slices, const std::string& category) {
    return std::count_if(slices.begin(), slices.end(), [&](const json& slice) { return slice.at("cat") == category; });
}

} // namespace

TEST_CASE("a predicted trace ends with the step, and shows a trip of a loop inside it") {
    const Trace trace = trace_of("plan model.yaml layout.yaml --trace trace.json");
    const std::vector<json> computes = slices_of(trace, 0, 1), links = slices_of(trace, 0, 2);
    check_nested(computes);
    REQUIRE(count_of(computes, "loop") == 1);
    CHECK(count_of(computes, "compute") >= 2);
    REQUIRE(links.size() == 1);
    CHECK(links[0].at("name") == "all_reduce of block.y over model");
    CHECK(links[0].at("args").at("source") == "model.yaml:11");
    for (const json& slice : computes)
        if (slice.at("cat") == "compute" && slice.at("args").at("op") == "dot")
            CHECK(slice.at("args").at("flops") == 2 * 4 * 16 * 16);
    for (const json& event : trace.events) CHECK(event.at("pid") == 0);
}

TEST_CASE("modules of modules are slices in slices") {
    MemoryFiles files;
    files.files["model.yaml"] = R"(model: nested
axes: {batch: 8, embed: 16}
inputs: {x: {axes: [batch, embed], init: ones}}
modules:
  dense:
    inputs: [x]
    params: {w: {shape: [16, 16], init: ones}}
    graph: [{a: {dot: [x, w]}}, {s: {reduce_sum: a, dim: batch}}, {y: {add: [a, s]}}]
    outputs: [y]
  block:
    inputs: [x]
    graph: [{up: {dense: x}}, {down: {dense: up}}]
    outputs: [down]
graph: [{first: {block: x}}, {second: {block: first}}]
outputs: [second]
)";
    files.files["layout.yaml"] = "mesh: {data: 2}\n";
    const CommandResult result = run_command(files, "plan model.yaml layout.yaml --trace trace.json");
    REQUIRE_MESSAGE(result.code == 0, result.err);
    const Trace trace{"", "", json::parse(files.files.at("trace.json")).at("traceEvents")};
    const std::vector<json> slices = slices_of(trace, 0, 1);
    check_nested(slices);
    std::vector<std::string> modules;
    for (const json& slice : slices)
        if (slice.at("cat") == "module") modules.push_back(slice.at("name"));
    CHECK(modules == std::vector<std::string>{"block", "block.dense", "block.dense_2", "block_2", "block_2.dense",
                                              "block_2.dense_2"});
}

TEST_CASE("a trace of a run has a process for each device, every trip, and the prediction beside it") {
    const Trace trace = trace_of("run model.yaml layout.yaml --trace trace.json");
    CHECK(trace.said.find("wrote trace.json") != std::string::npos);
    const i64 in_a_trip = count_of(slices_of(trace, 0, 1), "compute") - 1; // what the loop begins with is copied
    for (int process = 1; process <= 4; ++process) {
        const std::vector<json> computes = slices_of(trace, process, 1);
        check_nested(computes);
        CHECK(count_of(computes, "loop") == 1);
        CHECK(count_of(computes, "module") == 3); // the block of each trip
        CHECK(count_of(computes, "compute") == 3 * in_a_trip + 1);
        CHECK(count_of(computes, "wait") == 3);
        i64 flights = 0;
        double most = 0;
        for (const json& event : trace.events) {
            if (event.at("pid") != process) continue;
            flights += event.at("ph") == "b";
            if (event.at("ph") != "C") continue;
            double sum = 0;
            for (const json& bytes : event.at("args")) sum += bytes.get<double>();
            most = std::max(most, sum);
        }
        CHECK(flights == 3);
        CHECK(most > 0);
    }
}

TEST_CASE("a trace of more events than anybody reads is refused before the run") {
    MemoryFiles files;
    std::string model = layered_model(true);
    model.replace(model.find("times: 3"), 8, "times: 400000");
    files.files["model.yaml"] = model;
    files.files["layout.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}]\n";
    const CommandResult result = run_command(files, "run model.yaml layout.yaml --trace trace.json");
    CHECK(result.code == 2);
    CHECK_MESSAGE(result.err.find("E0609") != std::string::npos, result.err);
    CHECK_FALSE(files.files.contains("trace.json"));
}

} // namespace shard
