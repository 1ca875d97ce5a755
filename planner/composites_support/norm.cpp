#include "planner/composites_support/norm.h"

#include <fmt/format.h>

namespace shard {

ValueId normalized(Chain& chain, ValueId x, const std::vector<i64>& dims, double eps) {
    const ValueId variance = chain("mean", {chain("mul", {x, x})}, keep_dims(dims));
    return chain("mul", {x, chain("rsqrt", {chain("add", variance, eps)})});
}

std::optional<ValueId> along_dims(Builder& builder, ValueId scale, ValueId x, const std::vector<i64>& dims,
                                  std::string_view composite, Span span) {
    const TensorType type = builder.type(scale), of_x = builder.type(x);
    Shape sizes;
    for (i64 dim : dims) sizes.push_back(of_x.shape[dim]);
    if (type.shape != sizes) {
        const std::string of = dims.size() == 1
                                   ? fmt::format("dim {} of {}, of size {},", dims[0], shape_text(of_x.shape), sizes[0])
                                   : fmt::format("dims {} of {}", fmt::join(dims, " and "), shape_text(of_x.shape));
        builder.diagnostics()
            .error("E0223", span,
                   fmt::format("'{}' scales {} with a value of shape {}", composite, of, shape_text(type.shape)))
            .help(fmt::format("scale and bias have the shape {}", shape_text(sizes)));
        return std::nullopt;
    }
    // Broadcasting aligns at the last dim.
    const i64 rank = of_x.rank(), first = dims.empty() ? rank : dims[0];
    if (rank - first == static_cast<i64>(dims.size())) return scale;
    TensorType spread{type.dtype, Shape(static_cast<size_t>(rank - first), 1), {}};
    spread.logical.resize(spread.shape.size());
    for (size_t n = 0; n < dims.size(); ++n) {
        spread.shape[dims[n] - first] = sizes[n];
        spread.logical[dims[n] - first] = type.logical[n];
    }
    return builder.emit("reshape", {scale}, shape_of(spread.shape, spread.logical));
}

} // namespace shard
