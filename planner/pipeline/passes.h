// The passes of the planner: what `compile` does, in order.
#pragma once

#include "planner/pipeline/compilation.h"

#include <string_view>

namespace shard {

struct PassDef {
    std::string_view name;  // "seed"
    std::string_view doc;   // what it makes of what: "rules, overrides, fsdp -> initial shardings"
    std::string_view holds; // from here on, by what `check` and its own errors see to
    // Reports what is wrong; after an error no further pass is run.
    void (*run)(Compilation&, const PlanRequest&, Sources&) = nullptr;
    void (*check)(const Compilation&) = nullptr; // an internal error if it does not hold; may be empty
    bool only_improves = false;                  // without it a plan is longer, slower or larger, and right
};

// nullptr: no such name.
const PassDef* find_pass(std::string_view name);

} // namespace shard
