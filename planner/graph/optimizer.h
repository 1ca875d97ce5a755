// An optimizer is the update rule of one parameter. planner/optimizers/<name>.cpp defines `const OptimizerDef&
// optimizer_<name>()`; its name is its registration. The train pass applies it to every parameter, and it is a
// composite too, so a step can be written by hand:
//
//     - p2, mu2, nu2: {adam: [p, g, mu, nu, count], learning_rate: 1.0e-3}
//
// The arithmetic is optax's, in the parameter's type. Sources: optax transforms scale_by_adam, trace,
// add_decayed_weights, scale_by_learning_rate.
#pragma once

#include "planner/graph/chain.h"

namespace shard {

// One update: the values that it reads.
struct UpdateContext {
    Chain& chain;
    ValueId parameter, gradient;
    std::span<const ValueId> states;
    std::span<const ValueId> shared; // what OptimizerDef::shared made
    ValueId rate;                    // minus the learning rate, a scalar of the parameter's type
    const Attributes& attributes;
};

struct OptimizerDef {
    // Operands: parameter, gradient, states, the count of steps before this one (if `counts`), and, unless the
    // attribute learning_rate says it, the learning rate. Results: the new parameter and states.
    CompositeDef composite;
    bool counts = false;
    // What the states are called: "mu" makes "w1.mu". An update that depends on the gradient's direction alone keeps
    // its size, as its mean square in a state "nu" or as its mean in "mu": verification asks for it
    // (docs/verification.md).
    std::vector<std::string_view> (*states)(const Attributes&) = nullptr;
    // Optional: scalars that the updates of all parameters share, from the number of this step as f32, which is 1 in
    // the first.
    std::vector<ValueId> (*shared)(Chain&, ValueId step, const Attributes&) = nullptr;
    // The new parameter, then its states.
    std::vector<ValueId> (*update)(const UpdateContext&) = nullptr;
};

const std::vector<const OptimizerDef*>& all_optimizers(); // sorted by name
const OptimizerDef* find_optimizer(std::string_view name);

// The f32 number of the step that follows `count` steps.
ValueId step_number(Chain& chain, ValueId count);

// CompositeDef::build of an optimizer.
BuiltValues build_update(const OptimizerDef& def, Builder& builder, std::span<const ValueId> operands,
                         const Attributes& attributes, Span span);
template<const OptimizerDef& (*def)()>
BuiltValues build_update_of(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes,
                            Span span) {
    return build_update(def(), builder, operands, attributes, span);
}

} // namespace shard
