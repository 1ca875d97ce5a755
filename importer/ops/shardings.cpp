// What a program says about shardings, in the middle of it.
#include "importer/model/device_shardings.h"
#include "importer/model/op_context.h"
#include "importer/model/sharding_text.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// What is constrained twice, as modules and what they are made of do, is once.
DraftId constrained(Draft& draft, DraftId value, const std::string& mesh, const DraftType& type) {
    std::string arguments = fmt::format(", mesh: {}", mesh);
    const DraftEntry* const above = draft.sure_entry_of(value);
    if (above != nullptr && above->op == "constrain" && above->arguments == arguments) return value;
    return draft.add("constrain", {value}, std::move(arguments), type);
}

// <@mesh, [...]> of the pretty form, sharding = #sdy.sharding<...> of the generic one.
bool import_constraint(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 && *type == context.type(0), "keeps its operand's type"))
        return false;
    const MlirAttribute* sharding = find_attribute(context.op.items, {"sharding"});
    for (const MlirItem& item : context.op.items)
        if (sharding == nullptr && item.key.empty() && !item.parts.empty() &&
            item.parts[0].kind == MlirAttribute::Kind::list)
            sharding = &item.parts[0];
    if (!context.expect(sharding != nullptr, "has a sharding")) return false;
    const std::optional<std::string> text = sharding_text(*sharding);
    if (!text) return context.refuse("a sharding over a part of an axis, or over several of which more may follow");
    context.set(0, constrained(context.draft, context.operand(0), *text, *type));
    return true;
}

// lax.approx_max_k, which is exact where there is no hardware for it.
bool import_approx_top_k(OpContext& context) {
    const MlirAttribute* const config = find_attribute(context.op.items, {"mhlo.backend_config"});
    const MlirAttribute* const functions = find_attribute(context.op.items, {"called_computations"});
    const MlirAttribute* const k = config == nullptr ? nullptr : find_attribute(config->items, {"top_k"});
    const MlirAttribute* const dim = config == nullptr ? nullptr : find_attribute(config->items, {"reduction_dim"});
    const std::optional<DraftType> values = context.result_type(0), positions = context.result_type(1);
    if (!values || !positions) return false;
    const bool largest = functions != nullptr && !functions->items.empty() && !functions->items[0].parts.empty() &&
                         functions->items[0].parts[0].text.starts_with("top_k_gt_");
    if (!largest || k == nullptr || dim == nullptr || context.operand_count() != 4 ||
        dim->integer + 1 != std::ssize(context.type(0).shape) || values->shape.empty() ||
        values->shape.back() != k->integer)
        return context.refuse("lax.approx_max_k of another form", "take the largest along the last dim, or lax.top_k");
    const std::vector<DraftId> found = context.draft.add_many(
        "top_k", {context.operand(0)}, fmt::format(", k: {}", k->integer), {*values, {DType::i32, positions->shape}});
    context.set(0, found[0]);
    context.set(1, context.draft.cast(found[1], positions->dtype));
    return true;
}

// The dims of "unspecified_dims=[0,2]".
std::set<i64> open_dims(std::string_view config) {
    std::set<i64> dims;
    constexpr std::string_view before = "unspecified_dims=[";
    const size_t begin = config.find(before);
    if (begin == std::string_view::npos) return dims;
    config.remove_prefix(begin + before.size());
    config = config.substr(0, config.find(']'));
    while (!config.empty()) {
        const size_t comma = std::min(config.find(','), config.size());
        if (const std::optional<i64> dim = parse_number<i64>(config.substr(0, comma))) dims.insert(*dim);
        config.remove_prefix(std::min(comma + 1, config.size()));
    }
    return dims;
}

// The constraint of GSPMD: mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}".
void import_device_constraint(OpContext& context, const DraftType& type) {
    const MlirAttribute* const sharding = find_attribute(context.op.items, {"mhlo.sharding"});
    const MlirAttribute* const config = find_attribute(context.op.items, {"backend_config"});
    const std::set<i64> open = config == nullptr ? std::set<i64>{} : open_dims(config->text);
    const std::optional<std::string> text =
        sharding == nullptr ? std::nullopt : context.device_shardings().text(sharding->text, type.shape.size(), open);
    if (!text) {
        context.warn_of_devices();
        context.set(0, context.operand(0));
        return;
    }
    context.set(0, constrained(context.draft, context.operand(0), *text, type));
}

// Why a call is none that a plan could have, by its target; what to do.
struct OutsideCall {
    std::string_view part, what, help;
};
constexpr OutsideCall outside_calls[] = {
    {"callback", "a callback into Python, whose result the program reads",
     "compute it before, and pass it in; equinox.error_if makes none with EQX_ON_ERROR=nan"},
    {"lapack", "a decomposition of matrices, or a solution of equations", "compute it before, and pass it in"},
    {"cusolver", "a decomposition of matrices, or a solution of equations", "compute it before, and pass it in"},
    {"cublas", "a solution of equations", "compute it before, and pass it in"},
};

bool refuse_call(OpContext& context, const std::string& target) {
    for (const OutsideCall& call : outside_calls)
        if (target.find(call.part) != std::string::npos)
            return context.refuse(fmt::format("{}: '{}'", call.what, target), std::string(call.help));
    return context.refuse(fmt::format("a call of '{}', which is not part of the program", target));
}

// Calls of what is not in the program.
bool import_custom_call(OpContext& context, std::string_view) {
    std::string target;
    if (const MlirAttribute* const name = find_attribute(context.op.items, {"call_target_name"})) target = name->text;
    for (const MlirItem& item : context.op.items)
        if (target.empty() && !item.parts.empty() && item.parts[0].kind == MlirAttribute::Kind::symbol)
            target = item.parts[0].text;
    // jax.debug.print and callback, whose results nobody reads.
    if (context.op.results.empty()) {
        context.warn_of_callback(target);
        return true;
    }
    if (target == "ApproxTopK") return import_approx_top_k(context);
    if (const ImportRow* const row = find_import(fmt::format("custom_call @{}", target)))
        return row->import(context, row->becomes);
    if (target != "Sharding" || context.operand_count() != 1 || context.op.results.size() != 1)
        return refuse_call(context, target);
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(*type == context.type(0), "keeps its operand's type")) return false;
    import_device_constraint(context, *type);
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_shardings() {
    return {{"sdy.sharding_constraint", import_constraint}, {"stablehlo.custom_call", import_custom_call}};
}

} // namespace shard
