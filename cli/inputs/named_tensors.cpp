#include "cli/inputs/named_tensors.h"

#include "cli/diagnostics/diagnostics.h"
#include "planner/explain/tensor_names.h"

#include <algorithm>

namespace shard {

std::optional<std::vector<const TensorReport*>> named_tensors(Env& env, const Compilation& compilation,
                                                              std::span<const std::string> words) {
    std::vector<const TensorReport*> tensors;
    for (const std::string& word : words) {
        const std::vector<const TensorReport*> found = find_tensors(compilation, word);
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
