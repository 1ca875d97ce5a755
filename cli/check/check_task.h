// One model with one layout, held to its budgets: what `check` does, once or many times at once. A task holds the texts
// that it needs, so that tasks share nothing that changes and may run in any order.
#pragma once

#include "cli/check/baseline.h"
#include "cli/inputs/inputs.h"
#include "planner/model/policy.h"

namespace shard {

// A policy file, or a policy that stands in another file and was read there.
struct TaskPolicy {
    std::shared_ptr<const LoadedText> file;
    std::optional<PolicyDecl> read = {};
};

struct CheckTask {
    std::string name; // of the subject
    std::shared_ptr<const LoadedModel> model;
    std::shared_ptr<const LoadedText> layout;
    std::vector<TaskPolicy> policies = {}; // on top of the layout's own
    PlanArguments asked = {};
    CheckedAs as = {};
    bool strict = false;                           // warnings are findings
    std::shared_ptr<const Baseline> baseline = {}; // may be absent
    Tolerance tolerance = {};
    std::string accept_in = {}; // the baseline that is written instead of being compared with; empty: none
};

struct Checked {
    std::unique_ptr<Sources> sources = std::make_unique<Sources>();
    Subject subject = {};
};

// The results in the order of the tasks, whatever runs when; as many threads as the machine has cores.
std::vector<Checked> check_all(const std::vector<CheckTask>& tasks);

} // namespace shard
