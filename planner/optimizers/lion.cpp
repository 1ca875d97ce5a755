#include "planner/optimizers_support/adam.h"

namespace shard {

const OptimizerDef& optimizer_lion();

namespace {

std::vector<OptimizerState> states(const Attributes& attributes, const TensorType& parameter, int) {
    return {mean_state("mu", attributes, parameter)};
}

// The direction looks at the gradient with one decay, and the mean remembers it with another.
std::vector<ValueId> update(const UpdateContext& context) {
    Chain& chain = context.chain;
    const auto mixed = [&](double decay) { return running_mean(chain, context.gradient, context.states[0], decay); };
    const ValueId direction = chain("sign", {mixed(context.attributes.number("b1", 0.9))});
    const ValueId mean = mixed(context.attributes.number("b2", 0.99));
    return {decayed_step(context, direction, context.attributes.number("weight_decay", 1e-3)), mean};
}

} // namespace

const OptimizerDef& optimizer_lion() {
    static const OptimizerDef def = {
        .composite = {"lion",
                      "Lion: steps of one length along the sign of a mean gradient, with decoupled weight decay, as "
                      "optax.lion. Its learning rate is 3 to 10 times smaller than Adam's.\n"
                      "{lion: [p, g, mu], learning_rate: 1.0e-4, weight_decay: 0.1}",
                      {3, 4},
                      {{"learning_rate", AttributeDef::Type::number, false, "or a scalar as the last operand"},
                       {"b1", AttributeDef::Type::number, false,
                        "decay of the mean that gives the sign; 0.9 unless said"},
                       {"b2", AttributeDef::Type::number, false, "decay of the mean that is kept; 0.99 unless said"},
                       {"weight_decay", AttributeDef::Type::number, false, "1e-3 unless said"},
                       mu_dtype_argument()},
                      build_update_of<optimizer_lion>},
        .states = states,
        .update = update,
        .lists = {no_decay("weight_decay")},
    };
    return def;
}

} // namespace shard
