#include "planner/optimizers_support/adam.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shard {

const OptimizerDef& optimizer_muon();

namespace {

constexpr double usual_beta = 0.95;

// What is orthogonalized; everything else is Adam's, as is what `adam` lists.
bool is_matrix(const TensorType& parameter, int stacked, const Attributes& attributes) {
    return parameter.rank() == stacked + 2 && attributes.flag("orthogonal", true);
}

std::vector<OptimizerState> states(const Attributes& attributes, const TensorType& parameter, int stacked) {
    if (!is_matrix(parameter, stacked, attributes)) return adam_states(attributes, parameter, stacked);
    return {mean_state("mu", attributes, parameter)};
}

AdamNumbers numbers_of_adam(const Attributes& attributes) {
    return {attributes.number("adam_b1", 0.9), attributes.number("adam_b2", 0.999), attributes.number("eps", 1e-8)};
}

// Corrections of beta now and one step later, then those of Adam's b1, b2 and, one step later, b1.
std::vector<ValueId> shared(Chain& chain, ValueId step, const Attributes& attributes) {
    const ValueId next = chain("add", step, 1);
    const double beta = attributes.number("beta", usual_beta);
    const AdamNumbers numbers = numbers_of_adam(attributes);
    return {bias_correction(chain, beta, step), bias_correction(chain, beta, next),
            bias_correction(chain, numbers.b1, step), bias_correction(chain, numbers.b2, step),
            bias_correction(chain, numbers.b1, next)};
}

// x x^T and a x of every layer's matrix.
class Matrices {
public:
    Matrices(Chain& chain, int stacked) : chain_(chain), layers_(std::string("abcdefghijklmnop").substr(0, stacked)) {}
    ValueId square(ValueId x) { return product("{}xz,{}yz->{}xy", x, x); }
    ValueId times(ValueId a, ValueId x) { return product("{}xz,{}zy->{}xy", a, x); }

private:
    ValueId product(std::string equation, ValueId a, ValueId b) {
        for (size_t at = 0; (at = equation.find("{}")) != std::string::npos;) equation.replace(at, 2, layers_);
        return chain_("einsum", {a, b}, attributes_of({{"equation", equation}}));
    }
    Chain& chain_;
    std::string layers_;
};

// A quintic in the singular values that takes them all near 1, after some rounds (Jordan 2024): c0 x + (c1 a + c2 a a) x,
// a = x x^T, from x over its norm.
ValueId orthogonalized(const UpdateContext& context, ValueId x) {
    constexpr std::array<double, 3> c = {3.4445, -4.7750, 2.0315};
    Chain& chain = context.chain;
    const std::vector<i64> shape = chain.type(x).shape;
    const i64 rank = std::ssize(shape);
    const std::vector<i64> both = {rank - 2, rank - 1};
    const bool is_tall = shape[rank - 2] > shape[rank - 1]; // the smaller square costs less
    std::vector<i64> swapped;
    for (i64 d = 0; d < rank; ++d) swapped.push_back(d);
    std::swap(swapped[rank - 2], swapped[rank - 1]);
    const auto transposed = [&](ValueId value) {
        return is_tall ? chain("transpose", {value}, attributes_of({{"permutation", swapped}})) : value;
    };
    x = transposed(x);
    const ValueId norm = chain("sqrt", {chain("reduce_sum", {chain("mul", {x, x})}, keep_dims(both))});
    x = chain("div", {x, chain("add", norm, context.attributes.number("eps", 1e-8))});
    Matrices matrices(chain, context.stacked);
    for (i64 round = 0; round < context.attributes.integer("ns_steps", 5); ++round) {
        const ValueId a = matrices.square(x);
        const ValueId b = chain("add", {chain("mul", a, c[1]), matrices.times(chain("mul", a, c[2]), a)});
        x = chain("add", {chain("mul", x, c[0]), matrices.times(b, x)});
    }
    return transposed(x);
}

// Updates of matrices of all shapes are to have the same size.
double size_by_shape(const Attributes& attributes, const Shape& shape) {
    const double in = static_cast<double>(shape[shape.size() - 2]), out = static_cast<double>(shape.back());
    if (attributes.has("consistent_rms")) return std::sqrt(std::max(in, out)) * attributes.number("consistent_rms");
    return std::sqrt(std::max(1.0, out / in));
}

UpdateContext for_adam(const UpdateContext& context) {
    UpdateContext own = context;
    if (context.adam_rate >= 0)
        own.rate = context.adam_rate;
    else if (context.attributes.has("adam_learning_rate"))
        own.rate = context.chain.scalar(-context.attributes.number("adam_learning_rate"),
                                        context.chain.type(context.parameter).dtype);
    return own;
}

std::vector<ValueId> update(const UpdateContext& context) {
    Chain& chain = context.chain;
    const Attributes& attributes = context.attributes;
    const bool nesterov = attributes.flag("nesterov", true);
    if (!is_matrix(chain.type(context.parameter), context.stacked, attributes)) {
        const AdamMoments moments =
            adam_moments(context, numbers_of_adam(attributes), context.shared.subspan(2, nesterov ? 3 : 2));
        return {decayed_step(for_adam(context), moments.direction, attributes.number("adam_weight_decay", 0)),
                moments.mu, moments.nu};
    }
    const double beta = attributes.number("beta", usual_beta);
    const ValueId mean = running_mean(chain, context.gradient, context.states[0], beta);
    const ValueId looked_ahead =
        nesterov ? chain("add", {chain("mul", corrected(chain, mean, context.shared[1]), beta),
                                 chain("mul", corrected(chain, context.gradient, context.shared[0]), 1 - beta)})
                 : corrected(chain, mean, context.shared[0]);
    const double size = size_by_shape(attributes, chain.type(context.parameter).shape);
    const ValueId direction = chain("mul", orthogonalized(context, looked_ahead), size);
    return {decayed_step(context, direction, attributes.number("weight_decay", 0)), mean};
}

} // namespace

