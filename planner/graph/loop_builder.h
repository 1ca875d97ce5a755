// Writes a loop into a graph that is being built: what is emitted between `open` and `close` is its body.
//
//     LoopBuilder loop(builder, {.trips = 4, .scope = "block"}, {x});
//     const ValueId w = loop.entry(stack);                      // w of this trip
//     const ValueId y = *builder.emit("dot", {loop.argument(0), w});
//     const LoopBuilder::Results after = loop.close({y}, {}, {});    // after.carried[0]: y of the last trip
#pragma once

#include "planner/graph/builder.h"

#include <functional>

namespace shard {

// The running trip's entry of a value of as many entries along dim 0 as the loop has trips, without that dim.
ValueId entry_of(Builder& builder, int loop, ValueId stack);

class LoopBuilder {
public:
    // `header`: trips, reverse, scope and span. The builder's place names the values. `varying`: per init, the axes
    // over which the argument varies besides those of the init; in manual regions only.
    LoopBuilder(Builder& builder, const GraphLoop& header, std::vector<ValueId> inits,
                const std::vector<std::vector<int>>& varying = {});

    // Goes on in a loop that is open and carries nothing.
    LoopBuilder(Builder& builder, int loop);

    int loop() const { return loop_; }
    ValueId argument(size_t n) const { return arguments_[n]; }
    ValueId entry(ValueId stack) { return entry_of(builder_, loop_, stack); }
    // What `emit` emits stands in front of the loop, in the loop around.
    void in_front(const std::function<void()>& emit);
    // Every trips-th row along the dim, from the index on: what is left of the dim are size / trips rows.
    ValueId rows(ValueId value, size_t dim);

    struct Results {
        std::vector<ValueId> carried, sums, stacks;
    };
    // `yields`: one per init, of its type, and varying over no more than the argument does. `terms` are summed over the
    // trips, `slices` stacked along a dim in front.
    Results close(std::vector<ValueId> yields, const std::vector<ValueId>& terms, const std::vector<ValueId>& slices,
                  const std::string& stack_axis = "");

private:
    Builder& builder_;
    int loop_ = -1;
    std::vector<ValueId> inits_, arguments_;
};

} // namespace shard
