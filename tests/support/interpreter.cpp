#include "tests/support/interpreter.h"

#include "planner/graph/op_def.h"
#include "tests/support/device_interpreter.h"
#include "tests/support/draw_interpreter.h"
#include "tests/support/order_interpreter.h"
#include "tests/support/ragged_interpreter.h"
#include "tests/support/window_interpreter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;
using Evaluate = std::function<Array(const Operands&, const Node&, const TensorType&)>;

i64 offset_of(const Shape& shape, const Index& index) {
    i64 offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index[d];
    return offset;
}

double at(const Array& array, const Index& index) { return array.values[offset_of(array.shape, index)]; }

// numpy's broadcasting: aligned at the last dim, size 1 repeats.
Steps broadcast_steps(const Array& array, const Shape& shape) {
    const Steps own = row_major_steps(array.shape);
    Steps steps(shape.size(), 0);
    const size_t missing = shape.size() - own.size();
    for (size_t d = 0; d < own.size(); ++d)
        if (array.shape[d] != 1) steps[missing + d] = own[d];
    return steps;
}

Array dot(const Operands& in, const Node&, const TensorType&) {
    size_t left = in[0]->shape.size(), right = in[1]->shape.size();
    std::string l, r, out;
    for (size_t d = 0; d + 1 < left; ++d) l += static_cast<char>('a' + static_cast<char>(d));
    out = l;
    if (right > 2) r = l.substr(0, right - 2);
    l += 'y';
    r += 'y';
    if (right > 1) {
        r += 'z';
        out += 'z';
    }
    return einsum(l, *in[0], r, *in[1], out);
}

Array einsum_node(const Operands& in, const Node& node, const TensorType&) {
    const std::string equation = node.attributes().string("equation");
    const size_t arrow = equation.find("->");
    const std::string operands = equation.substr(0, arrow), out = equation.substr(arrow + 2);
    const size_t comma = operands.find(',');
    if (comma == std::string::npos) return einsum(operands, *in[0], "", {{}, {1}}, out);
    return einsum(operands.substr(0, comma), *in[0], operands.substr(comma + 1), *in[1], out);
}

Evaluate unary(double (*f)(double)) {
    return [f](const Operands& in, const Node&, const TensorType& type) {
        Array out{type.shape, in[0]->values};
        for (double& value : out.values) value = f(value);
        return out;
    };
}

Evaluate binary(double (*f)(double, double)) {
    return [f](const Operands& in, const Node&, const TensorType& type) {
        Array out{type.shape, {}};
        walk<2>(
            type.shape, {broadcast_steps(*in[0], type.shape), broadcast_steps(*in[1], type.shape)},
            [&](const std::array<i64, 2>& at) { out.values.push_back(f(in[0]->values[at[0]], in[1]->values[at[1]])); });
        return out;
    };
}

Evaluate reduce(double start, double (*f)(double, double)) {
    return [start, f](const Operands& in, const Node& node, const TensorType& type) {
        const std::vector<i64>& dims = node.attributes().integers("dims");
        Array out = make(type.shape, [start](const Index&) { return start; });
        const Steps kept = row_major_steps(type.shape);
        Steps to;
        for (size_t d = 0, k = 0; d < in[0]->shape.size(); ++d)
            to.push_back(std::find(dims.begin(), dims.end(), static_cast<i64>(d)) == dims.end() ? kept[k++] : 0);
        walk<2>(in[0]->shape, {row_major_steps(in[0]->shape), to}, [&](const std::array<i64, 2>& at) {
            double& cell = out.values[at[1]];
            cell = f(cell, in[0]->values[at[0]]);
        });
        return out;
    };
}

double round_to(DType dtype, double x) {
    if (dtype == DType::boolean) return x != 0;
    if (is_integer(dtype)) return std::trunc(x);
    return x;
}

Array select(const Operands& in, const Node&, const TensorType& type) {
    Array out{type.shape, {}};
    walk<3>(
        type.shape,
        {broadcast_steps(*in[0], type.shape), broadcast_steps(*in[1], type.shape), broadcast_steps(*in[2], type.shape)},
        [&](const std::array<i64, 3>& at) {
            const size_t chosen = in[0]->values[at[0]] != 0 ? 1 : 2;
            out.values.push_back(in[chosen]->values[at[chosen]]);
        });
    return out;
}

