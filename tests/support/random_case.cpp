#include "tests/support/random_case.h"

#include "plans/base.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// Reads the tape; past its end every choice is 0, the simplest.
class Tape {
public:
    explicit Tape(const std::vector<std::uint32_t>& numbers) : numbers_(numbers) {}
    size_t choose(size_t count) { return position_ < numbers_.size() ? numbers_[position_++] % count : (++position_, 0); }
    bool done() const { return position_ >= numbers_.size(); }

private:
    const std::vector<std::uint32_t>& numbers_;
    size_t position_ = 0;
};

struct MeshAxisText {
    std::string name;
    i64 size;
};

struct Known {
    std::string name;
    std::vector<i64> shape;
};

struct Writer {
    Tape tape;
    RandomCaseOptions options;
    std::vector<MeshAxisText> mesh;
    std::vector<Known> values;
    std::string graph;
    int next_name = 0;

    const Known& any() { return values[values.size() - 1 - tape.choose(values.size())]; }
    void emit(const std::string& op, std::vector<i64> shape) {
        std::string name = fmt::format("v{}", next_name++);
        graph += fmt::format("  - {}: {{{}}}\n", name, op);
        values.push_back({name, std::move(shape)});
    }
};

const std::vector<i64> dim_sizes = {4, 8, 12, 6, 2, 24, 1, 3, 5};

// A sharding by mesh axes that divides; each mesh axis at most once.
std::string random_spec(Writer& w, const std::vector<i64>& shape) {
    std::vector<bool> used(w.mesh.size(), false);
    std::vector<std::string> dims;
    for (i64 size : shape) {
        std::vector<std::string> axes;
        i64 parts = 1;
        for (size_t tries = w.tape.choose(3); tries > 0; --tries) {
            size_t axis = w.tape.choose(w.mesh.size());
            if (used[axis] || size % (parts * w.mesh[axis].size) != 0) continue;
            used[axis] = true;
            parts *= w.mesh[axis].size;
            axes.push_back(w.mesh[axis].name);
        }
        if (axes.empty()) dims.push_back(w.tape.choose(3) == 1 ? "\"?\"" : "~");
        else if (axes.size() == 1) dims.push_back(w.tape.choose(4) == 1 ? fmt::format("\"{}?\"", axes[0]) : axes[0]);
        else dims.push_back(fmt::format("[{}]", fmt::join(axes, ", ")));
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

void unary(Writer& w) {
    static const std::vector<std::string> whole = {"neg", "relu", "abs", "sign"};
    static const std::vector<std::string> smooth = {"tanh", "silu", "gelu", "logistic", "softmax", "log_softmax"};
    const Known x = w.any();
    bool use_smooth = !w.options.integers_only && !x.shape.empty() && w.tape.choose(2) == 1;
    const std::vector<std::string>& names = use_smooth ? smooth : whole;
    w.emit(fmt::format("{}: {}", names[w.tape.choose(names.size())], x.name), x.shape);
}

void binary(Writer& w) {
    static const std::vector<std::string> names = {"add", "sub", "mul", "max", "min"};
    const Known x = w.any();
    // The other operand: the same shape, a suffix of it, or a scalar.
    std::vector<Known> fits;
    for (const Known& y : w.values)
        if (y.shape.size() <= x.shape.size() && std::equal(y.shape.rbegin(), y.shape.rend(), x.shape.rbegin())) fits.push_back(y);
    const Known y = fits[fits.size() - 1 - w.tape.choose(fits.size())];
    w.emit(fmt::format("{}: [{}, {}]", names[w.tape.choose(names.size())], x.name, y.name), x.shape);
}

void dot(Writer& w) {
    const Known x = w.any();
    if (x.shape.empty()) return unary(w);
    std::vector<Known> fits;
    for (const Known& y : w.values)
        if ((y.shape.size() == 1 && y.shape[0] == x.shape.back()) || (y.shape.size() == 2 && y.shape[0] == x.shape.back())) fits.push_back(y);
    if (fits.empty()) return unary(w);
    const Known y = fits[fits.size() - 1 - w.tape.choose(fits.size())];
    std::vector<i64> shape(x.shape.begin(), x.shape.end() - 1);
    if (y.shape.size() == 2) shape.push_back(y.shape[1]);
    w.emit(fmt::format("dot: [{}, {}]", x.name, y.name), shape);
}

// Two operands whose letters are joined wherever the sizes agree and the tape says so; any subset of the letters is kept.
void einsum(Writer& w) {
    const Known x = w.any(), y = w.any();
    std::string left, right, out;
    std::vector<i64> shape;
    for (size_t d = 0; d < x.shape.size(); ++d) left += static_cast<char>('a' + static_cast<char>(d));
    for (size_t e = 0; e < y.shape.size(); ++e) {
        char letter = static_cast<char>('p' + static_cast<char>(e));
        for (size_t d = 0; d < x.shape.size(); ++d)
            if (x.shape[d] == y.shape[e] && right.find(left[d]) == std::string::npos && w.tape.choose(2) == 0) {
                letter = left[d];
                break;
            }
        right += letter;
    }
    i64 elements = 1;
    auto keep = [&](char letter, i64 size) {
        bool shared = left.find(letter) != std::string::npos && right.find(letter) != std::string::npos;
        if (out.find(letter) != std::string::npos || w.tape.choose(shared ? 3 : 5) == (shared ? 0U : 4U) || elements * size > 4096 || out.size() >= 4) return;
        out += letter;
        shape.push_back(size);
        elements *= size;
    };
    for (size_t d = 0; d < left.size(); ++d) keep(left[d], x.shape[d]);
    for (size_t e = 0; e < right.size(); ++e) keep(right[e], y.shape[e]);
    w.emit(fmt::format("einsum: \"{},{}->{}\", in: [{}, {}]", left, right, out, x.name, y.name), shape);
}

void reduce(Writer& w) {
    static const std::vector<std::string> names = {"reduce_sum", "reduce_max", "reduce_min"};
    const Known x = w.any();
    if (x.shape.empty()) return unary(w);
    size_t dim = w.tape.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
    w.emit(fmt::format("{}: {}, dims: [{}]", names[w.tape.choose(names.size())], x.name, dim), shape);
}

void transpose(Writer& w) {
    const Known x = w.any();
    if (x.shape.size() < 2) return unary(w);
    std::vector<size_t> permutation(x.shape.size());
    for (size_t d = 0; d < permutation.size(); ++d) permutation[d] = d;
    size_t a = w.tape.choose(permutation.size()), b = w.tape.choose(permutation.size());
    std::swap(permutation[a], permutation[b == a ? (a + 1) % permutation.size() : b]);
    std::vector<i64> shape;
    for (size_t d : permutation) shape.push_back(x.shape[d]);
    w.emit(fmt::format("transpose: {}, permutation: [{}]", x.name, fmt::join(permutation, ", ")), shape);
}

// Merges two neighbouring dims, or splits one by a factor of its size.
void reshape(Writer& w) {
    const Known x = w.any();
    if (x.shape.empty()) return unary(w);
    std::vector<i64> shape = x.shape;
    size_t dim = w.tape.choose(shape.size());
    if (w.tape.choose(2) == 0 && dim + 1 < shape.size()) {
        shape[dim] *= shape[dim + 1];
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
    } else {
        i64 factor = shape[dim] % 2 == 0 ? 2 : shape[dim] % 3 == 0 ? 3 : 1;
        shape[dim] /= factor;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim) + (w.tape.choose(2) == 0 ? 0 : 1), factor);
    }
    w.emit(fmt::format("reshape: {}, shape: [{}]", x.name, fmt::join(shape, ", ")), shape);
}

