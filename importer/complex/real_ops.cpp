#include "importer/complex/real_ops.h"

#include <fmt/format.h>

namespace shard {

MlirId RealOps::value(MlirType type) {
    module_.values.push_back({std::move(type), span_});
    return static_cast<MlirId>(module_.values.size()) - 1;
}

MlirId RealOps::make(std::string name, std::vector<MlirId> operands, MlirType type, std::vector<MlirItem> items) {
    const MlirId result = value(std::move(type));
    MlirOp op;
    op.name = std::move(name);
    op.span = span_;
    op.operands = std::move(operands);
    op.results = {result};
    op.items = std::move(items);
    op.location = location_;
    into_->push_back(std::move(op));
    return result;
}

MlirId RealOps::apply(std::string name, MlirId operand) {
    MlirType type = module_.type(operand);
    return make(std::move(name), {operand}, std::move(type));
}

MlirId RealOps::number(double number, const MlirType& type) {
    MlirAttribute elements;
    elements.kind = MlirAttribute::Kind::elements;
    elements.type = type;
    elements.numbers = {fmt::format("{}", number)};
    return make("stablehlo.constant", {}, type, {{"value", {std::move(elements)}}});
}

MlirId RealOps::combine(std::string_view name, MlirId a, MlirId b) {
    MlirType type = module_.type(a);
    return make(std::string(name), {a, b}, std::move(type));
}

Part RealOps::add(Part a, Part b) {
    if (!a || !b) return a ? a : b;
    return combine("stablehlo.add", *a, *b);
}

Part RealOps::subtract(Part a, Part b) {
    if (!b) return a;
    return a ? combine("stablehlo.subtract", *a, *b) : negate(b);
}

Part RealOps::multiply(Part a, Part b) {
    if (!a || !b) return std::nullopt;
    return combine("stablehlo.multiply", *a, *b);
}

Part RealOps::divide(Part a, MlirId b) {
    if (!a) return std::nullopt;
    return combine("stablehlo.divide", *a, b);
}

Part RealOps::negate(Part a) {
    if (!a) return std::nullopt;
    return apply("stablehlo.negate", *a);
}

namespace {

MlirAttribute integer_attribute(i64 number) {
    MlirAttribute attribute;
    attribute.kind = MlirAttribute::Kind::integer;
    attribute.integer = number;
    return attribute;
}

} // namespace

MlirItem integer_item(std::string key, i64 number) { return {std::move(key), {integer_attribute(number)}}; }

MlirItem list_item(std::string key, const std::vector<std::vector<i64>>& lists) {
    MlirItem item{std::move(key), {}};
    for (const std::vector<i64>& list : lists) {
        MlirAttribute& attribute = item.parts.emplace_back();
        attribute.kind = MlirAttribute::Kind::list;
        attribute.text = "[";
        for (const i64 number : list) attribute.items.push_back({{}, {integer_attribute(number)}});
    }
    return item;
}

MlirItem word_item(std::string key, std::string word) {
    MlirAttribute attribute;
    attribute.text = std::move(word);
    return {std::move(key), {std::move(attribute)}};
}

} // namespace shard
