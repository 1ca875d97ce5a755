#include "planner/ops_support/infer.h"
#include "planner/ops_support/pointwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    if (!check_dtype(context, 0, is_numeric, "a number")) return std::nullopt;
    const std::optional<DType> dtype = parse_dtype(context.attributes.string("dtype"));
    internal_check(dtype.has_value(), "bitcast: unknown dtype");
    const DType from = context.operands[0].dtype;
    if (byte_size(from) != byte_size(*dtype) || !is_numeric(*dtype)) {
        context.diagnostics
            .error("E0224", context.span,
                   fmt::format("{} has numbers of {} bytes, {} of {}", name(from), byte_size(from), name(*dtype),
                               byte_size(*dtype)))
            .help("bits are taken as those of a type of the same size");
        return std::nullopt;
    }
    return InferResult{{make_type(*dtype, context.operands[0].shape)}};
}

} // namespace

const OpDef& op_bitcast() {
    static const std::string choices = [] {
        std::vector<std::string_view> names;
        for (DType dtype : all_dtypes())
            if (is_numeric(dtype)) names.push_back(name(dtype));
        return fmt::format("one of {}", fmt::join(names, ", "));
    }();
    static const OpDef def = [] {
        OpDef made = pointwise_op<ScalarOp::bitcast, PointwiseTypes::numeric>(
            "bitcast", "The same bits as a number of another element type of the same size.\n{bitcast: x, dtype: u32}");
        made.attributes = {{"dtype", AttributeDef::Type::dtype, true, choices}};
        made.infer = infer;
        return made;
    }();
    return def;
}

} // namespace shard
