#include "planner/optimizers_support/adam.h"

#include <algorithm>
#include <numeric>

namespace shard {

const OptimizerDef& optimizer_adafactor();

namespace {

// The two largest dims of a parameter, if the smaller of them is large enough: over `columns` the rows are averaged, over
// `rows` the columns.
struct Factors {
    size_t rows = 0, columns = 0; // dims; columns is the larger
};
std::optional<Factors> factors_of(const Attributes& attributes, const TensorType& parameter, int stacked) {
    if (!attributes.flag("factored", true) || parameter.rank() < stacked + 2) return std::nullopt;
    std::vector<size_t> dims(parameter.shape.size() - static_cast<size_t>(stacked));
    std::iota(dims.begin(), dims.end(), static_cast<size_t>(stacked));
    std::stable_sort(dims.begin(), dims.end(),
                     [&](size_t a, size_t b) { return parameter.shape[a] < parameter.shape[b]; });
    const Factors factors{dims[dims.size() - 2], dims.back()};
    if (parameter.shape[factors.rows] < attributes.integer("min_dim_size_to_factor", 128)) return std::nullopt;
    return factors;
}

std::vector<OptimizerState> states(const Attributes& attributes, const TensorType& parameter, int stacked) {
    std::vector<OptimizerState> kept;
    if (const std::optional<Factors> factors = factors_of(attributes, parameter, stacked))
        kept = {{"nu_row", parameter.dtype, {factors->columns}}, {"nu_col", parameter.dtype, {factors->rows}}};
    else
        kept = {{"nu", parameter.dtype}};
    if (attributes.number("momentum", 0) != 0) kept.push_back(mean_state("mu", attributes, parameter));
    return kept;
}

// How much of the mean square stays: 1 - t^-decay_rate in step t, nothing in the first.
std::vector<ValueId> shared(Chain& chain, ValueId step, const Attributes& attributes) {
    const double offset = static_cast<double>(attributes.integer("decay_offset", 0));
    const ValueId t = offset == 0 ? step : chain("sub", step, offset);
    const ValueId fades = chain("pow", t, -attributes.number("decay_rate", 0.8));
    const ValueId stays = chain("sub", {chain.scalar(1, DType::f32), fades});
    return {stays, chain("sub", {chain.scalar(1, DType::f32), stays})};
}

class Adafactor {
public:
    explicit Adafactor(const UpdateContext& context) : context_(context), chain_(context.chain) {
        const i64 rank = chain_.type(context.parameter).rank();
        for (i64 d = context.stacked; d < rank; ++d) own_.push_back(d);
    }

    std::vector<ValueId> update() {
        const Attributes& attributes = context_.attributes;
        std::vector<ValueId> made = {-1};
        ValueId u = scaled(made);
        const double threshold = attributes.number("clipping_threshold", 1);
        if (threshold > 0) u = chain_("div", {u, chain_("max", root_mean_square(u, 1 / threshold), 1)});
        u = chain_("mul", {u, chain_("neg", {context_.rate})});
        if (attributes.flag("multiply_by_parameter_scale", true))
            u = chain_("mul", {u, chain_("max", root_mean_square(context_.parameter, 1), 1e-3)});
        if (const double momentum = attributes.number("momentum", 0); momentum != 0) {
            u = running_mean(chain_, u, context_.states[made.size() - 1], momentum);
            made.push_back(u);
        }
        if (const double decay = attributes.number("weight_decay_rate", 0); decay != 0)
            u = chain_("add", {u, chain_("mul", context_.parameter, decay)});
        made[0] = chain_("sub", {context_.parameter, u});
        return made;
    }

private:
    // The gradient over the root of its mean square; the new states are added to `made`.
    ValueId scaled(std::vector<ValueId>& made) {
        const ValueId g = context_.gradient;
        const ValueId squares = chain_("add", chain_("mul", {g, g}), context_.attributes.number("eps", 1e-30));
        const std::optional<Factors> factors =
            factors_of(context_.attributes, chain_.type(context_.parameter), context_.stacked);
        if (!factors) {
            made.push_back(mean_with(context_.states[0], squares));
            return chain_("mul", {g, chain_("rsqrt", {made.back()})});
        }
        const i64 rows_dim = static_cast<i64>(factors->rows), columns_dim = static_cast<i64>(factors->columns);
        const ValueId rows = mean_with(context_.states[0], chain_("mean", {squares}, keep_dim(columns_dim)));
        const ValueId columns = mean_with(context_.states[1], chain_("mean", {squares}, keep_dim(rows_dim)));
        made.push_back(rows);
        made.push_back(columns);
        const ValueId row_factor = chain_("rsqrt", {chain_("div", {rows, chain_("mean", {rows}, keep_dim(rows_dim))})});
        return chain_("mul", {chain_("mul", {g, row_factor}), chain_("rsqrt", {columns})});
    }

    ValueId mean_with(ValueId state, ValueId squares) {
        const DType dtype = chain_.type(squares).dtype;
        return chain_("add", {chain_("mul", {state, chain_.cast(context_.shared[0], dtype)}),
                              chain_("mul", {squares, chain_.cast(context_.shared[1], dtype)})});
    }

    // Of each layer's parameter, times `factor`.
    ValueId root_mean_square(ValueId x, double factor) {
        ValueId squares = chain_("mul", {x, x});
        if (!own_.empty()) squares = chain_("mean", {squares}, keep_dims(own_));
        const ValueId root = chain_("sqrt", {squares});
        return factor == 1 ? root : chain_("mul", root, factor);
    }

    const UpdateContext& context_;
    Chain& chain_;
    std::vector<i64> own_; // dims of one layer's parameter
};

std::vector<ValueId> update(const UpdateContext& context) { return Adafactor(context).update(); }

} // namespace

const OptimizerDef& optimizer_adafactor() {
    static const OptimizerDef def = {
        .composite = {"adafactor",
                      "Adafactor: of a matrix, a mean square for each row and each column in place of one for each "
                      "element; steps are in proportion to the parameter's own size, as optax.adafactor.\n"
                      "{adafactor: [w, g, nu_row, nu_col, count], learning_rate: 1.0e-2}",
                      {4, 7},
                      {{"learning_rate", AttributeDef::Type::number, false, "or a scalar as the last operand"},
                       {"factored", AttributeDef::Type::flag, false, "true unless said"},
                       {"min_dim_size_to_factor", AttributeDef::Type::integer, false,
                        "a smaller second-largest dim is not factored; 128 unless said"},
                       {"decay_rate", AttributeDef::Type::number, false,
                        "step t keeps 1 - t^-decay_rate of the mean square; 0.8 unless said"},
                       {"decay_offset", AttributeDef::Type::integer, false, "counted from this step; 0 unless said"},
                       {"multiply_by_parameter_scale", AttributeDef::Type::flag, false,
                        "steps are in proportion to the parameter; true unless said"},
                       {"clipping_threshold", AttributeDef::Type::number, false,
                        "the largest root mean square of a step before it is scaled; 1 unless said, 0: none"},
                       {"momentum", AttributeDef::Type::number, false, "decay of the mean step; none unless said"},
                       {"weight_decay_rate", AttributeDef::Type::number, false,
                        "of the parameter, not times the learning rate; none unless said"},
                       {"eps", AttributeDef::Type::number, false, "added to squares; 1e-30 unless said"},
                       mu_dtype_argument()},
                      build_update_of<optimizer_adafactor>},
        .counts = true,
        .states = states,
        .shared = shared,
        .update = update,
        .lists = {no_decay("weight_decay_rate")},
    };
    return def;
}

} // namespace shard
