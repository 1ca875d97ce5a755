// sdy.manual_computation, which jax.shard_map becomes: a manual region of the model.
#include "importer/model/device_groups.h"
#include "importer/model/draft_region.h"
#include "importer/model/op_context.h"
#include "importer/model/sharding_text.h"

#include <algorithm>
#include <set>

namespace shard {

namespace {

// [<@mesh, [{"data"}]>, ...], or #sdy.sharding_per_value<[...]>.
const std::vector<MlirItem>* shardings_of(const MlirOp& op, std::string_view key) {
    const MlirAttribute* list = find_attribute(op.items, {key});
    if (list != nullptr && list->text.starts_with('#') && list->items.size() == 1 && list->items[0].parts.size() == 1)
        list = &list->items[0].parts[0];
    return list == nullptr || list->kind != MlirAttribute::Kind::list ? nullptr : &list->items;
}

// {"data", "model"}, or #sdy<manual_axes{"data"}>, in the order of the mesh.
std::vector<std::string> manual_axes(const MlirOp& op, const ProgramMesh& mesh) {
    std::set<std::string> said;
    const auto take = [&](const auto& self, const std::vector<MlirItem>& items) -> void {
        for (const MlirItem& item : items)
            for (const MlirAttribute& part : item.parts) {
                if (part.kind == MlirAttribute::Kind::text) said.insert(part.text);
                self(self, part.items);
            }
    };
    for (const MlirItem& item : op.items)
        if (item.key == "manual_axes")
            for (const MlirAttribute& part : item.parts) take(take, part.items);
    std::vector<std::string> axes;
    for (const std::string& axis : mesh.axes)
        if (said.contains(axis)) axes.push_back(axis);
    return axes;
}

bool take_border(OpContext& context, std::string_view key, const std::vector<DraftId>& values,
                 const std::vector<std::string>& axes, std::vector<DraftRegion::Border>& into) {
    const std::vector<MlirItem>* const shardings = shardings_of(context.op, key);
    if (!context.expect(shardings != nullptr && shardings->size() == values.size(), "says how each value is split"))
        return false;
    for (size_t i = 0; i < values.size(); ++i) {
        const std::vector<MlirAttribute>& parts = (*shardings)[i].parts;
        const std::optional<std::string> text = parts.size() == 1 ? sharding_over(parts[0], axes) : std::nullopt;
        if (!text) return context.refuse("a region that is manual over a part of an axis", "name whole axes");
        into.push_back({values[i], *text});
    }
    return true;
}

bool names_axis(const std::string& sharding, const std::string& axis) {
    for (size_t at = sharding.find(axis); at != std::string::npos; at = sharding.find(axis, at + 1)) {
        const auto is_part = [&](size_t i) { return i < sharding.size() && name_text(sharding.substr(i, 1)) != ""; };
        if ((at == 0 || !is_part(at - 1)) && !is_part(at + axis.size())) return true;
    }
    return false;
}

// Whether what leaves varies only over axes that its sharding names: what a model can check.
bool can_check(const DraftRegion& region) {
    std::vector<std::set<std::string>> varying(static_cast<size_t>(region.body.value_count()));
    for (const DraftRegion::Border& border : region.in)
        for (const std::string& axis : region.axes)
            if (names_axis(border.sharding, axis)) varying[static_cast<size_t>(border.value)].insert(axis);
    for (size_t i = 0; i < region.body.entry_count(); ++i) {
        const DraftEntry& entry = region.body.entry(i);
        std::set<std::string> over;
        for (const DraftId operand : entry.operands)
            over.insert(varying[static_cast<size_t>(operand)].begin(), varying[static_cast<size_t>(operand)].end());
        for (const std::string& axis : entry.over)
            if (entry.is_same_over)
                over.erase(axis);
            else
                over.insert(axis);
        for (const DraftId result : entry.results) varying[static_cast<size_t>(result)] = over;
    }
    return std::all_of(region.out.begin(), region.out.end(), [&](const DraftRegion::Border& border) {
        const std::set<std::string>& over = varying[static_cast<size_t>(border.value)];
        return std::all_of(over.begin(), over.end(),
                           [&](const std::string& axis) { return names_axis(border.sharding, axis); });
    });
}

// A region that nothing enters gives numbers, as the gradient of a function does whose argument is not differentiated.
bool import_numbers(OpContext& context, const std::vector<std::string>& axes) {
    Draft body;
    const MlirRegion& region = context.op.regions.front();
    if (!context.expect(region.arguments.empty(), "takes no argument where nothing enters")) return false;
    const std::optional<std::vector<DraftId>> results = context.run_in(region, body, {}, axes);
    if (!results) return false;
    if (!context.expect(results->size() == context.op.results.size(), "returns a value for each result")) return false;
    for (size_t i = 0; i < results->size(); ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        const DraftValue& value = body[(*results)[i]];
        if (!type) return false;
        if (!value.number) return context.refuse("a region that nothing enters, and that computes more than numbers");
        context.set(i, context.draft.number(*type, *value.number));
    }
    return true;
}

bool import_manual(OpContext& context, std::string_view) {
    if (!context.expect(context.op.regions.size() == 1 && !context.op.results.empty(), "has a body and results"))
        return false;
    if (context.region_axes() != nullptr) return context.refuse("a manual region inside of one");
    const ProgramMesh mesh = mesh_of(context.module);
    const std::shared_ptr<DraftRegion> region = std::make_shared<DraftRegion>();
    region->axes = manual_axes(context.op, mesh);
    region->is_all = region->axes == mesh.axes;
    const MlirRegion& body = context.op.regions.front();
    if (region->axes.empty()) return context.refuse("a region that is manual over no axis of the program's mesh");
    if (context.operand_count() == 0) return import_numbers(context, region->axes);
    std::vector<DraftId> operands, arguments;
    for (size_t i = 0; i < context.operand_count(); ++i) operands.push_back(context.operand(i));
    if (!context.expect(body.arguments.size() == operands.size(), "has an argument for each operand")) return false;
    std::set<std::string> taken;
    for (size_t i = 0; i < operands.size(); ++i) {
        const std::optional<DraftType> type = context.type_of(body.arguments[i]);
        if (!type) return false;
        const DraftValue& given = context.draft[operands[i]];
        const std::string best = given.is_input ? given.name : "x";
        std::string name = best;
        for (int n = 2; !taken.insert(name).second; ++n) name = best + "_" + std::to_string(n);
        arguments.push_back(region->body.input(name, *type, false, context.op.span));
    }
    if (!take_border(context, "in_shardings", arguments, region->axes, region->in)) return false;
    std::optional<std::vector<DraftId>> results = context.run_in(body, region->body, arguments, region->axes);
    if (!results) return false;
    if (!context.expect(results->size() == context.op.results.size(), "returns a value for each result")) return false;
    std::vector<DraftId> left; // each once: a name is one of what leaves
    for (size_t i = 0; i < results->size(); ++i) {
        DraftId value = region->body.output((*results)[i], region->body.name_of((*results)[i]));
        if (std::find(left.begin(), left.end(), value) != left.end()) {
            const DraftType type = region->body.type(value);
            value = region->body.add("reshape", {value}, ", shape: " + list_text(type.shape), type);
        }
        left.push_back(value);
    }
    if (!take_border(context, "out_shardings", left, region->axes, region->out)) return false;
    region->check = can_check(*region);
    std::vector<DraftType> types;
    for (size_t i = 0; i < left.size(); ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        if (!type) return false;
        types.push_back(*type);
    }
    const std::vector<DraftId> made = context.draft.manual(region, operands, types);
    for (size_t i = 0; i < made.size(); ++i) {
        context.draft.rename(made[i], region->body.name_of(left[i]));
        context.set(i, made[i]);
    }
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_manual() { return {{"sdy.manual_computation", import_manual}}; }

} // namespace shard
