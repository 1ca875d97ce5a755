// The plan: the whole contract between deciding and doing. One list of steps for all devices.
#pragma once

#include "plans/base/shared.h"
#include "plans/collective/collective.h"
#include "plans/kernel/kernel.h"
#include "plans/plan/report.h"

namespace shard {

// A named piece of a device's arena, or of the one in its host's memory. Two buffers share bytes only if their lives do
// not overlap or one is an alias of the other. Aliases lead to a *root* (alias_of == -1), whose extent is allocated (by
// the first step that writes it; for inputs from the start) and released. A view shows the contents of what it is a view
// of; any other alias, once written, replaces them.
struct Buffer {
    int id = 0;
    std::string name;
    Role role = Role::value;
    DType dtype = DType::f32;
    Shape global_shape;
    Shape shape; // local
    Sharding sharding;
    Shape unpadded_shape; // what of global_shape is no padding, which lies at the ends; empty: all of it
    i64 offset = 0;       // bytes from the arena's start, a multiple of 64
    i64 bytes = 0;
    int alias_of = -1;    // the buffer whose bytes this one is in
    bool view = false;    // alias: the same live contents (a reshape); otherwise the bytes are reused in place
    bool donated = false; // an input whose bytes an output reuses
    bool on_host = false; // in the host's arena: only moves and fills write it, and only moves read it
    const Shape& real_shape() const { return unpadded_shape.empty() ? global_shape : unpadded_shape; }
    bool operator==(const Buffer&) const = default;
};

struct Compute {
    Shared<Kernel> kernel;
    std::vector<int> inputs;
    int output = -1;
    i64 scratch_offset = 0, scratch_bytes = 0; // alive during this step only
    std::string op;                            // the graph op it comes from, for traces and messages
    SourceRef source;
    bool operator==(const Compute&) const = default;
};

// Begins a collective; the input may not be written and the output not be touched until Wait{token}.
struct Start {
    Collective collective;
    int input = -1, output = -1;
    int token = 0;
    SourceRef source;
    bool operator==(const Start&) const = default;
};
struct Wait {
    int token = 0;
    bool operator==(const Wait&) const = default;
};

// The bytes of a root buffer, and so of all its aliases, are free from here on. Inputs and outputs are never released.
struct Release {
    int buffer = -1;
    bool operator==(const Release&) const = default;
};

struct Step;
struct Loop {
    int index = 0; // id of the loop index, for affine terms
    i64 trips = 1;
    std::vector<Step> body;
    bool operator==(const Loop&) const; // in plan.cpp, where Step is complete
};

// A class of its own, and not a name for the variant, because a Loop holds Steps.
struct Step : std::variant<Compute, Start, Wait, Loop, Release> {
    using variant::variant;
    using Variant = std::variant<Compute, Start, Wait, Loop, Release>;
    const Variant& variant_ref() const { return *this; }
    Variant& variant_ref() { return *this; }
};
inline bool operator==(const Step& a, const Step& b) { return a.variant_ref() == b.variant_ref(); }

// How a plan's input comes to hold its value when no file is given.
struct PlanInput {
    int buffer = -1;
    Generate init;
    // The leading dims hold the layers of blocks that are scanned, outer first: of each, how many words of the name
    // stand before the layer's number where the block is written out. outer.inner.w of [2, 3, 8]: 1, 2.
    std::vector<i64> layers = {};
    bool operator==(const PlanInput&) const = default;
};
struct PlanOutput {
    std::string name;
    int buffer = -1;
    int updates = -1; // the input that the next step reads this value as; then `buffer` is an alias of it
    bool is_update() const { return updates >= 0; }
    bool operator==(const PlanOutput&) const = default;
};

std::string digest_of(std::string_view text); // SHA-1, as 40 hex digits

struct SourceText {
    std::string name;
    std::string text;
    std::string digest; // digest_of(text)
    bool operator==(const SourceText&) const = default;
};

// What dims that axes do not divide cost a device: `bytes` of inputs, parameters and states hold padding, `flops` of a
// step compute it.
struct PaddingCost {
    i64 bytes = 0, flops = 0;
    bool operator==(const PaddingCost&) const = default;
};

struct Plan {
    static constexpr int current_format_version = 1;
    int format_version = current_format_version;
    std::string tool; // "shardc 0.1.0"
    std::string model, mode;
    Mesh mesh;
    std::vector<Buffer> buffers; // buffers[i].id == i
    std::vector<Step> steps;
    std::vector<PlanInput> inputs;
    std::vector<PlanOutput> outputs;
    i64 arena_bytes = 0; // size of every device's arena
    i64 peak_bytes = 0;  // highest end of an extent alive at some step: what the executor's high-water mark must show
    // The same of the arena that every device has in its host's memory: 0 of most plans.
    i64 host_arena_bytes = 0, host_peak_bytes = 0;
    std::vector<SourceText> sources; // model, layout
    Report report;
    PaddingCost padding;
    bool operator==(const Plan&) const = default;
};

// Whether running the plan again goes on from where it was: outputs update inputs.
bool is_step(const Plan& plan);

} // namespace shard
