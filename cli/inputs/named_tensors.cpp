#include "cli/inputs/named_tensors.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/fold.h"
#include "planner/explain/tensor_names.h"

#include <algorithm>

namespace shard {

namespace {

// Reports write "unembed, block.{wq,wk}": a comma outside braces parts names.
std::vector<std::string> names_in(const std::string& word) {
    std::vector<std::string> names(1);
    int depth = 0;
    for (const char c : word) {
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (c == ',' && depth == 0)
            names.emplace_back();
        else if (c != ' ')
            names.back() += c;
    }
    return names;
}

} // namespace

std::vector<const TensorReport*> tensors_of_collectives(const Compilation& compilation, std::string_view kind) {
    constexpr size_t most = 8;
    std::vector<std::vector<std::string>> names;
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        if (kind.empty() || collective.kind == kind) names.push_back({collective.tensor});
    std::vector<const TensorReport*> tensors;
    for (const FoldedRow& row : fold_rows(names))
        for (const TensorReport* tensor : find_tensors(compilation, names[row.members.front()][0]))
            if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end() && tensors.size() < most)
                tensors.push_back(tensor);
    return tensors;
}

std::optional<std::vector<const TensorReport*>> named_tensors(Env& env, const Compilation& compilation,
                                                              std::span<const std::string> words) {
    std::vector<const TensorReport*> tensors;
    std::vector<std::string> wanted;
    for (const std::string& word : words)
        for (std::string& name : names_in(word)) wanted.push_back(std::move(name));
    for (const std::string& word : wanted) {
        std::vector<const TensorReport*> found = find_tensors(compilation, word);
        if (found.empty()) found = tensors_of_collectives(compilation, word);
        tensors.insert(tensors.end(), found.begin(), found.end());
        if (!found.empty()) continue;
        std::vector<std::string_view> names;
        for (const TensorReport& tensor : compilation.plan->report.tensors)
            if (std::find(names.begin(), names.end(), tensor.name) == names.end()) names.push_back(tensor.name);
        unknown_name(env, "tensor", word, names);
        return std::nullopt;
    }
    return tensors;
}

} // namespace shard
