#include "planner/ops_support/generate.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const std::optional<DType> dtype = generated_dtype(context, DType::f32);
    if (!dtype) return std::nullopt;
    const std::vector<double>& values = context.attributes.numbers("value");
    TensorType type = generated_type(context, *dtype);
    // A list without a shape is a vector.
    if (!context.attributes.has("shape") && values.size() != 1)
        type = make_type(*dtype, {static_cast<i64>(values.size())});
    for (double value : values)
        if (!check_fits(context, value, *dtype)) return std::nullopt;
    const std::optional<i64> count = checked_element_count(type.shape);
    if (values.size() == 1 || (count && *count == static_cast<i64>(values.size()))) return InferResult{{type}};
    context.diagnostics
        .error("E0226", context.span,
               fmt::format("{} values do not fill shape {}", values.size(), shape_text(type.shape)))
        .help("give one value for all elements, or one for each");
    return std::nullopt;
}

void complete(std::span<const TensorType>, std::span<const TensorType> results, Attributes& attributes) {
    attributes.set("shape", results[0].shape);
    attributes.set("dtype", std::string(name(results[0].dtype)));
}

Kernel lower(const LowerContext& context) {
    const std::vector<double>& values = context.attributes.numbers("value");
    if (values.size() == 1) return generate(context, Fill{values[0]});
    return generate(context, Literal{{values.begin(), values.end()}});
}

} // namespace

const OpDef& op_constant() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "constant";
        made.doc = "One number in every element, or a number for each, in lists of lists or as `shape` "
                   "says.\n{constant: 0.5, shape: [8, batch], dtype: f32}";
        made.operands = {0, 0};
        made.attributes = {
            {"value", AttributeDef::Type::elements, true, "one number, or one for each element, row-major"},
            {"shape", AttributeDef::Type::shape, false, "sizes or axis names; a scalar without it"},
            {"axes", AttributeDef::Type::axes, false, "axis names, one a dim"},
            {"dtype", AttributeDef::Type::dtype, false, "f32 unless said"}};
        made.subject = "value";
        made.infer = infer;
        made.complete = complete;
        made.rule = rule_generated;
        made.lower = lower;
        made.op_class = OpDef::Class::constant;
        made.duplicate_per_use = true;
        return made;
    }();
    return def;
}

} // namespace shard
