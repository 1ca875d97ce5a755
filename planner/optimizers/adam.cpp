#include "planner/optimizers_support/adam.h"

namespace shard {

const OptimizerDef& optimizer_adam();

namespace {

std::vector<ValueId> update(const UpdateContext& context) {
    const AdamMoments moments = adam_moments(context, adam_numbers(context.attributes), context.shared);
    return {decayed_step(context, moments.direction, 0), moments.mu, moments.nu};
}

} // namespace

const OptimizerDef& optimizer_adam() {
    static const OptimizerDef def = {
        .composite = {"adam",
                      "Adam: steps along mean gradient / (root of mean square + eps), both means corrected for their "
                      "start at zero, as optax.adam.\n"
                      "{adam: [p, g, mu, nu, count], learning_rate: 1.0e-3}",
                      {5, 6},
                      {{"learning_rate", AttributeDef::Type::number, false, "or a scalar as the last operand"},
                       {"b1", AttributeDef::Type::number, false, "decay of the mean; 0.9 unless said"},
                       {"b2", AttributeDef::Type::number, false, "decay of the mean square; 0.999 unless said"},
                       {"eps", AttributeDef::Type::number, false, "1e-8 unless said"},
                       mu_dtype_argument()},
                      build_update_of<optimizer_adam>},
        .counts = true,
        .states = adam_states,
        .shared = adam_shared,
        .update = update,
    };
    return def;
}

} // namespace shard
