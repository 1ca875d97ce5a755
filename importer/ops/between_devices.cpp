// Collectives of a manual region, as jax.lax.psum, all_gather, ppermute, ... become them.
#include "importer/model/device_groups.h"
#include "importer/model/op_context.h"
#include "importer/model/partition_number.h"
#include "importer/model/region_form.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

constexpr i64 most_numbers = 1 << 20;

// dense<[[0, 1], [2, 3]]> : tensor<2x2xi64> row by row; -1, which fills up shorter groups, is left out.
std::optional<std::vector<std::vector<i64>>> rows_of(const MlirAttribute* list) {
    if (list == nullptr || list->kind != MlirAttribute::Kind::elements || list->type.shape.size() != 2 ||
        !list->text.empty())
        return std::nullopt;
    const i64 rows = list->type.shape[0], columns = list->type.shape[1];
    const size_t written = list->numbers.size();
    if (rows > most_numbers || columns > most_numbers || rows * columns > most_numbers ||
        (written != 1 && static_cast<i64>(written) != rows * columns))
        return std::nullopt;
    std::vector<std::vector<i64>> result(static_cast<size_t>(rows));
    for (i64 i = 0; i < rows * columns; ++i) {
        const std::optional<i64> number = parse_number<i64>(list->numbers[written == 1 ? 0 : static_cast<size_t>(i)]);
        if (!number) return std::nullopt;
        if (*number != -1) result[static_cast<size_t>(i / columns)].push_back(*number);
    }
    return result;
}

std::string over_text(const std::vector<std::string>& axes) {
    return axes.size() == 1 ? axes[0] : fmt::format("[{}]", fmt::join(axes, ", "));
}

// The axes that a collective works along: of its groups, which are within the region's. None where each device is alone,
// as of a shard_map over one device, of which JAX leaves no region.
std::optional<std::vector<std::string>> axes_of(OpContext& context) {
    const std::optional<std::vector<std::vector<i64>>> groups =
        rows_of(find_attribute(context.op.items, {"replica_groups"}));
    const std::vector<std::string>* const own = context.region_axes();
    if (own == nullptr) {
        // No groups at all are one of all devices.
        if (groups && !groups->empty() &&
            std::all_of(groups->begin(), groups->end(), [](const auto& group) { return group.size() == 1; }))
            return std::vector<std::string>();
        context.refuse(fmt::format("{} outside of a manual region", context.op.name), "write jax.shard_map around it");
        return std::nullopt;
    }
    const std::optional<std::vector<std::string>> axes =
        groups ? axes_of_groups(mesh_of(context.module), *groups) : std::nullopt;
    const bool within = axes && std::all_of(axes->begin(), axes->end(), [&](const std::string& axis) {
                            return std::find(own->begin(), own->end(), axis) != own->end();
                        });
    if (!within) {
        context.refuse("devices that are no axes of the mesh", "name axes: jax.lax.psum(x, 'data')");
        return std::nullopt;
    }
    return axes;
}

struct Meaning {
    std::string op;
    std::string arguments; // behind `over`
    bool is_same_over = false;
};

// One entry for each operand, all of them alike.
bool add_all(OpContext& context, const std::vector<std::string>& axes, const Meaning& meaning) {
    if (!context.expect(context.operand_count() == context.op.results.size() && context.operand_count() > 0,
                        "has a result for each operand"))
        return false;
    for (size_t i = 0; i < context.operand_count(); ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        if (!type) return false;
        const DraftId operand = context.operand(i);
        if (axes.empty() && !context.expect(*type == context.draft.type(operand), "keeps types along no axis"))
            return false;
        context.set(i, axes.empty()
                           ? operand
                           : context.draft.collective(meaning.op, operand,
                                                      fmt::format(", over: {}{}", over_text(axes), meaning.arguments),
                                                      axes, meaning.is_same_over, *type));
    }
    return true;
}

