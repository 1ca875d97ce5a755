#include "planner/build/build_remat.h"

#include "planner/graph/binding.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace shard {

namespace {

struct Names {
    std::vector<std::string> paths; // seen from the module
    std::vector<ValueId> values;
};

Names names_of(const Graph& graph, const BuiltCall& call) {
    Names names;
    const auto add = [&](const std::string& path, ValueId id) {
        names.paths.push_back(path);
        names.values.push_back(id);
    };
    for (size_t n = 0; n < call.operands.size(); ++n) add(call.module.inputs[n].text, call.operands[n]);
    const std::string scope = call.instance + ".";
    const auto add_inside = [&](const std::string& path, ValueId id) {
        const Value& value = graph.value(id);
        if (value.producer >= 0 && !is_of_pattern(graph, id) && path.starts_with(scope))
            add(path.substr(scope.size()), id);
    };
    for (size_t v = call.values_before; v < graph.values.size(); ++v)
        add_inside(graph.values[v].name, static_cast<ValueId>(v));
    for (size_t a = call.aliases_before; a < graph.aliases.size(); ++a)
        add_inside(graph.aliases[a].first, graph.aliases[a].second);
    return names;
}

// What may have been meant, or is there.
std::string near_help(const std::string& glob, const Names& names) {
    constexpr size_t most_listed = 12;
    std::vector<std::string> known, own; // own: what the module itself calls so
    std::set<std::string> before;
    for (const std::string& path : names.paths) {
        const std::string name = without_binding(path);
        if (!before.insert(name).second) continue;
        known.push_back(name);
        if (name.find('.') == std::string::npos) own.push_back(name);
    }
    return did_you_mean(glob, {known.begin(), known.end()},
                        own.size() <= most_listed ? fmt::format("there are {}", fmt::join(own, ", ")) : std::string());
}

void report_unknown(const BuiltCall& call, const Name& glob, const Names& names, Diagnostics& diagnostics) {
    constexpr int most_compared = 100;
    diagnostics
        .error("E0248", glob.span,
               fmt::format("'{}' is no value of module '{}'", glob.text, call.module.written_name()))
        .help(diagnostics.error_count() > most_compared ? std::string() : near_help(glob.text, names));
}

} // namespace

bool keep_named(Graph& graph, const BuiltCall& call, std::set<const Name*>& said, Diagnostics& diagnostics) {
    if (call.module.kept.empty()) return true;
    const Names names = names_of(graph, call);
    const MeantPaths paths(names.paths, bound_again(names.paths));
    bool ok = true;
    for (const ModuleDecl::KeptDecl& decl : call.module.kept) {
        const std::vector<size_t> meant = paths.meant_by(decl.glob.text);
        const bool found = !meant.empty();
        for (const size_t n : meant)
            if (names.values[n] >= 0) graph.value(names.values[n]).kept = decl.kept;
        ok = ok && found;
        if (!found && said.insert(&decl.glob).second) report_unknown(call, decl.glob, names, diagnostics);
    }
    return ok;
}

} // namespace shard
