#include "cli/explain/alike_explanations.h"

#include "cli/explain/explanation_json.h"
#include "cli/terminal/fold.h"

#include <algorithm>

namespace shard {

std::vector<Explanation> explain_alike(const Compilation& compilation, const Sources& sources,
                                       std::span<const TensorReport* const> tensors) {
    std::vector<Explanation> each;
    std::vector<std::vector<std::string>> rows;
    for (const TensorReport* tensor : tensors) {
        const auto is_it = [tensor](const Explanation& known) { return known.tensor == tensor; };
        if (std::any_of(each.begin(), each.end(), is_it)) continue;
        each.push_back(explain_as_planned(compilation, sources, *tensor));
        rows.push_back({explanations_json(*compilation.plan, {each.back()})});
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
    std::vector<std::vector<std::string>> names;
    for (const TensorReport* tensor : explanation.alike) names.push_back({tensor->name});
    return names.empty() ? explanation.tensor->name : fold_rows(names).front().fields.front();
}

} // namespace shard