const OptimizerDef& optimizer_muon() {
    static const OptimizerDef def = {
        .composite = {"muon",
                      "Muon: of a matrix, the mean gradient with its singular values made alike, by Newton-Schulz "
                      "iterations; of everything else Adam, as optax.contrib.muon.\n"
                      "{muon: [w, g, mu, count], learning_rate: 2.0e-2}",
                      {4, 6},
                      {{"learning_rate", AttributeDef::Type::number, false, "or a scalar as the last operand"},
                       {"beta", AttributeDef::Type::number, false, "decay of the mean; 0.95 unless said"},
                       {"ns_steps", AttributeDef::Type::integer, false, "iterations; 5 unless said"},
                       {"eps", AttributeDef::Type::number, false, "1e-8 unless said"},
                       {"weight_decay", AttributeDef::Type::number, false, "of matrices; none unless said"},
                       {"nesterov", AttributeDef::Type::flag, false, "look one step ahead; true unless said"},
                       {"consistent_rms", AttributeDef::Type::number, false,
                        "the size of an update's elements, 0.2 as Adam's; without it sqrt(max(1, out / in)) scales it"},
                       {"orthogonal", AttributeDef::Type::flag, false, "false: a matrix is Adam's too"},
                       {"adam_learning_rate", AttributeDef::Type::number, false,
                        "of what is no matrix; learning_rate unless said"},
                       {"adam_b1", AttributeDef::Type::number, false, "of what is no matrix; 0.9 unless said"},
                       {"adam_b2", AttributeDef::Type::number, false, "of what is no matrix; 0.999 unless said"},
                       {"adam_weight_decay", AttributeDef::Type::number, false,
                        "of what is no matrix; none unless said"},
                       mu_dtype_argument()},
                      build_update_of<optimizer_muon>},
        .counts = true,
        .states = states,
        .shared = shared,
        .update = update,
        .lists = {no_decay("weight_decay"), {"adam", "orthogonal", false, "adam: [\"**embed*\", head]"}},
    };
    return def;
}

} // namespace shard
