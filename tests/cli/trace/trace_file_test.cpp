// The JSON of a trace.
#include "cli/trace/trace_file.h"

#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace shard {

TEST_CASE("a trace names tracks, has slices with their details, what overlaps, and charts") {
    TraceFile file;
    file.name_process(1, "device \"0\"\n");
    file.name_track({1, 2}, "links");
    file.add({1, 2}, {"dot of y", "compute", 1e-6, 3.5e-6, R"({"flops": 8})"});
    file.add_flight(1, 7, {"all_gather", "collective", 2e-6, 4e-6, {}});
    file.add_counter(1, "memory", 1e-6, R"({"params": 64})");
    const nlohmann::json events = nlohmann::json::parse(file.text()).at("traceEvents");
    REQUIRE(events.size() == 6);
    CHECK(events[0] == nlohmann::json::parse(
                           R"({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "device \"0\"\n"}})"));
    CHECK(events[1].at("tid") == 2);
    CHECK(events[2] == nlohmann::json::parse(R"({"ph": "X", "pid": 1, "tid": 2, "name": "dot of y", "cat": "compute",
                                                 "ts": 1.0, "dur": 2.5, "args": {"flops": 8}})"));
    CHECK(events[3].at("ph") == "b");
    CHECK(events[4].at("ph") == "e");
    CHECK(events[3].at("id2") == events[4].at("id2"));
    CHECK(events[4].at("ts").get<double>() - events[3].at("ts").get<double>() == 2);
    CHECK(events[5].at("args").at("params") == 64);
}

TEST_CASE("what ends as another begins does not reach into it, however times are rounded") {
    TraceFile file;
    const auto time = [](int i) { return i * 1e-6 / 7 + 1e-10 * (i % 5); };
    constexpr int count = 200;
    for (int i = 0; i < count; ++i) file.add({1, 1}, {"op", "compute", time(i), time(i + 1), {}});
    const nlohmann::json events = nlohmann::json::parse(file.text()).at("traceEvents");
    REQUIRE(events.size() == count);
    const auto nanos = [](const nlohmann::json& micros) { return std::llround(micros.get<double>() * 1000); };
    for (int i = 0; i + 1 < count; ++i)
        CHECK(nanos(events[i].at("ts")) + nanos(events[i].at("dur")) == nanos(events[i + 1].at("ts")));
}

} // namespace shard
