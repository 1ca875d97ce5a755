// Builds a manual region: its values enter as the region's `in` says, the body's entries are built over local types,
// and what `out` names leaves. Everything that is wrong with the border is reported with its place: axes that the mesh
// or the region lacks, dims that do not divide, and results that vary over an axis that their sharding does not name.
#pragma once

#include "planner/build/build_scope.h"
#include "planner/model/model.h"

#include <functional>

namespace shard {

struct ManualBuild {
    Builder& builder;
    const Model& model;
    const Mesh* mesh = nullptr; // nullptr: the layout is not known
    int around = -1;            // the region in which the entry stands; -1: none
    const Scope& scope;         // around the region
    const Entry& entry;
    std::string path; // of the body's values
    // Builds the body's entries in the region of that number.
    std::function<bool(Scope& body, const std::vector<Entry>& entries, int region)> run;
};

// The global values that leave; nullopt after reporting.
BuiltValues build_manual(const ManualBuild& build);

// What a device has of a parameter that a module of the body declares: a whole value like others, which enters as its
// own `mesh` says. nullopt after reporting that it does not divide.
std::optional<ValueId> enter_declared(Builder& builder, const Mesh& mesh, int region, ValueId whole,
                                      const TensorDecl& decl);

} // namespace shard
