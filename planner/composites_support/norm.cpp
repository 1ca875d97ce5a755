#include "planner/composites_support/norm.h"

#include <fmt/format.h>

namespace shard {

ValueId normalized(Chain& chain, ValueId x, i64 dim, double eps) {
    const ValueId variance = chain("mean", {chain("mul", {x, x})}, keep_dim(dim));
    return chain("mul", {x, chain("rsqrt", {chain("add", variance, eps)})});
}

std::optional<ValueId> along_dim(Builder& builder, ValueId vector, ValueId x, i64 dim, std::string_view composite,
                                 Span span) {
    const TensorType type = builder.type(vector), of_x = builder.type(x);
    const i64 size = of_x.shape[static_cast<size_t>(dim)];
    if (type.shape != Shape{size}) {
        builder.diagnostics()
            .error("E0223", span,
                   fmt::format("'{}' scales dim {} of {}, of size {}, with a value of shape {}", composite, dim,
                               shape_text(of_x.shape), size, shape_text(type.shape)))
            .help(fmt::format("scale and bias have the shape {}", shape_text(Shape{size})));
        return std::nullopt;
    }
    if (dim == of_x.rank() - 1) return vector;
    Shape shape(static_cast<size_t>(of_x.rank() - dim), 1);
    shape[0] = size;
    return builder.emit("reshape", {vector}, shape_of(shape, {type.logical[0]}));
}

} // namespace shard
