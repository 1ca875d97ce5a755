// The report of a plan: the figures that people read and CI compares. The JSON report is this struct with these names.
// Byte figures are per device unless the name says total; `source` is where in the user's files a thing comes from.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/sharding/sharding.h"

namespace shard {

// What a value is to the user: as declared, or what training makes of it.
// A variable is no parameter: steps update it without a gradient. A state belongs to a parameter, or counts steps.
enum class Role { input, param, variable, state, gradient, value, output };
std::string_view name(Role role); // as in plan files: "param"
std::optional<Role> parse_role(std::string_view text);

struct SourceRef {
    std::string file;
    int line = 0, column = 0;
    bool operator==(const SourceRef&) const = default;
};

struct TensorReport {
    std::string name;
    Role role = Role::value;
    DType dtype = DType::f32;
    Shape shape;
    std::vector<std::string> logical;
    Sharding sharding;
    Shape local_shape;
    i64 bytes_per_device = 0;
    SourceRef source;
    bool operator==(const TensorReport&) const = default;
};

// A kind of link that a collective crosses: 8 devices of a node, then 4 nodes over the network.
struct LinkUse {
    std::string link; // as the hardware profile calls it
    i64 devices = 1;  // or nodes, pods: what the links inside connect
    bool operator==(const LinkUse&) const = default;
};

struct CollectiveReport {
    std::string kind;
    std::vector<AxisRef> axes;
    std::string reduce; // "sum", ... or empty
    int dim = -1;       // the dim gathered, scattered or left; -1 if none
    std::string tensor; // the value it is for
    std::string op;     // name of the op whose operand or result it is
    i64 count = 1;      // executions; bytes and seconds include it
    i64 wire_bytes_per_device = 0;
    i64 wire_bytes_total = 0;
    double seconds = 0;
    std::vector<LinkUse> links; // from inner to outer
    std::string cause;          // why it is there, one sentence
    std::string remedy;         // what would remove it; may be empty
    SourceRef source;
    bool operator==(const CollectiveReport&) const = default;
};

// Bytes of a device: what is alive where the most bytes are, by what it is for, and the arena that this needs.
// What holds bytes where the most are alive: a value, an array, or what a kernel needs meanwhile.
struct AtPeak {
    std::string name; // "w1", "scratch of dot"
    std::string kind; // "params", "activations", ...: a field of MemoryReport
    i64 bytes = 0;
    SourceRef source;
    bool operator==(const AtPeak&) const = default;
};

struct MemoryReport {
    i64 params = 0, optimizer_state = 0, gradients = 0, activations = 0, temporaries = 0;
    i64 inputs = 0;
    i64 peak = 0;
    i64 capacity = 0;                     // of a device of the hardware profile; 0 = not known
    i64 host_peak = 0, host_capacity = 0; // the same of the host's memory, a device's share of it
    std::vector<AtPeak> largest = {};     // at the peak, the largest first; at most a dozen
    i64 others = 0;                       // how many more there are
    bool operator==(const MemoryReport&) const = default;
};

// Of one step of one device. Exposed is the communication that it waits for while nothing is computed. Copies to the
// host's memory and back are waited for.
struct TimeReport {
    double compute_seconds = 0, communication_seconds = 0, exposed_communication_seconds = 0, step_seconds = 0;
    double host_seconds = 0;
    double launch_seconds = 0; // of compute_seconds what passes before kernels begin
    bool operator==(const TimeReport&) const = default;
};

struct Report {
    std::string model, mode, hardware;
    std::vector<TensorReport> tensors;
    std::vector<CollectiveReport> collectives;
    i64 flops_per_device = 0;
    double compute_seconds = 0;
    // FLOP/s of the profile in the type that most FLOPs of products are of, and which that is; 0: it says none.
    double peak_flops = 0;
    std::string peak_dtype = {};
    MemoryReport memory;
    TimeReport time;
    std::vector<Diagnostic> diagnostics; // warnings and findings
    bool operator==(const Report&) const = default;
};

} // namespace shard