Array cast(const Operands& in, const Node&, const TensorType& type) {
    return make(type.shape, [&](const Index& index) { return round_to(type.dtype, at(*in[0], index)); });
}

Array constant_node(const Operands&, const Node& node, const TensorType& type) {
    const std::vector<double>& values = node.attributes().numbers("value");
    return make(type.shape,
                [&](const Index& i) { return values.size() == 1 ? values[0] : values[offset_of(type.shape, i)]; });
}

// `name` for each dim of the operand: the attribute speaks of the dims in `dim`, or of all.
std::vector<i64> per_dim(const Node& node, std::string_view name, const Shape& shape, i64 fallback) {
    std::vector<i64> result(shape.size(), fallback), dims;
    if (name == "limit") result = shape;
    if (!node.attributes().has(name)) return result;
    const std::vector<i64>& given = node.attributes().integers(name);
    if (node.attributes().has("dim"))
        dims = node.attributes().integers("dim");
    else
        for (size_t d = 0; d < shape.size(); ++d) dims.push_back(static_cast<i64>(d));
    for (size_t n = 0; n < dims.size(); ++n) {
        size_t d = static_cast<size_t>(dims[n]);
        result[d] = given.size() == 1 ? given[0] : given[n];
        bool from_end = (name == "start" || name == "limit") && result[d] < 0;
        if (from_end) result[d] += shape[d];
    }
    return result;
}

Array reshape(const Operands& in, const Node&, const TensorType& type) { return {type.shape, in[0]->values}; }

Array transpose(const Operands& in, const Node& node, const TensorType& type) {
    const Steps own = row_major_steps(in[0]->shape);
    Steps steps;
    for (size_t d = 0; d < own.size(); ++d)
        steps.push_back(
            own[node.attributes().has("permutation") ? static_cast<size_t>(node.attributes().integers("permutation")[d])
                                                     : own.size() - 1 - d]);
    return strided(*in[0], type.shape, 0, steps);
}

Array slice(const Operands& in, const Node& node, const TensorType& type) {
    std::vector<i64> start = per_dim(node, "start", in[0]->shape, 0), stride = per_dim(node, "stride", in[0]->shape, 1);
    Steps steps = row_major_steps(in[0]->shape);
    for (size_t d = 0; d < steps.size(); ++d) steps[d] *= stride[d];
    return strided(*in[0], type.shape, offset_of(in[0]->shape, start), steps);
}

Array rev(const Operands& in, const Node& node, const TensorType& type) {
    return make(type.shape, [&](const Index& index) {
        Index source = index;
        for (i64 dim : node.attributes().integers("dims")) source[dim] = type.shape[dim] - 1 - index[dim];
        return at(*in[0], source);
    });
}

Array pad(const Operands& in, const Node& node, const TensorType& type) {
    std::vector<i64> low = per_dim(node, "low", in[0]->shape, 0), interior = per_dim(node, "interior", in[0]->shape, 0);
    double fill = node.attributes().number("value", 0);
    return make(type.shape, [&](const Index& index) {
        Index source(index.size());
        for (size_t d = 0; d < index.size(); ++d) {
            i64 from_first = index[d] - low[d];
            if (from_first < 0 || from_first % (interior[d] + 1) != 0 ||
                from_first / (interior[d] + 1) >= in[0]->shape[d])
                return fill;
            source[d] = from_first / (interior[d] + 1);
        }
        return at(*in[0], source);
    });
}

Array concatenate(const Operands& in, const Node& node, const TensorType& type) {
    size_t dim = static_cast<size_t>(node.attributes().integers("dim").at(0));
    return make(type.shape, [&](const Index& index) {
        Index source = index;
        size_t part = 0;
        while (source[dim] >= in[part]->shape[dim]) source[dim] -= in[part++]->shape[dim];
        return at(*in[part], source);
    });
}

