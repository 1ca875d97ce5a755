#include "cli/style/unified_diff.h"

#include "plans/base/base.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace shard {

namespace {

constexpr size_t context = 3;             // lines around a change
constexpr size_t most_compared = 4000000; // pairs of lines; beyond, all between the first and the last change is one

struct Edit {
    char sign; // ' ', '-', '+'
    std::string_view line;
};

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size() - 1);
        lines.push_back(text.substr(0, end + 1));
        text.remove_prefix(end + 1);
    }
    return lines;
}

// Of the lines [begin, ...) that differ at their ends: by the longest common subsequence.
void add_changes(std::span<const std::string_view> a, std::span<const std::string_view> b, std::vector<Edit>& edits) {
    const bool compares = a.size() * b.size() <= most_compared;
    std::vector<std::vector<std::uint32_t>> common; // of what is left of both
    if (compares) {
        common.assign(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1));
        for (size_t i = a.size(); i-- > 0;)
            for (size_t j = b.size(); j-- > 0;)
                common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
    size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        if (compares && i < a.size() && j < b.size() && a[i] == b[j]) {
            edits.push_back({' ', a[i]});
            ++i, ++j;
        } else if (i < a.size() && (!compares || j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
            edits.push_back({'-', a[i++]});
        } else {
            edits.push_back({'+', b[j++]});
        }
    }
}

} // namespace

std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
    if (before == after) return {};
    const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
    size_t front = 0, back = 0;
    while (front < std::min(a.size(), b.size()) && a[front] == b[front]) ++front;
    while (back < std::min(a.size(), b.size()) - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
    std::vector<Edit> edits;
    for (size_t i = 0; i < front; ++i) edits.push_back({' ', a[i]});
    add_changes(std::span(a).subspan(front, a.size() - front - back),
                std::span(b).subspan(front, b.size() - front - back), edits);
    for (size_t i = a.size() - back; i < a.size(); ++i) edits.push_back({' ', a[i]});

    std::string out = fmt::format("--- {0}\n+++ {0}\n", name);
    size_t line_a = 0, line_b = 0; // before the edit
    for (size_t at = 0; at < edits.size();) {
        size_t change = at;
        while (change < edits.size() && edits[change].sign == ' ') ++change;
        if (change == edits.size()) break;
        const size_t begin = std::max(at, change - std::min(change, context));
        size_t end = change, same = 0; // behind the last change that is near enough
        for (size_t i = change; i < edits.size() && same <= 2 * context; ++i) {
            same = edits[i].sign == ' ' ? same + 1 : 0;
            if (same == 0) end = i + 1;
        }
        end = std::min(end + context, edits.size());
        line_a += begin - at;
        line_b += begin - at;
        std::string body;
        size_t count_a = 0, count_b = 0;
        for (size_t i = begin; i < end; ++i) {
            count_a += edits[i].sign != '+' ? 1 : 0;
            count_b += edits[i].sign != '-' ? 1 : 0;
            body += edits[i].sign;
            body += edits[i].line;
            if (!edits[i].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
        }
        out += fmt::format("@@ -{},{} +{},{} @@\n{}", line_a + (count_a > 0 ? 1 : 0), count_a,
                           line_b + (count_b > 0 ? 1 : 0), count_b, body);
        line_a += count_a;
        line_b += count_b;
        at = end;
    }
    return out;
}

} // namespace shard
