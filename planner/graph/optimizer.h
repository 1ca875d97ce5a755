// An optimizer is the update rule of one parameter. planner/optimizers/<name>.cpp defines `const OptimizerDef&
// optimizer_<name>()`; its name is its registration. The train pass applies it to every parameter, and it is a
// composite too, so a step can be written by hand:
//
//     - p2, mu2, nu2: {adam: [p, g, mu, nu, count], learning_rate: 1.0e-3}
//
// The arithmetic is optax's, in the parameter's type. Sources: optax transforms scale_by_adam, trace,
// scale_by_factored_rms, contrib.scale_by_muon, add_decayed_weights, scale_by_learning_rate.
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
    // Leading dims of the parameter that hold the layers of blocks that are scanned: each layer is a parameter.
    int stacked = 0;
    ValueId adam_rate = -1; // as `rate`, where the parameters that an optimizer leaves to Adam have one of their own
};

// What an optimizer keeps of a parameter: as the parameter is, but of its own type, and with 1 in place of the sizes of
// the dims that it does not depend on. So it is sharded as the parameter is along the dims that it has.
struct OptimizerState {
    std::string_view name; // "mu" makes "w1.mu"
    DType dtype;
    std::vector<size_t> without = {}; // dims
};
TensorType state_type(const OptimizerState& state, const TensorType& parameter);
// A mean gradient, in the type that `mu_dtype` says.
OptimizerState mean_state(std::string_view name, const Attributes& attributes, const TensorType& parameter);
AttributeDef mu_dtype_argument();
// E0226 if a type or a count among the arguments cannot be.
bool update_arguments_fit(const Attributes& attributes, Span span, Diagnostics& diagnostics);

// An argument of `train.optimizer` that lists parameters, by patterns of their paths, of which an attribute of the update
// is another: {no_decay: [...]} is weight_decay 0 for these.
struct ParameterList {
    std::string_view name, attribute;
    AttributeValue value;
    std::string_view example;
};
ParameterList no_decay(std::string_view attribute);

struct OptimizerDef {
    // Operands: parameter, gradient, states, the count of steps before this one (if `counts`), and, unless the
    // attribute learning_rate says it, the learning rate. Results: the new parameter and states.
    CompositeDef composite;
    bool counts = false;
    // Of a parameter; `stacked` as in UpdateContext. An update that depends on the gradient's direction alone keeps its
    // size, as its mean square in a state "nu", or in "nu_row" and "nu_col", of which it is the product over the mean of
    // the rows, or as its mean in "mu": verification asks for it (docs/verification.md).
    std::vector<OptimizerState> (*states)(const Attributes&, const TensorType& parameter, int stacked) = nullptr;
    // Optional: scalars that the updates of all parameters share, from the number of this step as f32, which is 1 in
    // the first.
    std::vector<ValueId> (*shared)(Chain&, ValueId step, const Attributes&) = nullptr;
    // The new parameter, then its states, which are rounded to their types afterwards.
    std::vector<ValueId> (*update)(const UpdateContext&) = nullptr;
    std::vector<ParameterList> lists = {};
};

const std::vector<const OptimizerDef*>& all_optimizers(); // sorted by name
const OptimizerDef* find_optimizer(std::string_view name);

// parameter + change, where the parameter also decays by `decay` of itself, both scaled by the rate.
ValueId decayed_step(const UpdateContext& context, ValueId direction, double decay);
// The f32 number of the step that follows `count` steps.
ValueId step_number(Chain& chain, ValueId count);

// What the update makes, each state of its type.
std::vector<ValueId> updated(const OptimizerDef& def, const UpdateContext& context,
                             std::span<const OptimizerState> states);

// CompositeDef::build of an optimizer.
BuiltValues build_update(const OptimizerDef& def, Builder& builder, std::span<const ValueId> operands,
                         const Attributes& attributes, Span span);
template<const OptimizerDef& (*def)()>
BuiltValues build_update_of(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes,
                            Span span) {
    return build_update(def(), builder, operands, attributes, span);
}

} // namespace shard
