#include "tests/support/window_interpreter.h"

#include <array>
#include <cmath>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;

double& at(Array& array, const Index& index) {
    i64 offset = 0;
    for (size_t d = 0; d < array.shape.size(); ++d) offset = offset * array.shape[d] + index[d];
    return array.values[static_cast<size_t>(offset)];
}
double at(const Array& array, const Index& index) { return at(const_cast<Array&>(array), index); }

// How the windows of a convolution or a pooling lie.
struct Geometry {
    explicit Geometry(const Node& node)
        : strides(node.attributes().integers("strides")), dilation(node.attributes().integers("dilation")),
          low(node.attributes().integers("low")), input_dilation(node.attributes().integers("input_dilation")) {}
    const std::vector<i64>&strides, &dilation, &low, &input_dilation; // by window
};

// The element that place k of a window meets at place o; nullopt: what was added, or lies between elements.
std::optional<i64> element(const Geometry& of, size_t window, i64 o, i64 k, i64 size) {
    const i64 place = o * of.strides[window] + k * of.dilation[window] - of.low[window];
    const i64 apart = of.input_dilation[window];
    if (place < 0 || place % apart != 0 || place / apart >= size) return std::nullopt;
    return place / apart;
}

// --- convolution ---

struct Dim {
    char letter;
    bool grouped;
};
using Places = std::array<i64, 256>; // by letter
i64& place_of(Places& places, char letter) { return places[static_cast<unsigned char>(letter)]; }
i64 place_of(const Places& places, char letter) { return places[static_cast<unsigned char>(letter)]; }

std::vector<Dim> dims_of(std::string_view text) {
    std::vector<Dim> dims;
    for (size_t n = 0; n < text.size(); ++n) {
        const bool grouped = text[n] == '(';
        dims.push_back({grouped ? text[n + 2] : text[n], grouped});
        if (grouped) n += 3;
    }
    return dims;
}

Array conv(const Operands& in, const Node& node, const TensorType& type) {
    const std::string text = node.attributes().string("dims");
    const size_t comma = text.find(','), arrow = text.find("->");
    const std::vector<Dim> lhs = dims_of(text.substr(0, comma)),
                           rhs = dims_of(text.substr(comma + 1, arrow - comma - 1)),
                           out = dims_of(text.substr(arrow + 2));
    const i64 groups = node.attributes().integer("groups", 1);
    const bool reversed = node.attributes().flag("reverse", false);
    const auto holds = [](const std::vector<Dim>& dims, char letter) {
        for (const Dim& dim : dims)
            if (dim.letter == letter) return true;
        return false;
    };
    // What is gone through for each element: the letters of the second operand that are windows or summed.
    std::string inner, windows;
    Shape inner_shape;
    for (const Dim& dim : lhs)
        if (holds(rhs, dim.letter) && holds(out, dim.letter)) windows += dim.letter;
    for (size_t d = 0; d < rhs.size(); ++d)
        if (holds(lhs, rhs[d].letter)) {
            inner += rhs[d].letter;
            inner_shape.push_back(in[1]->shape[d] / (rhs[d].grouped ? groups : 1));
        }
    const Geometry geometry(node);
    Places sizes{};
    for (size_t d = 0; d < lhs.size(); ++d) place_of(sizes, lhs[d].letter) = in[0]->shape[d];
    return make(type.shape, [&](const Index& result) {
        Places index{};
        i64 group = 0;
        for (size_t d = 0; d < out.size(); ++d) {
            const i64 part = type.shape[d] / (out[d].grouped ? groups : 1);
            place_of(index, out[d].letter) = result[d] % part;
            if (out[d].grouped) group = result[d] / part;
        }
        double sum = 0;
        for_each(inner_shape, [&](const Index& terms) {
            Places left = index, right = index;
            for (size_t n = 0; n < inner.size(); ++n) {
                place_of(left, inner[n]) = place_of(right, inner[n]) = terms[n];
                const size_t window = windows.find(inner[n]);
                if (window == std::string::npos) continue;
                const i64 k = reversed ? inner_shape[n] - 1 - terms[n] : terms[n];
                const std::optional<i64> met =
                    element(geometry, window, place_of(index, inner[n]), k, place_of(sizes, inner[n]));
                if (!met) return;
                place_of(left, inner[n]) = *met;
            }
            const auto value = [&](const std::vector<Dim>& dims, const Array& array, const Places& of) {
                i64 offset = 0;
                for (size_t d = 0; d < dims.size(); ++d)
                    offset = offset * array.shape[d] + place_of(of, dims[d].letter) +
                             (dims[d].grouped ? group * (array.shape[d] / groups) : 0);
                return array.values[static_cast<size_t>(offset)];
            };
            sum += value(lhs, *in[0], left) * value(rhs, *in[1], right);
        });
        return sum;
    });
}

// --- pooling ---

// Calls visit(element) for every element of a value of this shape that the window at `places` meets, in order.
template<typename Visit>
void for_each_met(const Node& node, const Shape& shape, const Index& places, const Visit& visit) {
    const std::vector<i64>&dims = node.attributes().integers("dim"), &window = node.attributes().integers("window");
    const Geometry geometry(node);
    Shape sizes(shape.size(), 1);
    for (size_t n = 0; n < dims.size(); ++n) sizes[static_cast<size_t>(dims[n])] = window[n];
    for_each(sizes, [&](const Index& k) {
        Index index = places;
        for (size_t n = 0; n < dims.size(); ++n) {
            const size_t d = static_cast<size_t>(dims[n]);
            const std::optional<i64> met = element(geometry, n, places[d], k[d], shape[d]);
            if (!met) return;
            index[d] = *met;
        }
        visit(index);
    });
}

Array sum_pool(const Operands& in, const Node& node, const TensorType& type) {
    return make(type.shape, [&](const Index& places) {
        double sum = 0;
        for_each_met(node, in[0]->shape, places, [&](const Index& index) { sum += at(*in[0], index); });
        return sum;
    });
}

// The first of the largest (sign 1) or smallest (-1) elements.
template<int sign>
std::optional<Index> selected(const Operands& in, const Node& node, const Index& places) {
    std::optional<Index> found;
    for_each_met(node, in[0]->shape, places, [&](const Index& index) {
        if (!found || sign * at(*in[0], index) > sign * at(*in[0], *found)) found = index;
    });
    return found;
}

template<int sign>
Array pool(const Operands& in, const Node& node, const TensorType& type) {
    return make(type.shape, [&](const Index& places) {
        const std::optional<Index> found = selected<sign>(in, node, places);
        return found ? at(*in[0], *found) : -sign * INFINITY;
    });
}

template<int sign>
Array pool_gradient(const Operands& in, const Node& node, const TensorType& type) {
    Array sums = make(type.shape, [](const Index&) { return 0.0; });
    for_each(in[1]->shape, [&](const Index& places) {
        if (const std::optional<Index> found = selected<sign>(in, node, places)) at(sums, *found) += at(*in[1], places);
    });
    return sums;
}

} // namespace

WindowEvaluate find_window_op(std::string_view name) {
    static const std::map<std::string_view, WindowEvaluate> ops = {{"conv", conv},
                                                                   {"sum_pool", sum_pool},
                                                                   {"max_pool", pool<1>},
                                                                   {"min_pool", pool<-1>},
                                                                   {"max_pool_gradient", pool_gradient<1>},
                                                                   {"min_pool_gradient", pool_gradient<-1>}};
    const std::map<std::string_view, WindowEvaluate>::const_iterator found = ops.find(name);
    return found == ops.end() ? nullptr : found->second;
}

} // namespace shard
