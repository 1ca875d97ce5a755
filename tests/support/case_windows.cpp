// Random convolutions and poolings.
#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// Windows along a few dims, and how they slide.
struct RandomWindows {
    std::vector<i64> input, window, output;
    std::string arguments;
};

i64 dilated(i64 size, i64 by) { return (size - 1) * by + 1; }

// Of a pooling every window meets an element.
RandomWindows random_windows(CaseWriter& w, bool dilates_input, bool pools) {
    RandomWindows made;
    const size_t count = 1 + w.choose(2);
    std::vector<i64> strides, low, high, dilation, between;
    const bool same = w.chance(3);
    for (size_t n = 0; n < count; ++n) {
        made.input.push_back(std::vector<i64>{8, 4, 6, 5}[w.choose(4)]);
        strides.push_back(w.chance(3) ? 2 : 1);
        dilation.push_back(!pools && w.chance(5) ? 2 : 1);
        between.push_back(dilates_input && w.chance(5) ? 2 : 1);
        const i64 spread = dilated(made.input[n], between[n]);
        i64 window = std::vector<i64>{3, 1, 2, 4}[w.choose(4)];
        low.push_back(w.chance(2) ? static_cast<i64>(w.choose(4)) - 1 : 1);
        high.push_back(w.chance(2) ? static_cast<i64>(w.choose(4)) - 1 : 1);
        if (pools) {
            low[n] = std::min(low[n], window - 1);
            high[n] = std::min(high[n], window - 1);
        }
        while (dilated(window, dilation[n]) > spread + low[n] + high[n]) --window;
        made.window.push_back(window);
        made.output.push_back(same ? (spread + strides[n] - 1) / strides[n]
                                   : (spread + low[n] + high[n] - dilated(window, dilation[n])) / strides[n] + 1);
    }
    made.arguments =
        fmt::format(", strides: [{}], dilation: [{}]", fmt::join(strides, ", "), fmt::join(dilation, ", "));
    if (dilates_input) made.arguments += fmt::format(", input_dilation: [{}]", fmt::join(between, ", "));
    made.arguments +=
        same ? ", padding: same" : fmt::format(", low: [{}], high: [{}]", fmt::join(low, ", "), fmt::join(high, ", "));
    return made;
}

std::string random_float(CaseWriter& w) { return w.floating(w.choose({"f32", "f32", "f32", "bf16"})); }

// In an order of its own for each of the three.
std::string turned(CaseWriter& w, std::vector<std::string> dims, std::vector<i64>& shape) {
    if (w.chance(3)) {
        const std::ptrdiff_t by = static_cast<std::ptrdiff_t>(w.choose(dims.size()));
        std::rotate(dims.begin(), dims.begin() + by, dims.end());
        std::rotate(shape.begin(), shape.begin() + by, shape.end());
    }
    return fmt::format("{}", fmt::join(dims, ""));
}

void convolution(CaseWriter& w) {
    if (w.options.integers_only) return unary_step(w);
    const RandomWindows windows = random_windows(w, true, false);
    const std::string dtype = random_float(w);
    const i64 groups = std::vector<i64>{1, 1, 2, 4}[w.choose(4)], batch = std::vector<i64>{2, 4}[w.choose(2)],
              in = std::vector<i64>{2, 1, 4}[w.choose(3)], out = std::vector<i64>{2, 1, 4}[w.choose(3)];
    std::vector<std::string> lhs = {"n"}, rhs, result = {"n"};
    std::vector<i64> lhs_shape = {batch}, rhs_shape, shape = {batch};
    for (size_t n = 0; n < windows.input.size(); ++n) {
        const std::string letter(1, "hw"[n]);
        lhs.push_back(letter);
        rhs.push_back(letter);
        result.push_back(letter);
        lhs_shape.push_back(windows.input[n]);
        rhs_shape.push_back(windows.window[n]);
        shape.push_back(windows.output[n]);
    }
    lhs.push_back(groups > 1 ? "(gi)" : "i");
    rhs.insert(rhs.end(), {"i", groups > 1 ? "(go)" : "o"});
    result.push_back(groups > 1 ? "(go)" : "o");
    lhs_shape.push_back(groups * in);
    rhs_shape.insert(rhs_shape.end(), {in, groups * out});
    shape.push_back(groups * out);
    // Windows are in the order of the first operand, whose dims stay in theirs.
    const std::string dims =
        fmt::format("{},{}->{}", fmt::join(lhs, ""), turned(w, rhs, rhs_shape), turned(w, result, shape));
    const Known x = w.tensor(lhs_shape, dtype), kernel = w.tensor(rhs_shape, dtype);
    w.emit(fmt::format("conv: [{}, {}], dims: \"{}\"{}{}{}", x.name, kernel.name, dims, windows.arguments,
                       groups > 1 ? fmt::format(", groups: {}", groups) : "", w.chance(5) ? ", reverse: true" : ""),
           shape, dtype, false);
}

void pooling(CaseWriter& w) {
    if (w.options.integers_only) return unary_step(w);
    const std::string op = w.choose({"max_pool", "avg_pool", "sum_pool", "min_pool"});
    const RandomWindows windows = random_windows(w, op == "sum_pool", true);
    const std::string dtype = random_float(w);
    std::vector<i64> from = {2}, shape = {2};
    from.insert(from.end(), windows.input.begin(), windows.input.end());
    shape.insert(shape.end(), windows.output.begin(), windows.output.end());
    from.push_back(4);
    shape.push_back(4);
    const Known x = w.tensor(from, dtype);
    const std::string counted = op == "avg_pool" && w.chance(2) ? ", count_include_pad: false" : "";
    w.emit(fmt::format("{}: {}, window: [{}]{}{}", op, x.name, fmt::join(windows.window, ", "), windows.arguments,
                       counted),
           shape, dtype, false);
}

} // namespace

const std::vector<CaseStep>& window_steps() {
    static const std::vector<CaseStep> steps = {convolution, pooling};
    return steps;
}

} // namespace shard