Array broadcast(const Operands& in, const Node& node, const TensorType& type) {
    const Steps own = row_major_steps(in[0]->shape);
    Steps steps(type.shape.size(), 0);
    for (size_t d = 0; d < own.size(); ++d) {
        size_t to = node.attributes().has("dims") ? static_cast<size_t>(node.attributes().integers("dims")[d])
                                                  : steps.size() - own.size() + d;
        steps[to] = in[0]->shape[d] == 1 ? 0 : own[d];
    }
    return strided(*in[0], type.shape, 0, steps);
}

// Where a window begins: clamped, so that it ends inside.
Index window_start(const Operands& in, const Node& node, size_t first, const Shape& window) {
    Index start(in[0]->shape.size(), 0);
    const std::vector<i64>& dims = node.attributes().integers("dim");
    for (size_t n = 0; n < dims.size(); ++n) {
        size_t d = static_cast<size_t>(dims[n]);
        start[d] = std::clamp<i64>(static_cast<i64>(in[first + n]->values[0]), 0, in[0]->shape[d] - window[d]);
    }
    return start;
}

Array dynamic_slice(const Operands& in, const Node& node, const TensorType& type) {
    Index start = window_start(in, node, 1, type.shape);
    return make(type.shape, [&](Index index) {
        for (size_t d = 0; d < index.size(); ++d) index[d] += start[d];
        return at(*in[0], index);
    });
}

Array dynamic_update_slice(const Operands& in, const Node& node, const TensorType& type) {
    Index start = window_start(in, node, 2, in[1]->shape);
    return make(type.shape, [&](const Index& index) {
        Index own = index;
        bool inside = true;
        for (size_t d = 0; d < index.size(); ++d) {
            own[d] -= start[d];
            inside = inside && own[d] >= 0 && own[d] < in[1]->shape[d];
        }
        return inside ? at(*in[1], own) : at(*in[0], index);
    });
}

Array iota(const Operands&, const Node& node, const TensorType& type) {
    size_t dim = node.attributes().has("dim") ? static_cast<size_t>(node.attributes().integers("dim")[0]) : 0;
    return make(type.shape, [&](const Index& index) { return static_cast<double>(index[dim]); });
}

Array clamp(const Operands& in, const Node& node, const TensorType& type) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double low = node.attributes().number("min", -infinity), high = node.attributes().number("max", infinity);
    return make(type.shape, [&](const Index& index) { return std::min(std::max(at(*in[0], index), low), high); });
}

