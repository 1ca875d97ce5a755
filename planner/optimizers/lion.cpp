#include "planner/graph/optimizer.h"

namespace shard {

const OptimizerDef& optimizer_lion();

namespace {

std::vector<std::string_view> states(const Attributes&) { return {"mu"}; }

// The direction looks at the gradient with one decay, and the mean remembers it with another.
std::vector<ValueId> update(const UpdateContext& context) {
    Chain& chain = context.chain;
    const auto mixed = [&](double decay) {
        return chain("add", {chain("mul", context.gradient, 1 - decay), chain("mul", context.states[0], decay)});
    };
    const ValueId direction = chain("sign", {mixed(context.attributes.number("b1", 0.9))});
    const ValueId mean = mixed(context.attributes.number("b2", 0.99));
    const double weight_decay = context.attributes.number("weight_decay", 1e-3);
    const ValueId step =
        weight_decay == 0 ? direction : chain("add", {direction, chain("mul", context.parameter, weight_decay)});
    const ValueId change = chain("mul", {context.rate, step});
    return {chain("add", {context.parameter, change}), mean};
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
                       {"weight_decay", AttributeDef::Type::number, false, "1e-3 unless said"}},
                      build_update_of<optimizer_lion>},
        .states = states,
        .update = update,
    };
    return def;
}

} // namespace shard
