#include "planner/propagate/factor_propagation_basic.h"

#include "planner/propagate/factor_propagation.h"

namespace shard {

namespace {

// What of `axis` fits every tensor of the op.
std::optional<AxisRef> fit_all(const AxisRef& axis, const Projection& projection, int factor, i64 before,
                               i64 factor_size) {
    std::optional<AxisRef> fitting = axis;
    for (size_t t = 0; t < projection.count(); ++t) {
        const TensorProjection& tensor = projection.tensor(t);
        fitting = fit_across(*fitting, tensor, factor);
        const FactorSharding* sharding = tensor.find(factor);
        if (fitting && sharding != nullptr) fitting = fit_within(*fitting, tensor, *sharding, before, factor_size);
        if (!fitting) return std::nullopt;
    }
    return fitting;
}

} // namespace

bool propagate_basic(Projection& projection, const IndexRule& rule, std::span<const Direction> directions) {
    bool changed = false;
    for (int f = 0; f < static_cast<int>(rule.factors.size()); ++f) {
        const i64 size = rule.factors[f].size;
        std::vector<AxisRef> axes = candidate_axes(projection, f, directions[f]);
        truncate_to_fit(axes,
                        [&](const AxisRef& axis, i64 before) { return fit_all(axis, projection, f, before, size); });
        for (size_t t = 0; t < projection.count(); ++t) {
            FactorSharding* sharding = projection.tensor(t).find(f);
            if (sharding == nullptr || prefix_status(sharding->axes, axes) != PrefixStatus::strict) continue;
            sharding->axes = axes;
            changed = true;
        }
    }
    return changed;
}

} // namespace shard
