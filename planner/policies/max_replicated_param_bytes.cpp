#include "planner/policies_support/policy_values.h"
#include "planner/text/quantity.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

void judge_replicated(const Plan& plan, i64 limit, Span place, Diagnostics& found) {
    if (plan.mesh.device_count() == 1) return;
    TensorReports whole = all_tensors(plan);
    std::erase_if(whole, [](const TensorReport* tensor) {
        return tensor->role != Role::param || !is_fully_replicated(tensor->sharding);
    });
    i64 bytes = 0;
    for (const TensorReport* tensor : whole) bytes = add_saturating(bytes, tensor->bytes_per_device);
    if (bytes <= limit) return;
    note_tensors(found.finding("P0105", place,
                               fmt::format("{} of parameters are held in full by every device, the limit is {}",
                                           exact_bytes(bytes), exact_bytes(limit))),
                 plan, std::move(whole));
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<i64> limit = read_bytes(value, "max_replicated_param_bytes", diagnostics);
    if (!limit) return;
    entries.push_back(
        {"max_replicated_param_bytes", value.span,
         [limit](const Plan& plan, Span place, Diagnostics& found) { judge_replicated(plan, *limit, place, found); }});
}

} // namespace

const PolicyDef& policy_max_replicated_param_bytes() {
    static const PolicyDef def = {
        "max_replicated_param_bytes",
        "Parameters that every device holds in full are at most this, together.\nmax_replicated_param_bytes: 64 MiB",
        read};
    return def;
}

} // namespace shard
