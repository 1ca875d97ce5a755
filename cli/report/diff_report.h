// Several plans of one model side by side: figures with the best marked, and the shardings that differ. The first plan
// is the base that the others are compared with.
#pragma once

#include "cli/summary/sharding_changes.h"
#include "cli/terminal/paint.h"
#include "plans/plan/plan.h"

#include <functional>

namespace shard {

struct NamedPlan {
    std::string name;
    const Plan* plan = nullptr;
};

// One figure of a plan; less is better.
struct Figure {
    std::string key, label; // as in JSON; as people read it
    std::function<double(const Report&)> value;
    std::function<std::string(double)> text;
};
std::vector<Figure> figures_of(const std::vector<NamedPlan>& plans);

// "+12.5%" of the base; empty for the base and for no change.
std::string change_text(double value, double base);

// Tensors that any two plans have differently. Meshes may differ, so texts are compared.
std::vector<ShardingChange> differing_shardings(const std::vector<NamedPlan>& plans);

// What is wrong with comparing them at all: times of different hardware. Empty if nothing is.
std::string_view comparison_warning(const std::vector<NamedPlan>& plans);

// True if any figure or sharding differs.
bool plans_differ(const std::vector<NamedPlan>& plans);

// all_values: intermediate values too, not only what the model declares.
std::string diff_text(const std::vector<NamedPlan>& plans, const Paint& paint, bool all_values);
std::string diff_markdown(const std::vector<NamedPlan>& plans, bool all_values);
std::string diff_json(const std::vector<NamedPlan>& plans);

} // namespace shard
