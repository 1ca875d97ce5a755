// Random contractions: dot with one operand's leading dims as batches, einsum of two or three operands, rows in groups.
#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

bool contracts(const Known& x, const Known& y) {
    if (x.dtype != y.dtype || y.shape.empty() || x.shape.empty()) return false;
    if (y.shape.size() == 1) return y.shape[0] == x.shape.back();
    const size_t batches = y.shape.size() - 2;
    return batches < x.shape.size() && y.shape[batches] == x.shape.back() &&
           std::equal(y.shape.begin(), y.shape.begin() + static_cast<std::ptrdiff_t>(batches), x.shape.begin());
}

void dot(CaseWriter& w) {
    const Known x = w.any(
        [](const Known& value) { return is_float(value) && !value.shape.empty() && elements_of(value.shape) <= 2048; });
    if (x.name.empty()) return unary_step(w);
    Known y = w.any([&](const Known& value) { return contracts(x, value) && elements_of(value.shape) <= 2048; });
    if (y.name.empty())
        y = w.tensor({x.shape.back(), std::vector<i64>{8, 4, 6, 16}[w.choose(4)]},
                     x.dtype == "bf16" || x.dtype == "f64" ? x.dtype : "f32");
    std::vector<i64> shape(x.shape.begin(), x.shape.end() - 1);
    if (y.shape.size() > 1) shape.push_back(y.shape.back());
    const bool biased = y.shape.size() > 1 && w.chance(4);
    const Known bias = biased ? w.any([&](const Known& value) {
        return value.shape == std::vector<i64>{shape.back()} && value.dtype == x.dtype;
    })
                              : Known{"", {}};
    if (!bias.name.empty())
        w.emit_rounded(fmt::format("linear: [{}, {}, {}]", x.name, y.name, bias.name), shape, x.dtype,
                       x.exact && y.exact && bias.exact);
    else if (x.dtype == "bf16" && w.chance(3))
        w.emit_rounded(fmt::format("dot: [{}, {}], result: f32", x.name, y.name), shape, "f32", x.exact && y.exact);
    else
        w.emit_rounded(fmt::format("dot: [{}, {}]", x.name, y.name), shape, x.dtype, x.exact && y.exact);
}

// The letters of two operands are joined wherever the sizes agree and the tape says so; any subset of them is kept.
void einsum(CaseWriter& w) {
    const Known x = w.any([](const Known& value) { return is_float(value); });
    if (x.name.empty()) return unary_step(w);
    std::vector<Known> operands = {x};
    const size_t count = w.chance(5) ? 3 : 2;
    while (operands.size() < count)
        operands.push_back(w.any([&](const Known& value) { return value.dtype == x.dtype; }));
    std::vector<std::pair<char, i64>> letters;
    std::vector<std::string> texts;
    bool exact = true;
    i64 work = 1;
    for (const Known& operand : operands) {
        std::string text;
        for (i64 size : operand.shape) {
            char letter = 0;
            for (const std::pair<char, i64>& known : letters)
                if (known.second == size && text.find(known.first) == std::string::npos && w.choose(3) != 1) {
                    letter = known.first;
                    break;
                }
            if (letter == 0) {
                letter = static_cast<char>('a' + static_cast<char>(letters.size()));
                letters.emplace_back(letter, size);
                work *= size;
            }
            text += letter;
        }
        texts.push_back(text);
        exact = exact && operand.exact;
    }
    if (work > 60000) return unary_step(w);
    std::string out;
    std::vector<i64> shape;
    for (const std::pair<char, i64>& letter : letters) {
        if (out.size() >= 4 || w.choose(3) == 2 || elements_of(shape) * letter.second > 4096) continue;
        const size_t at = w.chance(3) ? 0 : out.size();
        out.insert(at, 1, letter.first);
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), letter.second);
    }
    std::vector<std::string> names;
    for (const Known& operand : operands) names.push_back(operand.name);
    w.emit_rounded(fmt::format("einsum: \"{}->{}\", in: [{}]", fmt::join(texts, ","), out, fmt::join(names, ", ")),
                   shape, x.dtype, exact);
}

// Rows of a matrix, or of several, in a few groups, now and then fewer or more of them than there are.
void ragged(CaseWriter& w) {
    const Known x = w.any([](const Known& value) {
        return is_float(value) && value.shape.size() >= 2 && elements_of(value.shape) <= 2048;
    });
    if (x.name.empty()) return unary_step(w);
    const size_t rank = x.shape.size();
    const i64 groups = std::vector<i64>{4, 2, 3, 1}[w.choose(4)];
    std::vector<i64> batch(x.shape.begin(), x.shape.end() - 2), sizes = batch, matrices, shape = x.shape;
    sizes.push_back(groups);
    if (rank > 2 && w.chance(2)) matrices.assign(batch.end() - 1, batch.end());
    const std::string text = fmt::format("clamp: {}, min: -1, max: {}", w.tensor(sizes, "i32").name,
                                         1 + w.choose(static_cast<size_t>(x.shape[rank - 2])));
    const Known count = w.help(text, {"", sizes, "i32", true}, true);
    if (w.chance(3)) {
        const Known given = w.any([&](const Known& value) {
            return value.dtype == x.dtype && value.shape.size() == rank && elements_of(value.shape) <= 2048 &&
                   std::equal(x.shape.begin(), x.shape.end() - 1, value.shape.begin());
        });
        const size_t own = matrices.size();
        matrices.insert(matrices.end(), {groups, x.shape.back(), given.shape.back()});
        w.emit_rounded(fmt::format("ragged_dot_gradient: [{}, {}, {}]{}", x.name, given.name, count.name,
                                   own > 0 ? ", batch: 1" : ""),
                       matrices, x.dtype, x.exact && given.exact);
        return;
    }
    const bool transposed = w.chance(2);
    shape.back() = std::vector<i64>{4, 8, 6, 3}[w.choose(4)];
    matrices.push_back(groups);
    matrices.push_back(transposed ? shape.back() : x.shape.back());
    matrices.push_back(transposed ? x.shape.back() : shape.back());
    const Known y = w.tensor(matrices, x.dtype);
    w.emit_rounded(
        fmt::format("ragged_dot: [{}, {}, {}]{}", x.name, y.name, count.name, transposed ? ", transposed: true" : ""),
        shape, x.dtype, x.exact && y.exact);
}

} // namespace

const std::vector<CaseStep>& contraction_steps() {
    static const std::vector<CaseStep> steps = {dot, einsum, dot, ragged};
    return steps;
}

} // namespace shard
