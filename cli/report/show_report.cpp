#include "cli/report/show_report.h"

#include "cli/report/device_grid.h"
#include "cli/report/nouns.h"
#include "cli/terminal/fold.h"
#include "plans/base/version.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/file/report_json.h"
#include "plans/json/json_text.h"
#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Layers that are laid out alike are drawn once.
std::string draw(const Plan& plan, const std::vector<const TensorReport*>& tensors, const Paint& paint) {
    std::vector<std::vector<std::string>> rows;
    for (const TensorReport* tensor : tensors)
        rows.push_back({tensor->name, std::string(name(tensor->role)),
                        type_text(tensor->dtype, tensor->shape, tensor->logical), text(plan.mesh, tensor->sharding)});
    std::string out;
    for (const FoldedRow& row : fold_rows(rows)) {
        const TensorReport& tensor = *tensors[row.members.front()];
        out += (out.empty() ? "" : "\n") + device_grid(plan.mesh, tensor, row.fields[0], paint);
    }
    return out;
}

constexpr i64 most_listed_devices = 4096;

// Where a part lies in its tensor, and the devices that hold it. Parts in the order of their indices.
std::string parts_json(const Mesh& mesh, const TensorReport& tensor) {
    const Sharding sharding = without_unit_axes(tensor.sharding);
    std::vector<i64> counts;
    for (const DimSharding& dim : sharding.dims) counts.push_back(shard_count(dim));
    std::vector<std::string> parts;
    std::vector<i64> part(counts.size(), 0);
    for (bool more = true; more;) {
        std::vector<i64> start;
        for (size_t d = 0; d < part.size(); ++d) start.push_back(part[d] * tensor.local_shape[d]);
        parts.push_back(JsonObject()
                            .raw("start", json_integers(start))
                            .raw("devices", json_integers(holders(mesh, sharding, part)))
                            .text());
        more = false;
        for (size_t d = part.size(); d-- > 0 && !more;) {
            more = ++part[d] < counts[d];
            if (!more) part[d] = 0;
        }
    }
    return json_array(parts);
}

} // namespace

std::string show_text(const Plan& plan, const std::vector<const TensorReport*>& tensors, const Paint& paint) {
    const std::string heading =
        fmt::format("{}, {}\n\n", plan.model, paint_axes(paint, plan.mesh, mesh_text(plan.mesh)));
    return heading + draw(plan, tensors, paint);
}

std::string show_json(const Plan& plan, const std::vector<const TensorReport*>& tensors) {
    std::vector<std::string> items;
    for (const TensorReport* tensor : tensors) {
        JsonObject object;
        object.raw("tensor", print_tensor(plan.mesh, *tensor));
        if (plan.mesh.device_count() <= most_listed_devices) object.raw("parts", parts_json(plan.mesh, *tensor));
        items.push_back(object.text());
    }
    return JsonObject()
               .integer("format_version", 1)
               .string("tool", tool_text())
               .string("model", plan.model)
               .string("mode", plan.mode)
               .raw("mesh", print_mesh(plan.mesh))
               .raw("tensors", json_lines(items, 2))
               .text() +
           "\n";
}

} // namespace shard
