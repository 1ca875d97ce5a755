#include "tests/support/mutate_kernels.h"

#include <limits>

namespace shard {

namespace {

void change(i64& number, const Below& below) {
    const i64 some[] = {0,
                        1,
                        -1,
                        number % 1000 + 1,
                        number % 1000 - 1,
                        64,
                        number % 1000 * 2,
                        i64{1} << 40,
                        i64{1} << 62,
                        std::numeric_limits<i64>::min()};
    number = some[below(std::ssize(some))];
}

void change(std::vector<i64>& numbers, const Below& below) {
    if (numbers.empty() || below(5) == 0) return numbers.push_back(below(4));
    if (below(5) == 0) return numbers.pop_back();
    change(numbers[static_cast<size_t>(below(std::ssize(numbers)))], below);
}

void change(std::vector<Slide>& slides, const Below& below) {
    if (slides.empty() || below(5) == 0) return slides.push_back({});
    if (below(5) == 0) return slides.pop_back();
    Slide& slide = slides[static_cast<size_t>(below(std::ssize(slides)))];
    i64* const numbers[] = {&slide.stride, &slide.low, &slide.dilation, &slide.input_dilation};
    if (below(5) == 0) slide.reversed = !slide.reversed;
    change(*numbers[below(4)], below);
}

} // namespace

void mutate(Scan& kernel, const Below& below) {
    if (below(3) == 0) kernel.dim = static_cast<int>(below(5)) - 1;
    if (below(2) == 0) kernel.reverse = !kernel.reverse;
    kernel.op = static_cast<ScanOp>(below(6));
}

void mutate(Sort& kernel, const Below& below) {
    if (below(2) == 0) kernel.dim = static_cast<int>(below(5)) - 1;
    kernel.descending = !kernel.descending;
}

void mutate(Convolve& kernel, const Below& below) {
    if (below(3) == 0) return change(kernel.groups, below);
    if (below(2) == 0) return change(kernel.windows, below);
    constexpr std::string_view letters = "abhwio(),->";
    if (!kernel.dims.empty())
        kernel.dims[static_cast<size_t>(below(std::ssize(kernel.dims)))] =
            letters[static_cast<size_t>(below(std::ssize(letters)))];
}

void mutate(RaggedContract& kernel, const Below& below) {
    if (below(3) == 0) return change(below(2) == 0 ? kernel.row.constant : kernel.group.constant, below);
    if (below(2) == 0) kernel.transposed = !kernel.transposed;
    kernel.part = static_cast<RaggedPart>(below(2));
}

void mutate(ReduceWindows& kernel, const Below& below) {
    if (below(3) == 0) return change(kernel.window, below);
    if (below(2) == 0) return change(kernel.slides, below);
    kernel.op = static_cast<ReduceOp>(below(4));
}

void mutate(SelectWindows& kernel, const Below& below) {
    if (below(3) == 0) return change(below(2) == 0 ? kernel.window : kernel.start, below);
    if (below(2) == 0) return change(kernel.slides, below);
    kernel.smallest = !kernel.smallest;
}

} // namespace shard
