#include "cli/trace/trace_file.h"

#include "plans/json/json_text.h"

#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

// To the nanosecond: finer than clocks are, and no digits of noise. Lengths are of rounded times, so that what ends as
// another begins does not reach into it.
i64 nanos(double seconds) { return std::llround(seconds * 1e9); }
std::string micros(i64 nanos) { return fmt::format("{}.{:03}", nanos / 1000, nanos % 1000); }
std::string micros(double seconds) { return micros(nanos(seconds)); }

JsonObject event(std::string_view phase, int process) {
    JsonObject object;
    object.string("ph", phase).integer("pid", process);
    return object;
}

std::string naming(std::string_view what, JsonObject object, std::string_view name) {
    return object.string("name", what).raw("args", JsonObject().string("name", name).text()).text();
}

} // namespace

void TraceFile::name_process(int process, std::string_view name) {
    events_.push_back(naming("process_name", event("M", process), name));
}

void TraceFile::name_track(TraceTrack track, std::string_view name) {
    events_.push_back(naming("thread_name", event("M", track.process).integer("tid", track.track), name));
}

void TraceFile::add(TraceTrack track, const TraceSlice& slice) {
    JsonObject object = event("X", track.process);
    object.integer("tid", track.track).string("name", slice.name).string("cat", slice.category);
    object.raw("ts", micros(slice.begin)).raw("dur", micros(nanos(slice.end) - nanos(slice.begin)));
    if (!slice.details.empty()) object.raw("args", slice.details);
    events_.push_back(object.text());
}

void TraceFile::add_flight(int process, int id, const TraceSlice& slice) {
    for (const std::string_view phase : {"b", "e"}) {
        JsonObject object = event(phase, process);
        object.integer("tid", 0).raw("id2", JsonObject().string("local", fmt::format("{}", id)).text());
        object.string("name", slice.name).string("cat", slice.category);
        object.raw("ts", micros(phase == "b" ? slice.begin : slice.end));
        if (phase == "b" && !slice.details.empty()) object.raw("args", slice.details);
        events_.push_back(object.text());
    }
}

void TraceFile::add_counter(int process, std::string_view name, double time, std::string_view values) {
    events_.push_back(
        event("C", process).integer("tid", 0).string("name", name).raw("ts", micros(time)).raw("args", values).text());
}

std::string TraceFile::text() const {
    return fmt::format("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": {}}}\n", json_lines(events_, 2));
}

} // namespace shard
