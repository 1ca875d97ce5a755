#include "tests/support/text_mutator.h"

#include <algorithm>

namespace shard {

std::string TextMutator::operator()(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    for (size_t change = 1 + below(3); change > 0 && !lines.empty(); --change) {
        const size_t n = below(lines.size());
        switch (below(8)) {
        case 0:
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(n));
            break;
        case 1:
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())), lines[n]);
            break;
        case 2:
            std::swap(lines[n], lines[below(lines.size())]);
            break;
        default:
            change_word(lines[n], lines[below(lines.size())]);
        }
    }
    std::string changed;
    for (const std::string& line : lines) changed += line + '\n';
    return changed;
}

std::vector<std::string> TextMutator::parts_of(const std::string& line) const {
    std::vector<std::string> parts;
    for (char c : line) {
        if (parts.empty() || !is_of_word(c) || !is_of_word(parts.back().back())) parts.emplace_back();
        parts.back() += c;
    }
    return parts;
}

// A word becomes another one, of this text or an extreme.
void TextMutator::change_word(std::string& line, const std::string& other) {
    std::vector<std::string> parts = parts_of(line);
    const std::vector<std::string> others = parts_of(other);
    if (parts.empty() || others.empty()) return;
    constexpr const char* extremes[] = {"0",
                                        "-1",
                                        "1",
                                        "2",
                                        "3",
                                        "9223372036854775807",
                                        "65536",
                                        "1e400",
                                        "",
                                        "[]",
                                        "4611686018427387904",
                                        "-2147483649",
                                        "true",
                                        "null",
                                        "nan",
                                        "~",
                                        "\xff",
                                        "999999"};
    std::string& part = parts[below(parts.size())];
    part = below(2) == 0 ? others[below(others.size())] : extremes[below(std::size(extremes))];
    line.clear();
    for (const std::string& each : parts) line += each;
}

} // namespace shard
