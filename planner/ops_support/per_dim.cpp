#include "planner/ops_support/per_dim.h"

#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

std::vector<i64> per_dim(const Attributes& attributes, std::string_view name, const std::vector<i64>& fallback) {
    if (!attributes.has(name)) return fallback;
    const std::vector<i64>& given = attributes.integers(name);
    if (!attributes.has("dim")) return given;
    std::vector<i64> all = fallback;
    const std::vector<i64>& dims = attributes.integers("dim");
    for (size_t n = 0; n < dims.size(); ++n) all[dims[n]] = given[n];
    return all;
}

bool check_per_dim(const InferContext& context, std::initializer_list<std::string_view> names) {
    const bool some = context.attributes.has("dim");
    const size_t wanted = some ? context.attributes.integers("dim").size() : context.operands[0].shape.size();
    for (std::string_view name : names) {
        if (!context.attributes.has(name)) continue;
        const size_t given = context.attributes.integers(name).size();
        if (given == wanted) continue;
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("`{}` of '{}' has {} entries for {} dims", name, context.op, given, wanted))
            .help(some ? "give one entry for each dim in `dim`"
                       : "give one entry for each dim, or name some with `dim`");
        return false;
    }
    return true;
}

IndexRule windowed_rule(const TensorType& operand, const std::vector<bool>& whole) {
    RuleMaker maker(1, 1);
    for (size_t d = 0; d < operand.shape.size(); ++d) {
        const FactorKind kind = whole[d] ? FactorKind::pass_through : FactorKind::permutation;
        const int factor = maker.factor(kind, operand.shape[d]);
        maker.operand(0).push_back({factor});
        maker.result().push_back({factor});
    }
    return maker.rule();
}

} // namespace shard