bool import_all_reduce(OpContext& context, std::string_view) {
    const std::optional<std::vector<std::string>> axes = axes_of(context);
    if (!axes) return false;
    static const std::map<std::string, std::string> known = {
        {"stablehlo.add", "psum"}, {"stablehlo.maximum", "pmax"}, {"stablehlo.minimum", "pmin"}};
    std::string form = context.op.regions.size() == 1 ? region_form(context.module, context.op.regions[0]) : "";
    const std::map<std::string, std::string>::const_iterator it =
        std::find_if(known.begin(), known.end(), [&](const std::pair<const std::string, std::string>& one) {
            const std::string applied = one.first.substr(one.first.find('.') + 1) + "(0,1);";
            // Behind it may stand a constraint of the sum, which has no dims.
            return form == applied + "return(2);" || form == applied + "sharding_constraint(2);return(3);" ||
                   form == applied + "custom_call(2);return(3);";
        });
    if (it == known.end())
        return context.refuse("a reduction over devices by a rule of its own", "known are psum, pmax and pmin");
    return add_all(context, *axes, {it->second, {}, true});
}

bool import_all_gather(OpContext& context, std::string_view) {
    const std::optional<std::vector<std::string>> axes = axes_of(context);
    const std::optional<i64> dim = context.integer({"all_gather_dim"});
    return axes && dim && add_all(context, *axes, {"all_gather", fmt::format(", dim: {}, tiled: true", *dim), true});
}

bool import_reduce_scatter(OpContext& context, std::string_view) {
    const std::optional<std::vector<std::string>> axes = axes_of(context);
    const std::optional<i64> dim = context.integer({"scatter_dimension"});
    if (!axes || !dim) return false;
    if (context.op.regions.size() != 1 || applied_op(context.op) != "stablehlo.add")
        return context.refuse("a scattered reduction that is no sum", "jax.lax.psum_scatter is known");
    return add_all(context, *axes, {"psum_scatter", fmt::format(", dim: {}, tiled: true", *dim), false});
}

bool import_all_to_all(OpContext& context, std::string_view) {
    const std::optional<std::vector<std::string>> axes = axes_of(context);
    const std::optional<i64> split = context.integer({"split_dimension"}),
                             concat = context.integer({"concat_dimension"});
    return axes && split && concat &&
           add_all(context, *axes,
                   {"all_to_all", fmt::format(", split: {}, concat: {}, tiled: true", *split, *concat), false});
}

bool import_permute(OpContext& context, std::string_view) {
    const std::optional<std::vector<std::vector<i64>>> rows =
        rows_of(find_attribute(context.op.items, {"source_target_pairs"}));
    std::vector<std::pair<i64, i64>> pairs;
    if (!context.expect(rows.has_value(), "says who sends to whom")) return false;
    for (const std::vector<i64>& row : *rows) {
        if (!context.expect(row.size() == 2, "says who sends to whom")) return false;
        pairs.emplace_back(row[0], row[1]);
    }
    const std::vector<std::string>* const own = context.region_axes();
    if (own == nullptr && pairs == std::vector<std::pair<i64, i64>>{{0, 0}})
        return add_all(context, {}, {}); // to itself
    if (own == nullptr)
        return context.refuse("stablehlo.collective_permute outside of a manual region",
                              "write jax.shard_map around it");
    const std::optional<PermutedAxes> along = axes_of_pairs(mesh_of(context.module), pairs);
    const bool within = along && std::all_of(along->axes.begin(), along->axes.end(), [&](const std::string& axis) {
                            return std::find(own->begin(), own->end(), axis) != own->end();
                        });
    if (!within) return context.refuse("a permutation that is not along axes of the mesh", "name an axis: ppermute");
    std::vector<std::string> texts;
    for (const auto& [from, to] : along->pairs) texts.push_back(fmt::format("[{}, {}]", from, to));
    return add_all(context, along->axes, {"ppermute", fmt::format(", perm: [{}]", fmt::join(texts, ", ")), false});
}

// The number of the device: jax.lax.axis_index divides it by the devices behind its axis, and takes what is left.
bool import_partition_id(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const std::vector<std::string>* const own = context.region_axes();
    if (!type || !context.expect(context.operand_count() == 0 && type->shape.empty() && is_integer(type->dtype),
                                 "is a whole number"))
        return false;
    if (own == nullptr && context.module.partitions == 1) {
        context.set(0, context.draft.number(*type, {}));
        return true;
    }
    if (own == nullptr) return context.refuse("a device's number outside of a manual region");
    context.set(0, partition_number(context, type->dtype));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_between_devices() {
    return {{"stablehlo.all_reduce", import_all_reduce},         {"stablehlo.all_gather", import_all_gather},
            {"stablehlo.reduce_scatter", import_reduce_scatter}, {"stablehlo.all_to_all", import_all_to_all},
            {"stablehlo.collective_permute", import_permute},    {"stablehlo.partition_id", import_partition_id}};
}

} // namespace shard
