#include "planner/optimizers_support/adam.h"

namespace shard {

const OptimizerDef& optimizer_adamw();

namespace {

// The decay does not enter the means (it is decoupled); the learning rate scales it.
std::vector<ValueId> update(const UpdateContext& context) {
    const AdamMoments moments = adam_moments(context, adam_numbers(context.attributes), context.shared);
    return {decayed_step(context, moments.direction, context.attributes.number("weight_decay", 1e-4)), moments.mu,
            moments.nu};
}

} // namespace

const OptimizerDef& optimizer_adamw() {
    static const OptimizerDef def = {
        .composite = {"adamw",
                      "Adam with decoupled weight decay: weight_decay * p is added to Adam's direction, as "
                      "optax.adamw.\n"
                      "{adamw: [p, g, mu, nu, count], learning_rate: 1.0e-3, weight_decay: 0.1}",
                      {5, 6},
                      {{"learning_rate", AttributeDef::Type::number, false, "or a scalar as the last operand"},
                       {"b1", AttributeDef::Type::number, false, "decay of the mean; 0.9 unless said"},
                       {"b2", AttributeDef::Type::number, false, "decay of the mean square; 0.999 unless said"},
                       {"eps", AttributeDef::Type::number, false, "1e-8 unless said"},
                       {"weight_decay", AttributeDef::Type::number, false, "1e-4 unless said"},
                       mu_dtype_argument()},
                      build_update_of<optimizer_adamw>},
        .counts = true,
        .states = adam_states,
        .shared = adam_shared,
        .update = update,
        .lists = {no_decay("weight_decay")},
    };
    return def;
}

} // namespace shard
