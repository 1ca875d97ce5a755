#include "planner/graph/chain.h"
#include "planner/model/type_limits.h"

#include <fmt/format.h>

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const TensorType type = builder.type(operands[0]);
    if (!is_integer(type.dtype)) {
        builder.diagnostics().error(
            "E0224", span, fmt::format("'one_hot' takes the numbers of classes, and they are {}", name(type.dtype)));
        return std::nullopt;
    }
    if (const i64 classes = attributes.integers("size")[0]; !can_hold(type.dtype, static_cast<double>(classes - 1))) {
        builder.diagnostics()
            .error("E0226", span,
                   fmt::format("'one_hot' counts {} classes, and their numbers are {}", classes, name(type.dtype)))
            .help("look for a size with too many digits, or cast the numbers to i64");
        return std::nullopt;
    }
    Chain chain(builder);
    Shape column = type.shape;
    std::vector<std::string> logical = type.logical;
    column.push_back(1);
    logical.emplace_back();
    Attributes classes =
        attributes_of({{"shape", attributes.integers("size")}, {"dtype", std::string(name(type.dtype))}});
    const ValueId chosen = chain(
        "eq", {chain("iota", {}, std::move(classes)), chain("reshape", {operands[0]}, shape_of(column, logical))});
    return chain.result(
        chain("cast", {chosen}, attributes_of({{"dtype", attributes.string("dtype", std::string("f32"))}})));
}

} // namespace

const CompositeDef& composite_one_hot() {
    static const CompositeDef def = {
        "one_hot",
        "1 where a last dim of classes counts the index, 0 elsewhere; all 0 for an index beyond the classes.\n"
        "{one_hot: labels, size: vocab}",
        {1, 1},
        {{"size", AttributeDef::Type::size, true, "how many classes"},
         {"dtype", AttributeDef::Type::dtype, false, "f32 unless said"}},
        build};
    return def;
}

} // namespace shard