void concatenate(Writer& w) {
    const Known x = w.any();
    if (x.shape.empty()) return unary(w);
    size_t dim = w.tape.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    shape[dim] *= 2;
    w.emit(fmt::format("concatenate: [{0}, {0}], dim: {1}", x.name, dim), shape);
}

void slice(Writer& w) {
    const Known x = w.any();
    if (x.shape.empty()) return unary(w);
    size_t dim = w.tape.choose(x.shape.size());
    i64 start = static_cast<i64>(w.tape.choose(static_cast<size_t>(x.shape[dim])));
    i64 limit = start + 1 + static_cast<i64>(w.tape.choose(static_cast<size_t>(x.shape[dim] - start)));
    std::vector<i64> shape = x.shape;
    shape[dim] = limit - start;
    w.emit(fmt::format("slice: {}, dim: {}, start: {}, limit: {}", x.name, dim, start, limit), shape);
}

void pad(Writer& w) {
    const Known x = w.any();
    if (x.shape.empty()) return unary(w);
    std::vector<i64> low(x.shape.size()), high(x.shape.size()), shape = x.shape;
    size_t dim = w.tape.choose(shape.size());
    low[dim] = static_cast<i64>(w.tape.choose(3));
    high[dim] = static_cast<i64>(w.tape.choose(3));
    shape[dim] += low[dim] + high[dim];
    w.emit(fmt::format("pad: {}, low: [{}], high: [{}], value: {}", x.name, fmt::join(low, ", "), fmt::join(high, ", "), w.tape.choose(3)), shape);
}

void broadcast(Writer& w) {
    const Known x = w.any();
    if (x.shape.size() > 3) return unary(w);
    std::vector<i64> shape = x.shape;
    shape.insert(shape.begin(), dim_sizes[w.tape.choose(4)]);
    w.emit(fmt::format("broadcast: {}, shape: [{}]", x.name, fmt::join(shape, ", ")), shape);
}

