#include "exporter/program/written_convolution.h"

#include "plans/kernel/convolve_sizes.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

ConvolveDims dims_of(const Convolve& convolve) {
    std::string problem;
    const std::optional<ConvolveDims> dims = parse_convolve_dims(convolve.dims, problem);
    internal_check(dims.has_value(), "a convolution of unknown dims");
    return *dims;
}

class Writer {
public:
    explicit Writer(std::span<const TensorType> inputs) : types_(inputs.begin(), inputs.end()) {}

    // The groups, which are the outer part of dim `from`, as the outer part of dim `to`.
    int regroup(int value, std::string_view name, size_t from, size_t to, i64 groups) {
        if (from == to) return value;
        const TensorType type = types_[static_cast<size_t>(value)];
        Shape split = type.shape;
        split[from] /= groups;
        split.insert(split.begin() + static_cast<std::ptrdiff_t>(from), groups);
        // Dims of the split value in the order of the new one: the groups in front of `to`.
        std::vector<int> order(split.size());
        std::iota(order.begin(), order.end(), 0);
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), static_cast<int>(from));
        Shape placed, joined = type.shape;
        for (const int d : order) placed.push_back(split[static_cast<size_t>(d)]);
        joined[from] /= groups;
        joined[to] *= groups;
        Move flat;
        flat.flat = true;
        Move turn;
        turn.permutation = order;
        MovePiece all;
        all.in_start.assign(split.size(), Affine{});
        all.out_start = all.in_start;
        all.in_stride.assign(split.size(), 1);
        all.out_stride = all.in_stride;
        all.extent = placed;
        turn.pieces = {all};
        const int apart = add({flat, {value}, {type.dtype, split, {}}, std::string(name) + ".groups"});
        const int turned = add({turn, {apart}, {type.dtype, placed, {}}, std::string(name) + ".turned"});
        return add({flat, {turned}, {type.dtype, joined, {}}, std::string(name) + ".regrouped"});
    }
    int add(WrittenStep step) {
        types_.push_back(step.type);
        steps_.push_back(std::move(step));
        return static_cast<int>(types_.size()) - 1;
    }
    std::vector<WrittenStep> take() { return std::move(steps_); }

private:
    std::vector<TensorType> types_;
    std::vector<WrittenStep> steps_;
};

} // namespace

std::vector<WrittenStep> written_convolution(const Convolve& convolve, std::span<const TensorType> inputs,
                                             const TensorType& output) {
    ConvolveDims dims = dims_of(convolve);
    const int lhs = dims.lhs.dim(dims.summed), rhs = dims.rhs.dim(dims.made), out = dims.out.dim(dims.made);
    if (dims.group == 0 || (dims.lhs.grouped == lhs && dims.rhs.grouped == rhs && dims.out.grouped == out)) return {};
    const auto at = [](int dim) { return static_cast<size_t>(dim); };
    const i64 groups = convolve.groups;
    Writer writer(inputs);
    const int first = writer.regroup(0, "first", at(dims.lhs.grouped), at(lhs), groups),
              second = writer.regroup(1, "second", at(dims.rhs.grouped), at(rhs), groups), placed = dims.out.grouped;
    Shape shape = output.shape;
    shape[at(placed)] /= groups;
    shape[at(out)] *= groups;
    dims.lhs.grouped = lhs;
    dims.rhs.grouped = rhs;
    dims.out.grouped = out;
    const int made = writer.add(
        {Convolve{text(dims), groups, convolve.windows}, {first, second}, {output.dtype, shape, {}}, "by_group"});
    writer.regroup(made, "result", at(out), at(placed), groups);
    return writer.take();
}

ConvolveLetters convolve_letters(const Convolve& convolve) {
    const ConvolveDims dims = dims_of(convolve);
    const auto letters = [&dims](const ConvolveDims::Tensor& tensor) {
        std::string text;
        for (const char letter : tensor.letters) {
            const size_t window = dims.windows.find(letter);
            text += window != std::string::npos ? static_cast<char>('0' + static_cast<char>(window))
                    : letter == dims.kept       ? 'N'
                    : letter == dims.summed     ? 'I'
                                                : 'O';
        }
        return text;
    };
    return {letters(dims.lhs), letters(dims.rhs), letters(dims.out)};
}

std::vector<i64> convolve_high(const Convolve& convolve, std::span<const TensorType> inputs, const TensorType& output) {
    const ConvolveSizes sizes = convolve_sizes(convolve, inputs, output);
    std::vector<i64> high;
    for (size_t w = 0; w < sizes.windows.size(); ++w) high.push_back(high_of(convolve.windows[w], sizes.windows[w]));
    return high;
}

} // namespace shard
