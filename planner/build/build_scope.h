// The names that one graph of a model file can see: its inputs, its parameters and the results so far.
#pragma once

#include "planner/graph/builder.h"
#include "planner/model/model.h"

#include <map>

namespace shard {

// A value whose definition was wrong: it is reported once, and what uses it stays silent.
inline constexpr ValueId poisoned = -1;

class Scope {
public:
    // `path` is "" for the model itself, else the module instance's, "block.0". `region`: the manual region whose
    // values the names mean; -1: outside all.
    Scope(std::string path, const std::vector<Entry>& entries, int region = -1)
        : path_(std::move(path)), entries_(&entries), region_(region) {}

    // A graph that sees what another one sees, under names of its own: values are called "<path>.<part>.<name>".
    Scope(const Scope& outer, std::string_view part, const std::vector<Entry>& entries)
        : path_(outer.full(part)), seen_(outer.path_), entries_(&entries), region_(outer.region_),
          bindings_(outer.bindings_) {}

    const std::string& path() const { return path_; }
    // The full path of a name of this scope.
    std::string full(std::string_view name) const;
    // Binds a name, anew if it is bound already.
    void bind(const std::string& name, ValueId value) { bindings_[name].push_back(value); }
    // "a" is the last binding, "a#2" the second, "block.0.h" a value of a module instance called from here.
    std::optional<ValueId> find(std::string_view name, const Graph& graph) const;
    // All of them, values that are sound; nullopt after report_unknown.
    BuiltValues find_all(const std::vector<Name>& names, const Graph& graph, Diagnostics& diagnostics) const;
    // E0222 with the nearest name, or the line at which the name is defined later; of an axis, that it is one.
    void report_unknown(const Name& name, const Graph& graph, Diagnostics& diagnostics,
                        std::span<const AxisDecl> axes = {}) const;

private:
    // A value of a module instance, whether or not this scope may see it.
    std::optional<ValueId> at_path(std::string_view name, const Graph& graph) const;

    std::string path_;
    std::optional<std::string> seen_; // the path of the outer graph
    const std::vector<Entry>* entries_;
    int region_;
    std::map<std::string, std::vector<ValueId>, std::less<>> bindings_;
};

} // namespace shard