void constrain(Writer& w) {
    const Known x = w.any();
    w.emit(fmt::format("constrain: {}, mesh: {}", x.name, random_spec(w, x.shape)), x.shape);
}

void gather(Writer& w) {
    const Known x = w.any();
    if (x.shape.empty() || x.shape.size() > 3) return unary(w);
    size_t dim = w.tape.choose(x.shape.size());
    std::vector<i64> shape = x.shape;
    shape[dim] = 4;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, 2);
    w.emit(fmt::format("gather: [{}, ids], dim: {}", x.name, dim), shape);
}

using Step = void (*)(Writer&);
constexpr Step steps[] = {unary, binary, dot, dot, einsum, reduce, transpose, reshape, constrain, concatenate, slice, pad, broadcast, gather, binary, constrain};

std::string axes_text(const std::vector<std::string>& names) { return fmt::format("[{}]", fmt::join(names, ", ")); }

} // namespace

RandomCase random_case(const std::vector<std::uint32_t>& numbers, const RandomCaseOptions& options) {
    Writer w{Tape(numbers), options, {}, {}, {}, 0};
    static const std::vector<std::vector<i64>> meshes = {{2, 2}, {4}, {2, 4}, {2, 2, 2}, {8}, {3, 2}, {2, 1, 3}, {1}, {6}, {4, 2}};
    for (i64 size : meshes[w.tape.choose(meshes.size())])
        w.mesh.push_back({std::string(1, static_cast<char>('x' + static_cast<char>(w.mesh.size()))), size});

    // Logical axes and what the rules make of them; a rule is only written if the axes divide.
    std::vector<std::pair<std::string, i64>> axes;
    std::string axis_text, rules;
    for (const char* name : {"a", "b", "c", "d"}) {
        i64 size = dim_sizes[w.tape.choose(dim_sizes.size())];
        axes.emplace_back(name, size);
        axis_text += fmt::format("{}{}: {}", axis_text.empty() ? "" : ", ", name, size);
        for (size_t count = w.tape.choose(3); count > 0; --count) {
            const MeshAxisText& first = w.mesh[w.tape.choose(w.mesh.size())];
            const MeshAxisText& second = w.mesh[w.tape.choose(w.mesh.size())];
            if (first.name != second.name && size % (first.size * second.size) == 0) rules += fmt::format("  - {{{}: [{}, {}]}}\n", name, first.name, second.name);
            else if (size % first.size == 0) rules += fmt::format("  - {{{}: {}}}\n", name, first.name);
        }
    }

    std::string inputs;
    size_t input_count = 2 + w.tape.choose(3);
    for (size_t n = 0; n < input_count; ++n) {
        std::vector<size_t> order = {n % 4, (n + 1) % 4, (n + 2) % 4};
        size_t rank = (n == 0 ? 2 : 1) + w.tape.choose(2);
        std::vector<std::string> names;
        std::vector<i64> shape;
        for (size_t d = 0; d < rank; ++d) {
            names.push_back(axes[order[d]].first);
            shape.push_back(axes[order[d]].second);
        }
        std::string name = fmt::format("x{}", n);
        std::string sharding = w.tape.choose(3) == 1 ? fmt::format(", mesh: {}", random_spec(w, shape)) : "";
        inputs += fmt::format("  {}: {{axes: {}{}, init: {{normal: {{stddev: 1.0}}}}}}\n", name, axes_text(names), sharding);
        w.values.push_back({name, shape});
    }

    size_t count = 1 + w.tape.choose(7);
    for (size_t n = 0; n < count; ++n) steps[w.tape.choose(std::size(steps))](w);
    // Keep what would explode out of the way: an output of many elements only costs time.
    std::string last = w.values.back().name;
    std::string second = w.tape.choose(2) == 1 && w.next_name > 1 ? fmt::format(", {}", w.values[w.values.size() - 2].name) : "";

    RandomCase result;
    result.model = fmt::format("model: random\naxes: {{{}}}\ninputs:\n{}  ids: {{shape: [4, 2], dtype: i32, init: {{randint: {{low: 0, high: 8}}}}}}\ngraph:\n{}outputs: [{}{}]\n",
                               axis_text, inputs, w.graph, last, second);
    std::string mesh;
    for (const MeshAxisText& axis : w.mesh) mesh += fmt::format("{}{}: {}", mesh.empty() ? "" : ", ", axis.name, axis.size);
    result.layout = fmt::format("mesh: {{{}}}\n{}{}hardware: uniform\n", mesh, rules.empty() ? "" : "rules:\n", rules);
    return result;
}

} // namespace shard
