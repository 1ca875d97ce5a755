// What entries of a graph may refer to beside values.
#pragma once

#include "planner/model/axis_arithmetic.h"
#include "planner/read/arguments.h"

namespace shard {

struct EntryContext {
    const Axes& axes;
    const NamedList<ModuleHead>& modules;      // that may be called
    std::vector<BoundModule>* calls = nullptr; // receives those that are
    const Sources* sources = nullptr;          // in which places lie; without, they are left out

    const ModuleHead* find_module(std::string_view name) const { return modules.find(name); }
};

} // namespace shard
