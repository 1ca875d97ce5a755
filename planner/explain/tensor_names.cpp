#include "planner/explain/tensor_names.h"

#include "planner/text/glob.h"

namespace shard {

namespace {

const TensorReport* exact(const Report& report, std::string_view name) {
    const TensorReport* output = nullptr;
    for (const TensorReport& tensor : report.tensors) {
        if (tensor.name != name) continue;
        if (tensor.role != Role::output) return &tensor;
        output = &tensor;
    }
    return output;
}

} // namespace

std::vector<const TensorReport*> find_tensors(const Compilation& compilation, const std::string& wanted) {
    const Report& report = compilation.plan->report;
    // A bare name is the last rebinding, also where the first has that very name.
    std::optional<ValueId> value = find_value(*compilation.graph, wanted);
    if (value)
        if (const TensorReport* tensor = exact(report, compilation.graph->value(*value).name)) return {tensor};
    if (const TensorReport* tensor = exact(report, wanted)) return {tensor};
    std::vector<const TensorReport*> found;
    if (is_glob(wanted))
        for (const TensorReport& tensor : report.tensors)
            if (glob_matches(wanted, tensor.name) && exact(report, tensor.name) == &tensor) found.push_back(&tensor);
    return found;
}

std::optional<ValueId> value_of(const Graph& graph, std::string_view name, Role role) {
    if (role == Role::output || name.find('#') != std::string_view::npos) return find_value(graph, name);
    return find_value(graph, std::string(name) + "#1");
}

bool touches(const CollectiveReport& collective, std::string_view tensor) {
    auto base = [](std::string_view name) { return name.substr(0, name.find('#')); };
    return base(collective.tensor) == base(tensor);
}

} // namespace shard
