#include "exporter/stablehlo/hlo_generate.h"

#include "exporter/stablehlo/hlo_random.h"

#include <fmt/format.h>

namespace shard {

namespace {

// [[1.0, 2.0], [3.0, 4.0]], row-major.
std::string nested(const std::vector<Number>& values, DType dtype, const Shape& shape, size_t dim, size_t& next) {
    if (dim == shape.size()) return hlo_number(values[next++], dtype);
    std::string text = "[";
    for (i64 i = 0; i < shape[dim]; ++i) text += (i > 0 ? ", " : "") + nested(values, dtype, shape, dim + 1, next);
    return text + "]";
}

HloValue literal_value(const Literal& literal, const Generate& kernel, const HloValue& output, HloBody& body) {
    size_t next = 0;
    HloValue whole =
        body.ops().constant(nested(literal.values, output.dtype, kernel.shape, 0, next), output.dtype, kernel.shape);
    if (kernel.shape == output.shape) return whole;
    // A slice would begin earlier where it reaches beyond the end, into padding.
    if (reaches_beyond(kernel, output.shape)) {
        const std::vector<i64> none(output.shape.size(), 0);
        std::vector<i64> behind;
        for (const i64 size : output.shape) behind.push_back(size - 1);
        whole = body.ops().pad(whole, body.ops().constant(0, output.dtype), none, behind, none);
    }
    return body.ops().dynamic_slice(whole, body.affines(kernel.start), output.shape);
}

HloValue iota_value(const Iota& iota, const Generate& kernel, const HloValue& output, HloBody& body) {
    HloOps& ops = body.ops();
    const HloValue count = ops.iota(iota.dim, output.dtype, output.shape);
    const Affine& start = kernel.start[static_cast<size_t>(iota.dim)];
    if (start.is_constant() && start.constant == 0) return count;
    const HloValue first = ops.filled(ops.convert(body.affine(start), output.dtype), output.shape);
    return ops.pointwise("stablehlo.add", {count, first});
}

} // namespace

HloValue hlo_generate(const Generate& kernel, const HloValue& output, HloBody& body) {
    if (const Fill* fill = std::get_if<Fill>(&kernel.source))
        return body.ops().constant(fill->value, output.dtype, output.shape);
    if (const Literal* literal = std::get_if<Literal>(&kernel.source))
        return literal_value(*literal, kernel, output, body);
    if (const Iota* iota = std::get_if<Iota>(&kernel.source)) return iota_value(*iota, kernel, output, body);
    return hlo_random(std::get<Random>(kernel.source), kernel, output, body);
}

} // namespace shard
