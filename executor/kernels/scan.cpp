#include "executor/kernels/scan.h"

#include "executor/elements/element.h"
#include "executor/kernels/reduction.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shard {

namespace {

// The result as [outer, length, inner].
struct Lines {
    i64 outer = 1, length = 1, inner = 1;
    bool reverse = false;
};

constexpr i64 columns = 256; // lines that advance side by side

// step(accumulated, element) writes the element and returns what is accumulated then.
template<typename Acc, typename Step>
void run_lines(const Lines& lines, Acc start, const Step& step) {
    std::array<Acc, columns> held;
    for (i64 outer = 0; outer < lines.outer; ++outer)
        for (i64 first = 0; first < lines.inner; first += columns) {
            const i64 width = std::min(columns, lines.inner - first);
            std::fill(held.begin(), held.begin() + width, start);
            for (i64 n = 0; n < lines.length; ++n) {
                const i64 t = lines.reverse ? lines.length - 1 - n : n;
                const i64 at = (outer * lines.length + t) * lines.inner + first;
                for (i64 j = 0; j < width; ++j) held[j] = step(held[j], at + j);
            }
        }
}

// log(e^a + e^b)
double log_add_exp(double a, double b) {
    if (a == b) return a + std::log(2.0); // infinities too
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

template<typename T>
void scan_of(const Scan& kernel, const Lines& lines, const KernelCall& call) {
    const T* in = reinterpret_cast<const T*>(call.inputs[0].data);
    T* out = reinterpret_cast<T*>(call.output.data);
    const auto reduce = [&](auto op) {
        using Op = decltype(op);
        using Acc = typename Op::template Accumulator<T>;
        run_lines(lines, Op::template identity<T>(), [=](Acc held, i64 at) {
            held = Op::combine(held, convert_value<Acc>(in[at]));
            out[at] = convert_value<T>(held);
            return held;
        });
    };
    switch (kernel.op) {
    case ScanOp::sum:
        return reduce(SumOp{});
    case ScanOp::prod:
        return reduce(ProdOp{});
    case ScanOp::max:
        return reduce(MaxOp{});
    case ScanOp::min:
        return reduce(MinOp{});
    case ScanOp::logsumexp:
        return run_lines(lines, -std::numeric_limits<double>::infinity(), [=](double held, i64 at) {
            held = log_add_exp(held, convert_value<double>(in[at]));
            out[at] = convert_value<T>(held);
            return held;
        });
    case ScanOp::linear:
        const T* added = reinterpret_cast<const T*>(call.inputs[1].data);
        return run_lines(lines, 0.0, [=](double held, i64 at) {
            held = convert_value<double>(in[at]) * held + convert_value<double>(added[at]);
            out[at] = convert_value<T>(held);
            return held;
        });
    }
    internal_error("a scan without a definition");
}

} // namespace

void run_scan(const Scan& kernel, const KernelCall& call) {
    const Shape& shape = *call.output.shape;
    internal_check(call.inputs.size() == (kernel.op == ScanOp::linear ? 2 : 1), "scan: number of operands");
    internal_check(kernel.dim >= 0 && kernel.dim < static_cast<int>(shape.size()), "scan: no such dim");
    Lines lines;
    lines.reverse = kernel.reverse;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        (d < kernel.dim ? lines.outer : d > kernel.dim ? lines.inner : lines.length) *= shape[d];
    visit_dtype(call.output.dtype, [&](auto zero) { scan_of<decltype(zero)>(kernel, lines, call); });
}

} // namespace shard
