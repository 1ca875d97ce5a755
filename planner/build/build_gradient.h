// The gradient that a module declares, built where the module is called: `given` binds names to what will be the
// gradients of the results, the declared graph is built like the module's own, and what `gives` names is checked
// against what it is the gradient of. Forward plans check it too, and leave it out (planner/grad/gradient_pattern.h).
#pragma once

#include "planner/build/build_scope.h"
#include "planner/model/model.h"

#include <functional>

namespace shard {

struct DeclaredGradient {
    // Before the module's own graph is built, and after its parameters are declared.
    DeclaredGradient(Builder& builder, const ModuleDecl& module, const Scope& scope);

    Builder& builder;
    const ModuleDecl& module;
    const Scope& scope;            // of the module
    std::vector<ValueId> operands; // inputs, then parameters, as its graph sees them
    NodeId first;                  // of the nodes that it becomes
    size_t inputs;                 // of the graph so far
    std::function<bool(Scope& scope, const std::vector<Entry>& entries)> run; // builds entries
};

// Adds the call to Graph::calls. The results, which are values of their own: an output that is an input is copied.
// nullopt after E0244, E0222 and what the declared graph has reported.
BuiltValues declare_gradient(const DeclaredGradient& build, std::vector<ValueId> outputs);

// False, after E0245: `what` has no place in a declared gradient.
bool refuse_in_gradient(const std::string& what, Span span, Diagnostics& diagnostics);

} // namespace shard
