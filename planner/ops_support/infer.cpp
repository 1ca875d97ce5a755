#include "planner/ops_support/infer.h"

#include "planner/model/type_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

std::string operand_name(const InferContext& context, size_t n) {
    if (n < context.operand_names.size() && !context.operand_names[n].empty())
        return std::string(context.operand_names[n]);
    return fmt::format("operand {}", n);
}

Span operand_span(const InferContext& context, size_t n) {
    return n < context.operand_spans.size() && context.operand_spans[n].known() ? context.operand_spans[n]
                                                                                : context.span;
}

} // namespace

bool is_numeric(DType dtype) { return dtype != DType::boolean; }
bool is_boolean(DType dtype) { return dtype == DType::boolean; }

std::string operand_text(const InferContext& context, size_t n) {
    return fmt::format("{} {}", operand_name(context, n), shape_text(context.operands[n].shape));
}

bool check_same_dtype(const InferContext& context, size_t first) {
    for (size_t n = first + 1; n < context.operands.size(); ++n) {
        const DType a = context.operands[first].dtype, b = context.operands[n].dtype;
        if (a == b) continue;
        context.diagnostics
            .error("E0224", operand_span(context, n),
                   fmt::format("the operands of '{}' have different element types: {} is {}, {} is {}", context.op,
                               operand_name(context, first), name(a), operand_name(context, n), name(b)))
            .help(fmt::format("convert one of them first: {{cast: {}, dtype: {}}}", operand_name(context, n), name(a)));
        return false;
    }
    return true;
}

bool check_dtype(const InferContext& context, size_t n, bool (*is_wanted)(DType), std::string_view wanted) {
    if (is_wanted(context.operands[n].dtype)) return true;
    context.diagnostics
        .error("E0224", operand_span(context, n),
               fmt::format("'{}' needs {}, and {} is {}", context.op, wanted, operand_name(context, n),
                           name(context.operands[n].dtype)))
        .help(fmt::format("convert it first: {{cast: {}, dtype: ...}}", operand_name(context, n)));
    return false;
}

std::optional<Shape> broadcast_shape(const InferContext& context) {
    size_t rank = 0;
    for (const TensorType& operand : context.operands) rank = std::max(rank, operand.shape.size());
    Shape shape(rank, 1);
    std::vector<size_t> decided_by(rank, 0);
    for (size_t n = 0; n < context.operands.size(); ++n) {
        const Shape& other = context.operands[n].shape;
        for (size_t d = 0; d < other.size(); ++d) {
            const size_t at = rank - other.size() + d;
            if (other[d] == shape[at] || other[d] == 1) continue;
            if (shape[at] == 1) {
                shape[at] = other[d];
                decided_by[at] = n;
                continue;
            }
            const size_t first = decided_by[at];
            const i64 first_dim = static_cast<i64>(at + context.operands[first].shape.size()) - static_cast<i64>(rank);
            context.diagnostics
                .error("E0223", context.span,
                       fmt::format("the shapes of {} and {} do not fit for '{}'", operand_text(context, first),
                                   operand_text(context, n), context.op))
                .label(operand_span(context, n), "")
                .note(fmt::format("dim {} of {} has size {}, dim {} of {} has size {}", first_dim,
                                  operand_name(context, first), shape[at], d, operand_name(context, n), other[d]))
                .help("shapes are aligned at the last dim; sizes must be equal, or one of them 1");
            return std::nullopt;
        }
    }
    return shape;
}

TensorType make_type(DType dtype, Shape shape, std::vector<std::string> logical) {
    TensorType type{dtype, std::move(shape), std::move(logical)};
    type.logical.resize(type.shape.size());
    return type;
}

std::vector<i64> dims_or(const Attributes& attributes, std::vector<i64> fallback) {
    for (std::string_view key : {"dims", "dim", "axes"})
        if (attributes.has(key)) {
            std::vector<i64> dims = attributes.integers(key);
            std::sort(dims.begin(), dims.end());
            return dims;
        }
    return fallback;
}

std::vector<i64> dims_or_all(const Attributes& attributes, int rank) {
    std::vector<i64> all;
    for (int d = 0; d < rank; ++d) all.push_back(d);
    return dims_or(attributes, std::move(all));
}

std::vector<i64> dims_or_last(const Attributes& attributes, int rank) { return dims_or(attributes, {rank - 1}); }

i64 dim_attribute(const Attributes& attributes) { return attributes.integers("dim")[0]; }

bool check_fits(const InferContext& context, double value, DType dtype) {
    if (can_hold(dtype, value)) return true;
    context.diagnostics.error("E0226", context.span, fmt::format("{} is not a value of type {}", value, name(dtype)))
        .help("write a fitting number, or another `dtype`");
    return false;
}

} // namespace shard
