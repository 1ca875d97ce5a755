// Initial values of inputs and parameters: which distribution, under which key.
//
// Without `init`, a floating-point parameter of two dims or more is lecun_normal, every other parameter zeros; a
// floating-point input is normal with deviation 1, an integer input randint in [0, 2), a bool input bernoulli 1/2.
// Parameters take keys by the model's scheme (plans/parameter_keys.h). An input's key depends on the seed and its own
// name alone.
#pragma once

#include "planner/graph.h"

namespace shard {

// Fills Value::init of every value in graph.inputs. module_paths[i] is the linen path of the module that owns
// graph.declared[i].
bool attach_initializers(Graph& graph, const Model& model, const std::vector<std::vector<std::string>>& module_paths,
                         Diagnostics& diagnostics);

} // namespace shard