const std::map<std::string, Evaluate, std::less<>>& table() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static const std::map<std::string, Evaluate, std::less<>> ops = {
        {"dot", dot},
        {"einsum", einsum_node},
        {"neg", unary([](double x) { return -x; })},
        {"abs", unary([](double x) { return std::fabs(x); })},
        {"sign", unary([](double x) { return x > 0   ? 1.0
                                             : x < 0 ? -1.0
                                                     : x; })},
        {"exp", unary([](double x) { return std::exp(x); })},
        {"expm1", unary([](double x) { return std::expm1(x); })},
        {"log", unary([](double x) { return std::log(x); })},
        {"log1p", unary([](double x) { return std::log1p(x); })},
        {"sqrt", unary([](double x) { return std::sqrt(x); })},
        {"cbrt", unary([](double x) { return std::cbrt(x); })},
        {"rsqrt", unary([](double x) { return 1 / std::sqrt(x); })},
        {"sin", unary([](double x) { return std::sin(x); })},
        {"cos", unary([](double x) { return std::cos(x); })},
        {"tanh", unary([](double x) { return std::tanh(x); })},
        {"logistic", unary([](double x) { return 1 / (1 + std::exp(-x)); })},
        {"erf", unary([](double x) { return std::erf(x); })},
        {"erfc", unary([](double x) { return std::erfc(x); })},
        {"floor", unary([](double x) { return std::floor(x); })},
        {"ceil", unary([](double x) { return std::ceil(x); })},
        {"round", unary([](double x) { return std::nearbyint(x); })},
        {"is_finite", unary([](double x) { return std::isfinite(x) ? 1.0 : 0.0; })},
        {"not", unary([](double x) { return x == 0 ? 1.0 : 0.0; })},
        {"relu", unary([](double x) { return x < 0 ? 0 : x; })},
        {"constrain", unary([](double x) { return x; })},
        {"stop_gradient", unary([](double x) { return x; })},
        {"host_copy", unary([](double x) { return x; })},
        {"add", binary([](double a, double b) { return a + b; })},
        {"sub", binary([](double a, double b) { return a - b; })},
        {"mul", binary([](double a, double b) { return a * b; })},
        {"div", binary([](double a, double b) { return a / b; })},
        {"trunc_div", binary([](double a, double b) { return std::trunc(a / b); })},
        {"bit_and",
         binary([](double a, double b) { return static_cast<double>(static_cast<i64>(a) & static_cast<i64>(b)); })},
        {"bit_or",
         binary([](double a, double b) { return static_cast<double>(static_cast<i64>(a) | static_cast<i64>(b)); })},
        {"bit_xor",
         binary([](double a, double b) { return static_cast<double>(static_cast<i64>(a) ^ static_cast<i64>(b)); })},
        {"bit_not", unary([](double x) { return -x - 1; })},
        {"shift_left", binary([](double a, double b) { return std::ldexp(a, static_cast<int>(b)); })},
        {"shift_right", binary([](double a, double b) { return std::floor(std::ldexp(a, -static_cast<int>(b))); })},
        {"rem", binary([](double a, double b) { return std::fmod(a, b); })},
        {"pow", binary([](double a, double b) { return std::pow(a, b); })},
        {"max", binary([](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); })},
        {"min", binary([](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); })},
        {"atan2", binary([](double a, double b) { return std::atan2(a, b); })},
        {"and", binary([](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; })},
        {"or", binary([](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; })},
        {"eq", binary([](double a, double b) { return a == b ? 1.0 : 0.0; })},
        {"ne", binary([](double a, double b) { return a != b ? 1.0 : 0.0; })},
        {"lt", binary([](double a, double b) { return a < b ? 1.0 : 0.0; })},
        {"le", binary([](double a, double b) { return a <= b ? 1.0 : 0.0; })},
        {"gt", binary([](double a, double b) { return a > b ? 1.0 : 0.0; })},
        {"ge", binary([](double a, double b) { return a >= b ? 1.0 : 0.0; })},
        {"reduce_sum", reduce(0, [](double a, double b) { return a + b; })},
        {"reduce_prod", reduce(1, [](double a, double b) { return a * b; })},
        {"reduce_max",
         reduce(-infinity, [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); })},
        {"reduce_min", reduce(infinity, [](double a, double b) { return std::min(a, b); })},
        {"select", select},
        {"cast", cast},
        {"constant", constant_node},
        {"reshape", reshape},
        {"transpose", transpose},
        {"rev", rev},
        {"slice", slice},
        {"pad", pad},
        {"concatenate", concatenate},
        {"broadcast", broadcast},
        {"dynamic_slice", dynamic_slice},
        {"dynamic_update_slice", dynamic_update_slice},
        {"iota", iota},
        {"clamp", clamp},
        {"fold_in_word", [](const Operands& in, const Node& node,
                            const TensorType& type) { return fold_in_word(node, in, type.shape); }},
    };
    return ops;
}

} // namespace

Array evaluate_node(const Node& node, const std::vector<const Array*>& operands, const TensorType& result) {
    if (const WindowEvaluate evaluate = find_window_op(node.op()->name)) return evaluate(operands, node, result);
    if (const RaggedEvaluate evaluate = find_ragged_op(node.op()->name)) return evaluate(operands, node, result);
    if (const DrawEvaluate evaluate = find_draw_op(node.op()->name)) return evaluate(operands, node, result);
    if (const OrderEvaluate evaluate = find_order_op(node.op()->name)) return evaluate(operands, node, result);
    std::map<std::string, Evaluate, std::less<>>::const_iterator it = table().find(node.op()->name);
    if (it == table().end()) internal_error("the interpreter does not know the op " + std::string(node.op()->name));
    return it->second(operands, node, result);
}

} // namespace shard
