#include "planner/policies_support/policy_values.h"
#include "planner/text/quantity.h"
#include "planner/text/yaml_values.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

struct Limit {
    i64 copies = 1;
    i64 min_bytes = 0; // of the whole parameter
};

std::optional<Limit> read_limit(const Yaml& yaml, Diagnostics& diagnostics) {
    Limit limit;
    if (yaml.map() == nullptr) {
        const std::optional<i64> copies = read_limit_count(yaml, "max_param_copies", 1, diagnostics);
        if (!copies) return std::nullopt;
        limit.copies = *copies;
        return limit;
    }
    const int before = diagnostics.error_count();
    check_keys(yaml, {"copies", "min_bytes"}, "max_param_copies", diagnostics);
    if (const Yaml* copies = yaml.find("copies"))
        limit.copies = read_limit_count(*copies, "copies", 1, diagnostics).value_or(1);
    if (const Yaml* bytes = yaml.find("min_bytes"))
        limit.min_bytes = read_bytes(*bytes, "min_bytes", diagnostics).value_or(0);
    return diagnostics.error_count() > before ? std::nullopt : std::optional(limit);
}

i64 copies_of(const Mesh& mesh, const TensorReport& tensor) {
    i64 parts = 1;
    for (const DimSharding& dim : tensor.sharding.dims) parts *= shard_count(dim);
    return mesh.device_count() / parts;
}

void judge_copies(const Plan& plan, const Limit& limit, Span place, Diagnostics& found) {
    TensorReports copied = all_tensors(plan);
    i64 most = 0;
    std::erase_if(copied, [&](const TensorReport* tensor) {
        if (tensor->role != Role::param || whole_bytes(*tensor) < limit.min_bytes) return true;
        const i64 copies = copies_of(plan.mesh, *tensor);
        most = std::max(most, copies);
        return copies <= limit.copies;
    });
    if (copied.empty()) return;
    note_tensors(
        found.finding("P0113", place,
                      fmt::format("{} held {} times, the limit is {}",
                                  copied.size() == 1
                                      ? copied.front()->name + " is"
                                      : fmt::format("{} are", counted(static_cast<i64>(copied.size()), "parameter")),
                                  copied.size() == 1 ? grouped(most) : "up to " + grouped(most), limit.copies)),
        plan, copied);
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<Limit> limit = read_limit(value, diagnostics);
    if (!limit) return;
    entries.push_back({"max_param_copies", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
                           judge_copies(plan, *limit, place, found);
                       }});
}

} // namespace

const PolicyDef& policy_max_param_copies() {
    static const PolicyDef def = {
        "max_param_copies",
        "Every parameter is on at most so many devices; 1: it is split over every axis of the mesh.\n"
        "max_param_copies: {copies: 1, min_bytes: 1 MiB}",
        read};
    return def;
}

} // namespace shard
