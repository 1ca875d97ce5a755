#include "executor/checkpoint/piece.h"

#include "plans/base/checked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace shard {

namespace {

// "12" and what follows; nullopt if no number of digits alone is there.
std::optional<i64> take_number(std::string_view& text) {
    i64 number = 0;
    const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || text.front() == '-') return std::nullopt;
    text.remove_prefix(end.ptr - text.data());
    return number;
}

bool take(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

// "0:1024,256:512]"
std::optional<Block> parse_ranges(std::string_view text) {
    Block block;
    do {
        const std::optional<i64> begin = take_number(text);
        if (!begin || !take(text, ':')) return std::nullopt;
        const std::optional<i64> end = take_number(text);
        if (!end || *end < *begin) return std::nullopt;
        block.start.push_back(*begin);
        block.shape.push_back(*end - *begin);
    } while (take(text, ','));
    if (text != "]") return std::nullopt;
    return block;
}

} // namespace

std::string piece_name(std::string_view tensor, const Shape& whole, const Block& block) {
    if (block.shape == whole) return std::string(tensor);
    std::vector<std::string> ranges;
    for (size_t d = 0; d < whole.size(); ++d)
        ranges.push_back(fmt::format("{}:{}", block.start[d], block.start[d] + block.shape[d]));
    return fmt::format("{}[{}]", tensor, fmt::join(ranges, ","));
}

PieceName parse_piece_name(std::string_view text) {
    const size_t bracket = text.rfind('[');
    if (bracket != std::string_view::npos && bracket > 0)
        if (std::optional<Block> block = parse_ranges(text.substr(bracket + 1)))
            return {std::string(text.substr(0, bracket)), std::move(block)};
    return {std::string(text), std::nullopt};
}

std::optional<Shape> shape_of_grid(std::span<const Block> blocks) {
    Shape whole;
    i64 cells = 1;
    for (size_t d = 0; d < blocks.front().shape.size(); ++d) {
        std::set<std::pair<i64, i64>> ranges; // begin and end
        for (const Block& block : blocks) ranges.emplace(block.start[d], block.start[d] + block.shape[d]);
        i64 at = 0;
        for (const auto& [begin, end] : ranges) {
            if (begin != at) return std::nullopt;
            at = end;
        }
        whole.push_back(at);
        const std::optional<i64> product = checked_multiply(cells, static_cast<i64>(ranges.size()));
        if (!product) return std::nullopt;
        cells = *product;
    }
    // As many blocks as cells, all in different ones.
    std::set<std::vector<i64>> starts;
    for (const Block& block : blocks) starts.insert(block.start);
    if (cells != static_cast<i64>(blocks.size()) || starts.size() != blocks.size()) return std::nullopt;
    return whole;
}

} // namespace shard
