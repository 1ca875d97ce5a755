#include "plans/kernel/convolve_dims.h"

#include "plans/base/characters.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t most_windows = 3;

// "nhw(gi)"; sets the group's letter, or finds it there.
bool read_tensor(std::string_view text, ConvolveDims::Tensor& tensor, char& group, std::string& problem) {
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '(') {
            tensor.letters += text[at];
            continue;
        }
        const bool is_pair = text.size() >= at + 4 && text[at + 3] == ')' && is_letter(text[at + 1]);
        if (!is_pair || tensor.grouped >= 0 || (group != 0 && group != text[at + 1])) {
            problem = fmt::format("'{}' may hold one dim of groups, as in '(gi)', of one letter in all three", text);
            return false;
        }
        group = text[at + 1];
        tensor.grouped = static_cast<int>(tensor.letters.size());
        tensor.letters += text[at + 2];
        at += 3;
    }
    if (!std::all_of(tensor.letters.begin(), tensor.letters.end(), is_letter)) {
        problem = fmt::format("'{}' may hold letters, and one dim of groups in parentheses", text);
        return false;
    }
    for (const char letter : tensor.letters)
        if (std::count(tensor.letters.begin(), tensor.letters.end(), letter) > 1) {
            problem = fmt::format("letter '{}' is twice in '{}'", letter, text);
            return false;
        }
    return true;
}

// A letter that is in two of the three, and the only one of its kind.
bool take(char letter, char& place, std::string_view kind, std::string& problem) {
    if (place != 0) {
        problem = fmt::format("'{}' and '{}' are both {}", place, letter, kind);
        return false;
    }
    place = letter;
    return true;
}

bool find_roles(ConvolveDims& dims, std::string& problem) {
    for (const char letter : dims.lhs.letters + dims.rhs.letters + dims.out.letters) {
        const bool lhs = dims.lhs.has(letter), rhs = dims.rhs.has(letter), out = dims.out.has(letter);
        if (letter == dims.group) {
            problem = fmt::format("letter '{}' is of the groups, and of a dim", letter);
            return false;
        }
        if (letter == dims.kept || letter == dims.made || letter == dims.summed) continue;
        if (dims.windows.find(letter) != std::string::npos) continue;
        if (lhs && rhs && out) {
            dims.windows += letter;
        } else if (lhs && out) {
            if (!take(letter, dims.kept, "of the first operand and the result", problem)) return false;
        } else if (rhs && out) {
            if (!take(letter, dims.made, "of the second operand and the result", problem)) return false;
        } else if (lhs && rhs) {
            if (!take(letter, dims.summed, "of both operands and not the result", problem)) return false;
        } else {
            problem = fmt::format("letter '{}' is in one of the three alone", letter);
            return false;
        }
    }
    if (dims.kept == 0 || dims.made == 0 || dims.summed == 0) {
        problem = "a letter is missing: one of each two of the operands and the result";
        return false;
    }
    if (!dims.windows.empty() && dims.windows.size() <= most_windows) return true;
    problem = fmt::format("1 to {} letters are in all three, along which windows slide", most_windows);
    return false;
}

std::string tensor_text(const ConvolveDims& dims, const ConvolveDims::Tensor& tensor) {
    std::string text;
    for (size_t d = 0; d < tensor.letters.size(); ++d)
        text += static_cast<int>(d) == tensor.grouped ? fmt::format("({}{})", dims.group, tensor.letters[d])
                                                      : std::string(1, tensor.letters[d]);
    return text;
}

} // namespace

std::optional<ConvolveDims> parse_convolve_dims(std::string_view text, std::string& problem) {
    std::string plain;
    for (const char c : text)
        if (c != ' ') plain += c;
    const size_t comma = plain.find(','), arrow = plain.find("->");
    if (comma == std::string::npos || arrow == std::string::npos || arrow < comma) {
        problem = "it says no dims of two operands and a result";
        return std::nullopt;
    }
    ConvolveDims dims;
    const std::string_view whole = plain;
    if (!read_tensor(whole.substr(0, comma), dims.lhs, dims.group, problem) ||
        !read_tensor(whole.substr(comma + 1, arrow - comma - 1), dims.rhs, dims.group, problem) ||
        !read_tensor(whole.substr(arrow + 2), dims.out, dims.group, problem) || !find_roles(dims, problem))
        return std::nullopt;
    const auto is_grouped = [](const ConvolveDims::Tensor& tensor) { return tensor.grouped >= 0; };
    const bool some = is_grouped(dims.lhs) || is_grouped(dims.rhs) || is_grouped(dims.out),
               all = is_grouped(dims.lhs) && is_grouped(dims.rhs) && is_grouped(dims.out);
    const auto slides = [&](const ConvolveDims::Tensor& tensor) {
        return is_grouped(tensor) &&
               dims.windows.find(tensor.letters[static_cast<size_t>(tensor.grouped)]) != std::string::npos;
    };
    if (some == all && !slides(dims.lhs) && !slides(dims.rhs) && !slides(dims.out)) return dims;
    problem = "groups are in all three or none, in dims along which no windows slide";
    return std::nullopt;
}

std::string text(const ConvolveDims& dims) {
    return fmt::format("{},{}->{}", tensor_text(dims, dims.lhs), tensor_text(dims, dims.rhs),
                       tensor_text(dims, dims.out));
}

} // namespace shard
