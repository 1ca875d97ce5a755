// Which device holds which part of some tensors of a plan: drawn for people, listed for scripts.
#pragma once

#include "cli/terminal/paint.h"
#include "plans/plan/plan.h"

namespace shard {

std::string show_text(const Plan& plan, const std::vector<const TensorReport*>& tensors, const Paint& paint);
// {format_version, tool, model, mode, mesh, tensors: [{tensor, parts}]}
std::string show_json(const Plan& plan, const std::vector<const TensorReport*>& tensors);

} // namespace shard
