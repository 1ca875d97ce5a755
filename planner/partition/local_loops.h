// Loops of the local graph. They only carry; sums and stacks are written out:
//
//     zeros                                             before the loop
//     so_far -> so_far + term                           a sum: carried, of the term's own sharding, so that partial
//                                                       sums are reduced once, after the last trip
//     so_far -> so_far with the slice at the index      a stack: carried, and overwritten where it lies
#pragma once

#include "planner/partition/local.h"
#include "planner/partition/local_builder.h"

namespace shard {

class LocalLoop {
public:
    // Inits are local values in the arguments' shardings; stacks have those of their results. What is added to the
    // builder from here on stands in the loop.
    LocalLoop(Local& local, LocalBuilder& builder, const Graph& graph, int loop, std::vector<ValueId> inits,
              std::span<const Sharding> shardings);

    ValueId argument(size_t n) const { return arguments_[n]; }
    // Adds a term to sum n where it is made, so that it need not live until the end of the trip.
    void add(size_t n, ValueId term);

    // Results in the shardings of what is handed over: local yields, terms (partial ones too) and slices, which are
    // sharded as the stack behind its first dim. `keeps`, by result of the marker: whether that is the form that is
    // kept.
    std::vector<ValueId> close(std::vector<ValueId> yields, const std::vector<ValueId>& terms,
                               const std::vector<ValueId>& slices, const std::vector<bool>& keeps);

private:
    ValueId zeros(ValueId global, Sharding sharding);
    ValueId op(std::string_view name, std::vector<ValueId> inputs, ValueId global, Sharding made,
               const Attributes& attributes, std::string_view suffix);
    void become(ValueId id, Sharding sharding);

    Local& local_;
    LocalBuilder& builder_;
    const Graph& graph_;
    const int loop_;
    std::vector<ValueId> inits_, arguments_; // of what is carried, the sums, the stacks
    std::vector<ValueId> summed_;            // by sum; -1: not yet
};

// A stack that is added up over the trips of the loop around may be stacked as the partial sums that its entries are
// (`pending`), if nobody wants them reduced before. `kept`: the stack's sharding where it is kept reduced.
bool may_stack_partial(const Graph& graph, const GraphLoop& loop, const GraphLoop::Stack& stack,
                       const Sharding& pending, const Sharding& kept);

} // namespace shard
