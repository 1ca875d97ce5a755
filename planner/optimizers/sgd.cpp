#include "planner/graph/optimizer.h"

namespace shard {

const OptimizerDef& optimizer_sgd();

namespace {

// Without momentum there is nothing to remember.
std::vector<OptimizerState> states(const Attributes& attributes, const TensorType& parameter, int) {
    if (attributes.number("momentum", 0) == 0) return {};
    return {{"momentum", parameter.dtype}};
}

std::vector<ValueId> update(const UpdateContext& context) {
    Chain& chain = context.chain;
    const double decay = context.attributes.number("momentum", 0);
    ValueId direction = context.gradient;
    std::vector<ValueId> results(1);
    if (!context.states.empty()) {
        const ValueId trace = chain("add", {context.gradient, chain("mul", context.states[0], decay)});
        const bool nesterov = context.attributes.flag("nesterov", false);
        direction = nesterov ? chain("add", {context.gradient, chain("mul", trace, decay)}) : trace;
        results.push_back(trace);
    }
    results[0] = chain("add", {context.parameter, chain("mul", {context.rate, direction})});
    return results;
}

} // namespace

const OptimizerDef& optimizer_sgd() {
    static const OptimizerDef def = {
        .composite = {"sgd",
                      "Gradient descent, with momentum if asked for: p - learning_rate * g, as optax.sgd.\n"
                      "{sgd: [p, g, momentum], learning_rate: 0.1, momentum: 0.9}",
                      {2, 4},
                      {{"learning_rate", AttributeDef::Type::number, false, "or a scalar as the last operand"},
                       {"momentum", AttributeDef::Type::number, false,
                        "decay of the sum of gradients; none unless said"},
                       {"nesterov", AttributeDef::Type::flag, false, "look one step ahead"}},
                      build_update_of<optimizer_sgd>},
        .states = states,
        .update = update,
    };
    return def;
}

} // namespace shard
