// A plan as the graph of what a device does, before it is said whose peers are whose: every trip of every loop is
// written out.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/plan/plan.h"

#include <cstdint>

namespace shard {

struct TraceNode {
    enum class Kind { compute, collective, send, receive }; // a permutation is a send and a receive
    Kind kind = Kind::compute;
    std::string name;                    // the op and the value that it makes, with the trips of the loops around it
    std::vector<std::uint64_t> operands; // nodes that wrote what is read
    std::vector<std::uint64_t> before;   // others that have ended when it begins: a device does one step after another
    i64 flops = 0, bytes = 0;     // compute: FLOPs, and what is read and written; otherwise what a device gives in
    const Start* start = nullptr; // of a collective
    size_t group = 0;             // of Trace::groups
    SourceRef source;
};

struct Trace {
    static constexpr std::uint64_t first_id = 1; // of nodes[0], and on in their order
    std::vector<TraceNode> nodes;
    std::vector<std::vector<AxisRef>> groups; // axes over which collectives go
};

// nullopt and E0509 beyond `most_nodes` of a device, trips of loops in which nothing is done counted too, or beyond
// `most_devices`, of which each has a file.
std::optional<Trace> trace_of(const Plan& plan, Diagnostics& diagnostics);

inline constexpr size_t most_nodes = 4'000'000;
inline constexpr i64 most_devices = 1 << 16;

} // namespace shard
