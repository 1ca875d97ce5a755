// Initial values of inputs and parameters: which distribution, under which key.
//
// Without `init`, a floating-point parameter of two dims or more is lecun_normal, every other parameter zeros; a
// floating-point input is normal with deviation 1, an integer input randint in [0, 2), a bool input bernoulli 1/2.
// Parameters take keys by the model's scheme (plans/random/parameter_keys.h). An input's key depends on the seed and
// its own name alone.
#pragma once

#include "planner/graph/graph.h"
#include "planner/model/model.h"

namespace shard {

// The linen path of the module that owns a declared tensor. Of a block that is scanned the tensor is a stack along its
// first dim, whose entries have the keys that they would have if the block were written out; of a scan in a scan it is
// a stack of stacks.
struct TensorOwner {
    struct Stack {
        int scan = 0;     // which scan of the model
        i64 layers = 1;   // entries of the stack
        size_t block = 0; // in `path`: the scanned block, without the number of the layer
    };
    std::vector<std::string> path;
    std::vector<Stack> stacks; // outer before inner
    InitDecl init;             // as written
};

// Fills Value::init of every value in graph.inputs. owners[i] is that of graph.declared[i].
bool attach_initializers(Graph& graph, const Model& model, const std::vector<TensorOwner>& owners,
                         Diagnostics& diagnostics);

} // namespace shard
