#include "planner/schedule/plan_layers.h"

#include <map>
#include <set>

namespace shard {

namespace {

// The parts of a path that are not the number of a layer.
i64 words_in(std::string_view path) {
    i64 words = 0;
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find('.', begin), path.size());
        if (path.substr(begin, end - begin).find_first_not_of("0123456789") != std::string_view::npos) ++words;
        begin = end + 1;
    }
    return words;
}

} // namespace

void name_layers(Plan& plan, const Graph& graph) {
    std::map<std::string_view, const Value*> inputs;
    for (ValueId id : graph.inputs) inputs.emplace(graph.value(id).name, &graph.value(id));
    for (PlanInput& input : plan.inputs) {
        const auto found = inputs.find(plan.buffers[input.buffer].name);
        if (found == inputs.end()) continue;
        const Value& parameter = found->second->of >= 0 ? graph.value(found->second->of) : *found->second;
        if (parameter.stacked == 0) continue;
        std::set<i64> positions; // forward and backward loops have the same scope
        for (const GraphLoop& loop : graph.loops)
            if (!loop.scope.empty() && parameter.name.starts_with(loop.scope + "."))
                positions.insert(words_in(loop.scope));
        internal_check(std::ssize(positions) == parameter.stacked,
                       "each stacked dim is of a loop around the parameter");
        input.layers.assign(positions.begin(), positions.end());
    }
}

} // namespace shard
