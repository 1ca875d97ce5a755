// Normalization over all dims but one, as PyTorch/XLA and Keras on TensorFlow write it: its parts, by their definition
// in the StableHLO specification.
#include "importer/model/op_context.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

namespace shard {

namespace {

// x, and values that have its feature dim alone.
class BatchNorm {
public:
    static std::optional<BatchNorm> of(OpContext& context, size_t operands, size_t results) {
        if (!context.expect(context.operand_count() == operands && context.op.results.size() == results,
                            fmt::format("takes {} operands and has {} results", operands, results)))
            return std::nullopt;
        const DraftType type = context.type(0);
        const std::optional<i64> feature = context.integer({"feature_index"});
        if (!feature) return std::nullopt;
        if (!context.expect(*feature >= 0 && *feature < std::ssize(type.shape) && is_floating(type.dtype),
                            "normalizes floating-point numbers over all dims but one of theirs"))
            return std::nullopt;
        const DraftType features{type.dtype, {type.shape[static_cast<size_t>(*feature)]}};
        for (size_t i = 1; i < operands; ++i)
            if (!context.expect(context.type(i) == features || (i == 4 && context.type(i) == type),
                                "has a value for each feature"))
                return std::nullopt;
        const MlirAttribute* const written = find_attribute(context.op.items, {"epsilon"});
        const std::optional<double> epsilon = written == nullptr ? std::nullopt : parse_number<double>(written->text);
        if (!context.expect(epsilon.has_value(), "needs a number as `epsilon`")) return std::nullopt;
        return BatchNorm(context.draft, type, *feature, *epsilon);
    }

    DraftId over(DraftId a, std::string op, DraftId b) { return draft_.pointwise(std::move(op), {a, b}, type_); }
    DraftId each(std::string op, DraftId a, DraftId b) { return draft_.pointwise(std::move(op), {a, b}, features_); }
    DraftId everywhere(DraftId of_features) { return draft_.broadcast(of_features, type_.shape, {feature_}); }
    DraftId count() {
        i64 rows = 1;
        for (size_t d = 0; d < type_.shape.size(); ++d)
            if (static_cast<i64>(d) != feature_) rows *= type_.shape[d];
        return draft_.number({type_.dtype, {}}, {static_cast<double>(rows), 0});
    }
    DraftId sum(DraftId x) {
        std::vector<i64> dims;
        for (i64 d = 0; d < std::ssize(type_.shape); ++d)
            if (d != feature_) dims.push_back(d);
        if (dims.empty()) return x;
        return draft_.add("reduce_sum", {x}, fmt::format(", dims: {}", list_text(dims)), features_);
    }
    DraftId mean(DraftId x) { return each("div", sum(x), count()); }
    DraftId centered(DraftId x, DraftId mean) { return over(x, "sub", everywhere(mean)); }
    DraftId deviation(DraftId variance) { return draft_.pointwise("sqrt", {with_epsilon(variance)}, features_); }
    DraftId with_epsilon(DraftId variance) {
        return each("add", variance, draft_.number({type_.dtype, {}}, {epsilon_, 0}));
    }
    DraftId normalized(DraftId centered, DraftId variance) {
        return over(centered, "div", everywhere(deviation(variance)));
    }
    DraftId scaled(DraftId x, DraftId scale, DraftId offset) {
        return over(over(x, "mul", everywhere(scale)), "add", everywhere(offset));
    }

private:
    BatchNorm(Draft& draft, DraftType type, i64 feature, double epsilon)
        : draft_(draft), type_(std::move(type)), features_{type_.dtype, {type_.shape[static_cast<size_t>(feature)]}},
          feature_(feature), epsilon_(epsilon) {}

    Draft& draft_;
    DraftType type_, features_;
    i64 feature_;
    double epsilon_;
};

bool import_inference(OpContext& context, std::string_view) {
    std::optional<BatchNorm> norm = BatchNorm::of(context, 5, 1);
    if (!norm || !context.expect(context.type(4).shape.size() == 1, "has a value for each feature")) return false;
    const DraftId centered = norm->centered(context.operand(0), context.operand(3));
    context.set(0,
                norm->scaled(norm->normalized(centered, context.operand(4)), context.operand(1), context.operand(2)));
    return true;
}

bool import_training(OpContext& context, std::string_view) {
    std::optional<BatchNorm> norm = BatchNorm::of(context, 3, 3);
    if (!norm) return false;
    const DraftId x = context.operand(0), mean = norm->mean(x), centered = norm->centered(x, mean);
    const DraftId variance = norm->mean(norm->over(centered, "mul", centered));
    context.set(0, norm->scaled(norm->normalized(centered, variance), context.operand(1), context.operand(2)));
    context.set(1, mean);
    context.set(2, variance);
    return true;
}

bool import_gradient(OpContext& context, std::string_view) {
    std::optional<BatchNorm> norm = BatchNorm::of(context, 5, 3);
    if (!norm || !context.expect(context.type(4) == context.type(0), "has a gradient of its operand's type"))
        return false;
    const DraftId scale = context.operand(1), variance = context.operand(3), gradient = context.operand(4);
    const DraftId centered = norm->centered(context.operand(0), context.operand(2));
    const DraftId of_offset = norm->sum(gradient);
    const DraftId of_centered = norm->sum(norm->over(gradient, "mul", centered));
    const DraftId along =
        norm->over(centered, "mul", norm->everywhere(norm->each("div", of_centered, norm->with_epsilon(variance))));
    const DraftId all = norm->over(
        norm->over(norm->over(gradient, "mul", norm->count()), "sub", norm->everywhere(of_offset)), "sub", along);
    const DraftId deviation = norm->deviation(variance);
    const DraftId factor = norm->each("div", norm->each("div", scale, deviation), norm->count());
    context.set(0, norm->over(all, "mul", norm->everywhere(factor)));
    context.set(1, norm->each("div", of_centered, deviation));
    context.set(2, of_offset);
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_batch_norms() {
    return {{"stablehlo.batch_norm_inference", import_inference},
            {"stablehlo.batch_norm_training", import_training},
            {"stablehlo.batch_norm_grad", import_gradient}};
}

} // namespace shard
