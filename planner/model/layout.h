// A layout file, read and checked for form, with the mesh resolved.
#pragma once

#include "planner/model/declarations.h"
#include "planner/model/partitioner.h"
#include "planner/model/policy.h"
#include "planner/model/prefer.h"
#include "planner/model/sequence_way.h"
#include "plans/sharding/mesh.h"

namespace shard {

enum class RuleSemantics { linen, nnx };  // how rules are read: planner/seed/rules_linen.h, rules_nnx.h
enum class MissingAxes { error, ignore }; // what becomes of rules that name an axis the mesh lacks
// What becomes of axes that do not divide their dim: an error, the last ones are left out, or the dim is padded.
enum class Divisibility { error, drop, pad };

// A sharding override by path glob: `params: {"block.*.w1": [~, model]}`. `*` stops at dots, `**` does not. The last
// match wins.
struct Override {
    std::string glob;
    ShardingSpec spec;
    Span span; // of the glob
};

// Whether a parameter that fsdp splits is gathered though it is large, and how often: once, or for each pass.
enum class GatherParameters { always, if_faster };
enum class GatherAgain { yes, no, if_faster };

// `fsdp: {axis: data, min_size: 262144}`: every parameter of at least min_size elements is split over the axis, or over
// several together, along its largest dim that divides and is free.
struct FsdpDecl {
    std::vector<Name> axes; // outer first
    i64 min_size = 262144;
    bool prefetch = true; // a gather may begin before its reader waits for it (planner/optimize/overlap.h)
    GatherParameters gather = GatherParameters::always; // also those that are larger than what they meet
    GatherAgain gather_again = GatherAgain::yes;
    Span span;
};

// `divisibility: pad`, or by logical axis: `divisibility: {vocab: pad, default: error}`.
struct DivisibilityDecl {
    Divisibility otherwise = Divisibility::error;
    std::vector<std::pair<std::string, Divisibility>> by_axis;
    Divisibility of(std::string_view logical) const {
        for (const auto& [axis, choice] : by_axis)
            if (axis == logical) return choice;
        return otherwise;
    }
};

// `attention: ring`, or by the path of the result: `attention: {"block.*.o": ring}`; the last match wins. nullopt: the best.
struct AttentionDecl {
    struct Wish {
        std::string glob;
        std::optional<SequenceWay> way;
        Span span;
        bool is_for_all = false; // no path is written
    };
    std::vector<Wish> wishes;
};

struct Layout {
    std::string name; // the file's stem, for side-by-side reports
    Mesh mesh;
    std::vector<Span> mesh_spans; // per axis
    std::vector<AxisRule> rules;
    RuleSemantics semantics = RuleSemantics::linen;
    bool semantics_written = false; // in the file: the writer knows that there are two
    MissingAxes missing_axes = MissingAxes::error;
    DivisibilityDecl divisibility;
    Partitioner partitioner = Partitioner::shardc;
    Prefer prefer = Prefer::time;  // by which ways to compute and to partition are chosen
    AttentionDecl attention;       // how it comes to keys that other devices hold
    bool sequence_parallel = true; // where it is faster (planner/partition/spread.h)
    std::vector<Override> inputs, params, values, outputs;
    std::vector<Override> states, gradients; // by the path of the state ("w1.mu") and of the parameter
    std::optional<FsdpDecl> fsdp;
    std::string hardware = "uniform"; // a built-in profile or a path relative to the layout file
    Span hardware_span;
    PolicyDecl policy;
};

} // namespace shard
