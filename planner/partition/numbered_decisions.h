// ComputeDecisions, asked in small numbers: what a layer asks that one before it has asked costs a lookup, without a word of
// the question being written out.
#pragma once

#include "planner/partition/compute_decisions.h"
#include "planner/partition/graph_facts.h"
#include "planner/propagate/sharding_table.h"

#include <unordered_map>

namespace shard {

struct NumberedDecision {
    const ComputeDecision* decision = nullptr;
    Attributes attributes;  // of a device's part of the op
    Shared<Kernel> kernel;  // the decision's, which all nodes have
    bool exchanges = false; // devices send each other what crosses from block to block (LocalBuilder::exchange)
};

class NumberedDecisions {
public:
    // Which lives longer than this.
    explicit NumberedDecisions(ComputeDecisions& decisions) : decisions_(&decisions) {}

    ComputeDecisions& decisions() { return *decisions_; }

    // By class of the graph; equal classes of several graphs have one number.
    std::vector<int> numbers_of(const GraphFacts& facts);
    int number_of(const Sharding& sharding) { return shardings_.intern(sharding); }
    const Sharding& sharding(int number) const { return shardings_.at(number); }

    // `words`: the query in these numbers. `query()` makes it, and is asked for the first time alone. Valid as long as
    // this lives.
    template<class MakeQuery>
    const NumberedDecision& find(const std::vector<int>& words, const MakeQuery& query) {
        const auto known = known_.find(words);
        return known != known_.end() ? known->second : known_.emplace(words, decide(query())).first->second;
    }

private:
    NumberedDecision decide(const ComputeQuery& query);

    ComputeDecisions* decisions_;
    ShardingTable shardings_;
    // Looked up, never iterated.
    std::unordered_map<std::string, int> classes_;
    std::unordered_map<std::vector<int>, NumberedDecision, NumberedLists::Hash> known_;
};

} // namespace shard
