#include "planner/composites_support/chain.h"

#include <fmt/format.h>

namespace shard {

ValueId Chain::operator()(std::string_view op, std::vector<ValueId> operands, Attributes attributes) {
    if (!ok_) return 0;
    const std::optional<ValueId> value = builder_->emit(op, std::move(operands), std::move(attributes));
    ok_ = value.has_value();
    return value.value_or(0);
}

ValueId Chain::operator()(std::string_view op, ValueId operand, double number) {
    if (!ok_) return 0;
    return (*this)(op, {operand, builder_->scalar(number, builder_->type(operand).dtype)});
}

Attributes attributes_of(NamedValues values) {
    Attributes attributes;
    for (const auto& [name, value] : values) attributes.set(std::string(name), value);
    return attributes;
}

Attributes keep_dim(i64 dim) { return attributes_of({{"dims", std::vector<i64>{dim}}, {"keepdims", true}}); }

Attributes shape_of(Shape shape, std::vector<std::string> logical) {
    Attributes attributes;
    logical.resize(shape.size());
    attributes.set("shape", std::move(shape));
    attributes.set("axes", std::move(logical));
    return attributes;
}

i64 dim_or_last(const Attributes& attributes, int rank) {
    return attributes.has("dim") ? attributes.integers("dim")[0] : rank - 1;
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

} // namespace shard
