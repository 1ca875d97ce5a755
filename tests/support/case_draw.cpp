// Random draws, under keys that are written and keys that are computed.
#include "tests/support/case_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// An entry of the graph that no other step reads.
std::string aside(CaseWriter& w, const std::string& op) {
    std::string name = fmt::format("v{}", w.next_value++);
    w.graph += fmt::format("  - {}: {{{}}}\n", name, op);
    return name;
}

// Four words, of rbg.
std::string long_key(CaseWriter& w) {
    const std::string words = aside(w, "iota: [4], dtype: u32");
    return "in: " + aside(w, fmt::format("sub: [{}, {}]", words, w.choose(4)));
}

std::string random_key(CaseWriter& w) {
    const size_t number = w.choose(100);
    if (w.chance(3)) return fmt::format("key: {}", number);
    if (w.chance(3)) {
        const std::string step = aside(w, fmt::format("constant: {}, shape: [], dtype: i32", number));
        return fmt::format("in: {}, key: [{}, 7], place: [2]", step, number);
    }
    const std::string key = aside(w, "iota: [2], dtype: u32");
    switch (w.choose(3)) {
    case 0:
        return "in: " + aside(w, fmt::format("fold_in: [{}, {}]", key, number));
    case 1: { // the cipher's own words
        const std::string word = aside(w, fmt::format("constant: {}, shape: [1], dtype: u32", number));
        const std::string first = aside(w, fmt::format("fold_in_word: [{0}, {0}, {0}], word: 0", word));
        const std::string second = aside(w, fmt::format("fold_in_word: [{0}, {1}, {0}], word: 1", word, first));
        return "in: " + aside(w, fmt::format("concatenate: [{}, {}], dim: 0", first, second));
    }
    default: { // one of many
        const size_t count = 1 + number % 5, at = number % count;
        const std::string keys = aside(w, fmt::format("fold_in: [{}, {{iota: [{}], dtype: u32}}]", key, count));
        const std::string one = aside(w, fmt::format("slice: {}, start: [{}, 0], limit: [{}, 2]", keys, at, at + 1));
        return "in: " + aside(w, fmt::format("reshape: {}, shape: [2]", one));
    }
    }
}

// Samples are of f32.
void emit_float(CaseWriter& w, const std::string& draw, const std::vector<i64>& shape, bool exact) {
    const std::string dtype = w.floating("f32");
    if (dtype == "f32")
        w.emit(draw, shape, dtype, exact);
    else
        w.emit(fmt::format("cast: {}, dtype: {}", aside(w, draw), dtype), shape, dtype, exact);
}

void draw(CaseWriter& w) {
    const std::vector<i64> shape = w.any().shape;
    const bool is_rbg = w.chance(4);
    const std::string bits = !is_rbg && w.chance(3) ? ", bits: legacy" : "";
    const std::string of =
        fmt::format("[{}], {}{}", fmt::join(shape, ", "), is_rbg ? long_key(w) : random_key(w), bits);
    const size_t first = is_rbg ? 1 : 0; // whole numbers are drawn under two keys, which are made otherwise
    switch (first + w.choose((w.options.integers_only ? 3 : 6) - first)) {
    case 0:
        w.emit(fmt::format("randint: {}, low: -4, high: {}", of, 5 + w.choose(9)), shape, "i32", true);
        return;
    case 1:
        w.emit(fmt::format("bernoulli: {}, probability: 0.{}", of, w.choose(10)), shape, "bool", true);
        return;
    case 2: { // few bits: sums of them stay exact
        const std::string words = aside(w, "random_bits: " + of);
        const std::string few = aside(w, fmt::format("shift_right: [{}, {}]", words, 28 + w.choose(4)));
        w.emit(fmt::format("cast: {}, dtype: i32", few), shape, "i32", true);
        return;
    }
    case 3:
        emit_float(w, fmt::format("uniform: {}, low: -1, high: {}", of, 1 + w.choose(3)), shape, true);
        return;
    case 4:
        emit_float(w, fmt::format("normal: {}", of), shape, false);
        return;
    default:
        emit_float(w, fmt::format("truncated_normal: {}, low: -2, high: {}", of, 1 + w.choose(2)), shape, false);
    }
}

} // namespace

const std::vector<CaseStep>& draw_steps() {
    static const std::vector<CaseStep> steps = {draw};
    return steps;
}

} // namespace shard
