#include "planner/composites_support/labels.h"

#include <fmt/format.h>

namespace shard {

bool check_labels(Builder& builder, ValueId logits, ValueId labels, std::string_view composite, Span span) {
    const TensorType &of_logits = builder.type(logits), &of_labels = builder.type(labels);
    if (!is_integer(of_labels.dtype)) {
        builder.diagnostics()
            .error("E0224", span,
                   fmt::format("the labels of '{}' are the numbers of classes, and they are {}", composite,
                               name(of_labels.dtype)))
            .help("declare them with dtype: i32");
        return false;
    }
    const Shape positions(of_logits.shape.begin(), of_logits.shape.end() - 1);
    if (of_labels.shape == positions) return true;
    builder.diagnostics()
        .error("E0223", span,
               fmt::format("'{}' has logits of shape {} and labels of shape {}", composite, shape_text(of_logits.shape),
                           shape_text(of_labels.shape)))
        .help(fmt::format("labels have the shape of the logits without the classes, {}", shape_text(positions)));
    return false;
}

ValueId classes_of(Chain& chain, ValueId value, DType dtype) {
    if (!chain.ok()) return value;
    const TensorType type = chain.type(value);
    Attributes attributes = shape_of(type.shape, type.logical);
    attributes.set("dim", std::vector<i64>{type.rank() - 1});
    attributes.set("dtype", std::string(name(dtype)));
    return chain("iota", {}, std::move(attributes));
}

ValueId is_label(Chain& chain, ValueId logits, ValueId labels) {
    if (!chain.ok()) return logits;
    TensorType type = chain.type(labels);
    type.shape.push_back(1);
    type.logical.emplace_back();
    const ValueId column = chain("reshape", {labels}, shape_of(type.shape, type.logical));
    return chain("eq", {classes_of(chain, logits, type.dtype), column});
}

} // namespace shard
