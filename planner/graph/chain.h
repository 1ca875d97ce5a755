// Emits one op after the other for a composite; after the first that does not fit it emits nothing more.
//
//     Chain chain(builder);
//     const ValueId shifted = chain("sub", {x, chain("reduce_max", {x}, keep_dim(dim))});
//     return chain.result(chain("exp", {shifted}));
#pragma once

#include "planner/graph/builder.h"

namespace shard {

class Chain {
public:
    explicit Chain(Builder& builder) : builder_(&builder) {}

    ValueId operator()(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {});
    // With a number as the last operand, of the first one's type.
    ValueId operator()(std::string_view op, ValueId operand, double number);
    ValueId scalar(double number, DType dtype); // does not fit if the type has no such number
    ValueId cast(ValueId value, DType dtype);   // itself if it has this type
    const TensorType& type(ValueId id) const { return builder_->type(ok_ ? id : 0); }
    bool ok() const { return ok_; }
    Builder& builder() const { return *builder_; }
    BuiltValues result(ValueId id) const { return results({id}); }
    BuiltValues results(std::vector<ValueId> ids) const { return ok_ ? BuiltValues(std::move(ids)) : std::nullopt; }

private:
    Builder* builder_;
    bool ok_ = true;
};

using NamedValues = std::initializer_list<std::pair<std::string_view, AttributeValue>>;
// Names and values: attributes_of({{"dim", std::vector<i64>{0}}}).
Attributes attributes_of(NamedValues values);
Attributes keep_dims(std::vector<i64> dims);                             // {dims, keepdims: true}
Attributes keep_dim(i64 dim);                                            // {dims: [dim], keepdims: true}
Attributes shape_of(Shape shape, std::vector<std::string> logical = {}); // {shape, axes}
// E0224 unless operand `id` is floating-point; E0223 unless it has at least `rank` dims.
bool require_floating(Builder& builder, ValueId id, std::string_view composite, int rank, Span span);
// E0224 unless operand `id` is of truths.
bool require_boolean(Builder& builder, ValueId id, std::string_view composite, Span span);

} // namespace shard
