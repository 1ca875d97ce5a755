// Everything that `explain` says of one tensor, as data: why every axis is on it, why a dim is whole, which collectives
// are for it, in what other ways its op could be computed, and what would make the collectives go.
#pragma once

#include "planner/explain/experiments.h"
#include "planner/pipeline/attention_ways.h"
#include "planner/redistribute/redistribute.h"

namespace shard {

// One step of the way back from an axis to the line that asked for it; the last one is not a propagation.
struct Because {
    Decision::Cause cause = Decision::Cause::rule;
    std::string words;         // "from h through dot"
    std::string from, through; // the value and the op, of a propagation
    SourceRef source;
    std::string excerpt; // the line that asked, as it is written; empty for a propagation
};
struct AxisReason {
    AxisRef axis;
    std::vector<Because> chain;
};
struct DimReason {
    std::string name; // "dim 0 batch"
    std::vector<AxisReason> axes;
    std::string whole;             // why it carries no axis, if it does not
    std::vector<std::string> lost; // axes that neighbours have here and it does not, and to what they were lost
};

// A redistribution that the plan has: the ways from one sharding to another, the chosen one first.
struct WaysThere {
    Sharding from, to;
    std::vector<Redistribution> ways;
};

// One way to compute the op that makes a tensor, with the cost of bringing its operands there and its result back.
struct ComputeWay {
    std::string is; // "chosen"; of the others what speaks for them: "fewest bytes", "least computation"
    std::vector<std::pair<std::string, Sharding>> operands;
    Sharding makes;
    double seconds = 0;
    i64 wire_bytes_total = 0, flops_per_device = 0;
};

struct Explanation {
    const TensorReport* tensor = nullptr;
    std::vector<const TensorReport*> alike; // what is explained in the same words, with it; empty: nothing else is
    std::vector<DimReason> dims;
    std::string rules_not_used;
    std::string op;                   // that makes it; empty for inputs and constraints
    std::vector<ComputeWay> computed; // the chosen way, then those it was preferred to although they send or do less
    std::vector<AttentionWays::Way> attention; // of attention whose sequence is split: all ways to the keys
    SequenceWay attention_goes = SequenceWay::gather;
    bool attention_is_asked_for = false; // by the layout
    std::vector<CollectiveReport> collectives;
    // Of a tensor without: "all_gather of w1". For operands of its op; for what is made of it alone, such as its cast or
    // one layer of it.
    std::vector<std::string> for_operands, for_made_of_it;
    std::vector<WaysThere> ways;
    Experiment as_it_is;
    std::vector<Experiment> remedies; // planner/explain/tensor_remedies.h
    size_t tried = 0, possible = 0;   // changes that might be remedies
};

// "all_gather over data (dim 0)", "slice over model"
std::vector<std::string> step_words(const Mesh& mesh, const Redistribution& way);

// What is known without planning again: no remedies. `tensor` is a row of the compilation's report, and the sources are
// those it was made of.
Explanation explain_as_planned(const Compilation& compilation, const Sources& sources, const TensorReport& tensor);

} // namespace shard
