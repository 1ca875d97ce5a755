// A trace as Perfetto (ui.perfetto.dev) and chrome://tracing open it: the Trace Event Format in JSON, after "Trace Event
// Format" by Google. A process is a group of tracks; times are seconds, written as microseconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

struct TraceTrack {
    int process = 0, track = 0;
};

struct TraceSlice {
    std::string name;
    std::string_view category;
    double begin = 0, end = 0;
    std::string details; // a JSON object; empty for none
};

class TraceFile {
public:
    void name_process(int process, std::string_view name);
    void name_track(TraceTrack track, std::string_view name);
    // Slices of one track lie inside or beside each other; an outer one is added before those inside it.
    void add(TraceTrack track, const TraceSlice& slice);
    // What may overlap others of its process: each in a row of its own while it lasts.
    void add_flight(int process, int id, const TraceSlice& slice);
    // From here on the series of a chart have these values: a JSON object of numbers.
    void add_counter(int process, std::string_view name, double time, std::string_view values);

    std::string text() const;

private:
    std::vector<std::string> events_;
};

} // namespace shard
