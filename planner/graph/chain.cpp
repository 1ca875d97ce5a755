#include "planner/graph/chain.h"

#include <fmt/format.h>

namespace shard {

ValueId Chain::operator()(std::string_view op, std::vector<ValueId> operands, Attributes attributes) {
    if (!ok_) return 0;
    const std::optional<ValueId> value = builder_->emit(op, std::move(operands), std::move(attributes));
    ok_ = value.has_value();
    return value.value_or(0);
}

ValueId Chain::operator()(std::string_view op, ValueId operand, double number) {
    return (*this)(op, {operand, scalar(number, type(operand).dtype)});
}

ValueId Chain::cast(ValueId value, DType dtype) {
    if (!ok_ || type(value).dtype == dtype) return value;
    return (*this)("cast", {value}, attributes_of({{"dtype", std::string(name(dtype))}}));
}

ValueId Chain::scalar(double number, DType dtype) {
    if (!ok_) return 0;
    const std::optional<ValueId> value = builder_->number(number, dtype);
    ok_ = value.has_value();
    return value.value_or(0);
}

Attributes attributes_of(NamedValues values) {
    std::vector<AttributeEntry> entries;
    entries.reserve(values.size());
    for (const auto& [name, value] : values) entries.emplace_back(name, value);
    return Attributes(std::move(entries));
}

Attributes keep_dims(std::vector<i64> dims) { return attributes_of({{"dims", std::move(dims)}, {"keepdims", true}}); }
Attributes keep_dim(i64 dim) { return keep_dims({dim}); }

Attributes shape_of(Shape shape, std::vector<std::string> logical) {
    Attributes attributes;
    logical.resize(shape.size());
    attributes.set("shape", std::move(shape));
    attributes.set("axes", std::move(logical));
    return attributes;
}

bool require_floating(Builder& builder, ValueId id, std::string_view composite, int rank, Span span) {
    const TensorType& type = builder.type(id);
    if (!is_floating(type.dtype)) {
        builder.diagnostics()
            .error("E0224", span,
                   fmt::format("'{}' needs a floating-point type, and its operand is {}", composite, name(type.dtype)))
            .help("convert it first: {cast: x, dtype: f32}");
        return false;
    }
    if (type.rank() >= rank) return true;
    builder.diagnostics().error("E0223", span,
                                fmt::format("'{}' needs at least {} dims, and its operand has shape {}", composite,
                                            rank, shape_text(type.shape)));
    return false;
}

bool require_boolean(Builder& builder, ValueId id, std::string_view composite, Span span) {
    const DType dtype = builder.type(id).dtype;
    if (dtype == DType::boolean) return true;
    builder.diagnostics()
        .error("E0224", span, fmt::format("'{}' needs a bool, and its operand is {}", composite, name(dtype)))
        .help("compare it first: {ne: [x, 0]}");
    return false;
}

} // namespace shard
