#include "executor/kernels/convolve_places.h"

#include "executor/elements/strided.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

i64 stride_of(const ConvolveDims::Tensor& tensor, const std::vector<i64>& strides, char letter) {
    return strides[static_cast<size_t>(tensor.dim(letter))];
}

i64 group_stride(const ConvolveDims::Tensor& tensor, const Shape& shape, const std::vector<i64>& strides, i64 groups) {
    if (tensor.grouped < 0) return 0;
    const size_t dim = static_cast<size_t>(tensor.grouped);
    return shape[dim] / groups * strides[dim];
}

} // namespace

ConvolvePlaces::ConvolvePlaces(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output)
    : slides_(kernel.windows), sizes_(convolve_sizes(kernel, inputs, output)) {
    std::string problem;
    const std::optional<ConvolveDims> dims = parse_convolve_dims(kernel.dims, problem);
    internal_check(dims.has_value(), "a convolution of unknown dims");
    const std::vector<i64> lhs = row_major_strides(inputs[0].shape), rhs = row_major_strides(inputs[1].shape),
                           out = row_major_strides(output.shape);
    lhs_group_ = group_stride(dims->lhs, inputs[0].shape, lhs, kernel.groups);
    rhs_group_ = group_stride(dims->rhs, inputs[1].shape, rhs, kernel.groups);
    out_group_ = group_stride(dims->out, output.shape, out, kernel.groups);
    rhs_made_ = stride_of(dims->rhs, rhs, dims->made);
    out_made_ = stride_of(dims->out, out, dims->made);
    row_axes_.push_back({sizes_.kept, stride_of(dims->lhs, lhs, dims->kept), stride_of(dims->out, out, dims->kept)});
    term_axes_.push_back(
        {sizes_.summed, stride_of(dims->lhs, lhs, dims->summed), stride_of(dims->rhs, rhs, dims->summed)});
    for (size_t w = 0; w < slides_.size(); ++w) {
        const char letter = dims->windows[w];
        const Slide& slide = slides_[w];
        const SlideSizes& size = sizes_.windows[w];
        windows_.push_back(
            {(size.input - 1) * slide.input_dilation, slide.input_dilation, stride_of(dims->lhs, lhs, letter)});
        row_axes_.push_back({0, 0, stride_of(dims->out, out, letter), static_cast<int>(w)});
        term_axes_.push_back({0, 0, stride_of(dims->rhs, rhs, letter), static_cast<int>(w)});
        const i64 unit = slide.input_dilation, period = unit / std::gcd(slide.stride, unit);
        std::vector<Phase>& phases = phases_.emplace_back();
        for (i64 first = 0; first < std::min(period, size.output); ++first) {
            Phase& phase = phases.emplace_back();
            for (i64 o = first; o < size.output; o += period) phase.outputs.push_back(o);
            for (i64 k = 0; k < size.window; ++k) {
                const i64 place = slide.reversed ? size.window - 1 - k : k;
                if ((first * slide.stride + place * slide.dilation - slide.low) % unit == 0) phase.places.push_back(k);
            }
        }
        products_ *= phases.size();
    }
    const auto outer_first = [](const Axis& a, const Axis& b) { return a.other > b.other; };
    std::stable_sort(row_axes_.begin(), row_axes_.end(), outer_first);
    std::stable_sort(term_axes_.begin(), term_axes_.end(), outer_first);
    const char last = dims->lhs.letters.back();
    i64 window = 0, made = 0;
    for (size_t w = 0; w < slides_.size(); ++w)
        if (dims->windows[w] == last) window = sizes_.windows[w].window, made = sizes_.windows[w].output;
    terms_lie_together_ = last == dims->summed || (last != dims->kept && window > made);
}

const ConvolvePlaces::Phase& ConvolvePlaces::phase(size_t product, size_t window) const {
    for (size_t w = 0; w < window; ++w) product /= phases_[w].size();
    return phases_[window][product % phases_[window].size()];
}

i64 ConvolvePlaces::size_of(const Axis& axis, bool of_rows, size_t product) const {
    if (axis.window < 0) return axis.size;
    const Phase& one = phase(product, static_cast<size_t>(axis.window));
    return std::ssize(of_rows ? one.outputs : one.places);
}

i64 ConvolvePlaces::rows(size_t product) const {
    i64 count = 1;
    for (const Axis& axis : row_axes_) count *= size_of(axis, true, product);
    return count;
}

i64 ConvolvePlaces::terms(size_t product) const {
    i64 count = 1;
    for (const Axis& axis : term_axes_) count *= size_of(axis, false, product);
    return count;
}

void ConvolvePlaces::list_rows(size_t product, i64 first, i64 count, std::vector<ConvolvePlace>& places) const {
    list(row_axes_, true, product, first, count, places);
}

void ConvolvePlaces::list_terms(size_t product, i64 first, i64 count, std::vector<ConvolvePlace>& places) const {
    list(term_axes_, false, product, first, count, places);
}

void ConvolvePlaces::list(const std::vector<Axis>& axes, bool of_rows, size_t product, i64 first, i64 count,
                          std::vector<ConvolvePlace>& places) const {
    std::vector<i64> index(axes.size()), sizes;
    for (const Axis& axis : axes) sizes.push_back(size_of(axis, of_rows, product));
    for (size_t a = axes.size(); a-- > 0;) {
        index[a] = first % sizes[a];
        first /= sizes[a];
    }
    places.resize(static_cast<size_t>(count));
    for (ConvolvePlace& place : places) {
        place = {};
        for (size_t a = 0; a < axes.size(); ++a) {
            if (axes[a].window < 0) {
                place.lhs += index[a] * axes[a].lhs;
                place.other += index[a] * axes[a].other;
                continue;
            }
            const size_t w = static_cast<size_t>(axes[a].window);
            const Phase& one = phase(product, w);
            const Slide& slide = slides_[w];
            const i64 which = (of_rows ? one.outputs : one.places)[static_cast<size_t>(index[a])];
            place.other += which * axes[a].other;
            place.at[w] = of_rows ? which * slide.stride - slide.low
                                  : (slide.reversed ? sizes_.windows[w].window - 1 - which : which) * slide.dilation;
        }
        for (size_t a = axes.size(); a-- > 0;) { // the next one, inner axis fastest
            if (++index[a] < sizes[a]) break;
            index[a] = 0;
        }
    }
}

} // namespace shard
