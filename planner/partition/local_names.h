// What the local graph's values are in the model: which tensor a collective is for, what bytes are kept for.
#pragma once

#include "planner/graph/users.h"
#include "planner/partition/local.h"

namespace shard {

enum class Content {
    copy,     // made on the way: a partial sum, another sharding
    value,    // a value of the model in its own sharding
    gradient, // of a parameter, or what a loop adds up or stacks to one
};

class LocalNames {
public:
    LocalNames(const Graph& graph, const Local& local);

    Content content(ValueId local) const;

    // The value of the model that a collective is for; -1 if there is none. Copies made on the way are not in the
    // model: the value whose copy it is, or the value that it becomes. A gradient stands for its layers and
    // microbatches, and a parameter for what is gathered of it.
    ValueId tensor(const Node& collective) const;
    // Its name, or if there is none that of the copy.
    const std::string& name(const Node& collective) const;

private:
    bool is_home(ValueId local) const { return home_[local] >= 0; }
    ValueId whole(ValueId local) const;
    ValueId before(ValueId local) const;
    ValueId after(ValueId local) const;

    const Graph* graph_;
    const Local* local_;
    Users users_;
    std::vector<ValueId> home_;        // by local value: the model's value that it holds, or -1
    std::vector<ValueId> gradient_;    // by the model's value: the gradient that it is a part of, or -1
    std::vector<bool> holds_gradient_; // by local value
};

} // namespace shard
