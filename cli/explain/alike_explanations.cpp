#include "cli/explain/alike_explanations.h"

#include "cli/explain/explanation_json.h"
#include "cli/terminal/fold.h"
#include "plans/base/characters.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// Without the numbers that are parts of names: the layers of a program are called Block_0_kernel and Block_1_kernel, and
// its values einsum and einsum_2.
std::string without_numbers(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const size_t begin = static_cast<size_t>(std::find_if(text.begin(), text.end(), is_word) - text.begin());
        out += text.substr(0, begin);
        text.remove_prefix(begin);
        const size_t end = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
        std::string_view word = text.substr(0, end);
        text.remove_prefix(end);
        for (size_t part = 0; part <= word.size();) {
            const size_t next = std::min(word.find('_', part), word.size());
            if (part == 0 || !all_digits(word.substr(part, next - part)))
                out += word.substr(part == 0 ? 0 : part - 1, next - (part == 0 ? 0 : part - 1));
            part = next + 1;
        }
    }
    return out;
}

// What is said of a tensor, but for where it is declared: layers that are written out are on lines of their own.
std::string said_of(const Compilation& compilation, Explanation explanation) {
    TensorReport elsewhere = *explanation.tensor;
    elsewhere.source = {};
    explanation.tensor = &elsewhere;
    return without_numbers(explanations_json(*compilation.plan, {explanation}));
}

// What has to be equal with its numbers: those of mesh axes are no layers.
std::string cut_of(const Mesh& mesh, const Explanation& explanation) {
    const TensorReport& tensor = *explanation.tensor;
    std::string out =
        fmt::format("{} {} {}", shape_text(tensor.shape), fmt::join(tensor.logical, ","), text(mesh, tensor.sharding));
    for (const CollectiveReport& collective : explanation.collectives)
        out += fmt::format(" {} {}", collective.kind, text(mesh, collective.axes));
    return out;
}

} // namespace

std::vector<Explanation> explain_alike(const Compilation& compilation, const Sources& sources,
                                       std::span<const TensorReport* const> tensors) {
    std::vector<Explanation> each;
    std::vector<std::vector<std::string>> rows;
    for (const TensorReport* tensor : tensors) {
        const auto is_it = [tensor](const Explanation& known) { return known.tensor == tensor; };
        if (std::any_of(each.begin(), each.end(), is_it)) continue;
        each.push_back(explain_as_planned(compilation, sources, *tensor));
        rows.push_back({said_of(compilation, each.back()), cut_of(compilation.plan->mesh, each.back())});
    }
    std::vector<Explanation> out;
    for (const FoldedRow& row : fold_rows(rows)) {
        Explanation& first = out.emplace_back(each[row.members.front()]);
        if (row.members.size() > 1)
            for (const int member : row.members) first.alike.push_back(each[member].tensor);
    }
    return out;
}

std::string called_together(const Explanation& explanation) {
    constexpr size_t most = 3;
    std::vector<std::vector<std::string>> names;
    for (const TensorReport* tensor : explanation.alike) names.push_back({tensor->name});
    if (names.empty()) return explanation.tensor->name;
    const std::vector<FoldedRow> rows = fold_rows(names);
    std::string out;
    for (size_t i = 0; i < std::min(rows.size(), most); ++i) out += (i == 0 ? "" : ", ") + rows[i].fields.front();
    return rows.size() > most ? fmt::format("{} and {} more", out, rows.size() - most) : out;
}

} // namespace shard
