#include "planner/ops_support/generate.h"
#include "planner/ops_support/infer.h"

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const std::optional<DType> dtype = generated_dtype(context, DType::i32);
    if (!dtype) return std::nullopt;
    if (*dtype == DType::boolean) {
        context.diagnostics.error("E0224", context.span, "'iota' counts, and bool is not a number");
        return std::nullopt;
    }
    const TensorType type = generated_type(context, *dtype);
    if (type.rank() == 0) {
        context.diagnostics.error("E0226", context.span, "'iota' needs the result's sizes")
            .help("for example {iota: length}");
        return std::nullopt;
    }
    const size_t counted = context.attributes.has("dim") ? dim_attribute(context.attributes) : 0;
    if (is_integer(*dtype) && !check_fits(context, static_cast<double>(type.shape[counted] - 1), *dtype))
        return std::nullopt;
    return InferResult{{type}};
}

void complete(std::span<const TensorType>, std::span<const TensorType> results, Attributes& attributes) {
    if (!attributes.has("dim")) attributes.set("dim", std::vector<i64>{0});
    attributes.set("dtype", std::string(name(results[0].dtype)));
}

Kernel lower(const LowerContext& context) {
    const i64 dim = context.attributes.has("dim") ? dim_attribute(context.attributes) : 0;
    return generate(context, Iota{static_cast<int>(dim)});
}

} // namespace

const OpDef& op_iota() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "iota";
        made.doc =
            "The numbers from 0 on along one dim, the same along the others.\n{iota: [batch, length], dim: length}";
        made.operands = {0, 0};
        made.attributes = {{"shape", AttributeDef::Type::shape, false, "sizes or axis names"},
                           {"axes", AttributeDef::Type::axes, false, "axis names, one a dim"},
                           {"dim", AttributeDef::Type::dim, false, "the dim that counts; the first unless said"},
                           {"dtype", AttributeDef::Type::dtype, false, "i32 unless said"}};
        made.subject = "shape";
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
