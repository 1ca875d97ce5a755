// Calls, loops and branches.
#include "importer/model/op_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr int most_trips = 10'000;
constexpr int most_computed_trips = 256; // of a loop whose bound is not known yet

// Of a composite what it is made of is called.
bool import_call(OpContext& context, std::string_view) {
    const MlirAttribute* callee = find_attribute(context.op.items, {"callee", "decomposition"});
    for (const MlirItem& item : context.op.items)
        if (callee == nullptr && !item.parts.empty() && item.parts[0].kind == MlirAttribute::Kind::symbol)
            callee = &item.parts[0];
    if (!context.expect(callee != nullptr, "says whom it calls")) return false;
    std::vector<DraftId> arguments;
    for (size_t i = 0; i < context.operand_count(); ++i) arguments.push_back(context.operand(i));
    const std::string called = callee->text;
    const std::optional<std::vector<DraftId>> results = context.call(called, arguments);
    if (!results) return false;
    if (!context.expect(results->size() == context.op.results.size(), "has other results than what it calls"))
        return false;
    for (size_t i = 0; i < results->size(); ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        if (!type ||
            !context.expect(*type == context.draft.type((*results)[i]), "has other results than what it calls"))
            return false;
        context.set(i, (*results)[i]);
    }
    return true;
}

// Which values of a loop its condition depends on: those that it reads, and what they are made of in the body.
std::vector<bool> deciding(const MlirOp& loop) {
    const MlirRegion &condition = loop.regions[0], &body = loop.regions[1];
    std::set<MlirId> needed;
    const auto need = [&needed](const auto& self, const MlirOp& op) -> void {
        needed.insert(op.operands.begin(), op.operands.end());
        for (const MlirRegion& region : op.regions)
            for (const MlirOp& inner : region.ops) self(self, inner);
    };
    for (const MlirOp& op : condition.ops) need(need, op);
    std::vector<bool> decides(condition.arguments.size(), false);
    for (size_t i = 0; i < decides.size(); ++i) decides[i] = needed.contains(condition.arguments[i]);
    for (bool is_new = true; is_new;) {
        is_new = false;
        needed.clear();
        for (size_t op = body.ops.size(); op-- > 0;) {
            const MlirOp& made = body.ops[op];
            if (op + 1 == body.ops.size()) {
                for (size_t i = 0; i < std::min(decides.size(), made.operands.size()); ++i)
                    if (decides[i]) needed.insert(made.operands[i]);
            } else if (std::any_of(made.results.begin(), made.results.end(),
                                   [&](MlirId result) { return needed.contains(result); })) {
                need(need, made);
            }
        }
        for (size_t i = 0; i < std::min(decides.size(), body.arguments.size()); ++i)
            if (!decides[i] && needed.contains(body.arguments[i])) decides[i] = is_new = true;
    }
    return decides;
}

// Values that are not the same in all trips, as far as the program says.
std::vector<bool> handed_on(const MlirRegion& body) {
    std::vector<bool> changes(body.arguments.size(), true);
    if (body.ops.empty()) return changes;
    const std::vector<MlirId>& next = body.ops.back().operands;
    for (size_t i = 0; i < std::min(next.size(), changes.size()); ++i) changes[i] = next[i] != body.arguments[i];
    return changes;
}

// Loops are written out. Where only a bound of the trips is known, as of `i < 8 and not done`, all of them are made, and
// of what they carry that stays which the loop would have ended with.
bool import_while(OpContext& context, std::string_view) {
    if (!context.expect(context.op.regions.size() == 2 && context.operand_count() == context.op.results.size(),
                        "has a condition, a body, and as many results as operands"))
        return false;
    Draft& draft = context.draft;
    std::vector<DraftId> carried, kept; // kept: once a condition is computed, what the loop ends with so far
    for (size_t i = 0; i < context.operand_count(); ++i) carried.push_back(context.operand(i));
    const DraftType truth{DType::boolean, {}};
    // A state that begins as zeros is no number: the first trip would be another one than those behind it.
    const std::vector<bool> decides = deciding(context.op), changes = handed_on(context.op.regions[1]);
    const auto is_state = [&](size_t i) { return i < changes.size() && changes[i]; };
    for (size_t i = 0; i < carried.size(); ++i) {
        const DraftType& type = draft.type(carried[i]);
        const bool is_counted = type.shape.empty() && is_integer(type.dtype); // places, and what it looks up there
        if (is_state(i) && !decides[i] && !is_counted) carried[i] = draft.entry_for(carried[i]);
    }
    std::optional<DraftId> runs; // whether it still does
    for (int trip = 0;; ++trip) {
        for (size_t i = 0; i < carried.size(); ++i)
            if (is_state(i)) draft.mark_carried(carried[i]);
        const std::optional<std::vector<DraftId>> condition = context.run(context.op.regions[0], carried);
        if (!condition) return false;
        if (!context.expect(condition->size() == 1 && draft.type(condition->front()) == truth,
                            "has a condition of one i1"))
            return false;
        const DraftId holds = condition->front();
        const std::optional<DraftNumber> known = draft[holds].number;
        if (known && known->integer == 0) break;
        if (trip == most_trips || (!known && runs && trip >= most_computed_trips))
            return runs
                       ? context.refuse("a loop that runs until a value is computed",
                                        "bound its trips: jax.lax.scan, fori_loop, or a while_loop whose condition "
                                        "has i < 8")
                       : context.refuse(fmt::format("a loop of more than {} trips", most_trips),
                                        "lower the program with fewer: trips are gone through one by one, to find what "
                                        "is alike in them");
        if (!known) {
            if (!runs) kept = carried;
            runs = runs ? draft.pointwise("and", {*runs, holds}, truth) : holds;
        }
        const std::optional<std::vector<DraftId>> next = context.run(context.op.regions[1], carried);
        if (!next) return false;
        if (!context.expect(next->size() == carried.size(), "hands on as many values as it begins with")) return false;
        for (size_t i = 0; i < carried.size(); ++i)
            if (!context.expect(draft.type((*next)[i]) == draft.type(carried[i]), "hands on values of their types"))
                return false;
        carried = *next;
        for (size_t i = 0; runs && i < carried.size(); ++i)
            if (carried[i] != kept[i])
                kept[i] = draft.pointwise("select", {*runs, carried[i], kept[i]}, draft.type(carried[i]));
    }
    if (runs) carried = kept;
    for (size_t i = 0; i < carried.size(); ++i) context.set(i, carried[i]);
    return true;
}

// One branch of several: that of a number that is known, or all of them, and the results of one are chosen. `if` has a
// truth and the branch of true first, `case` the number of a branch; the last is that of all other numbers.
bool import_branches(OpContext& context, std::string_view op) {
    const std::vector<MlirRegion>& branches = context.op.regions;
    const bool is_if = op == "if";
    if (!context.expect(context.operand_count() == 1 && (is_if ? branches.size() == 2 : !branches.empty()) &&
                            context.type(0) == DraftType{is_if ? DType::boolean : DType::i32, {}},
                        "chooses one of its branches by a scalar"))
        return false;
    Draft& draft = context.draft;
    const DraftId index = context.operand(0);
    const i64 last = std::ssize(branches) - 1;
    const auto results_of = [&](i64 branch) -> std::optional<std::vector<DraftId>> {
        const std::optional<std::vector<DraftId>> results = context.run(branches[static_cast<size_t>(branch)], {});
        bool fits = results && results->size() == context.op.results.size();
        for (size_t i = 0; fits && i < results->size(); ++i) {
            const std::optional<DraftType> type = context.result_type(i);
            fits = type && *type == draft.type((*results)[i]);
        }
        if (results && !context.expect(fits, "has branches with other results")) return std::nullopt;
        return results;
    };
    if (const std::optional<DraftNumber>& known = draft[index].number) {
        const i64 number = is_if ? (known->integer == 0) : known->integer;
        const std::optional<std::vector<DraftId>> results = results_of(number < 0 || number > last ? last : number);
        if (!results) return false;
        for (size_t i = 0; i < results->size(); ++i) context.set(i, (*results)[i]);
        return true;
    }
    std::optional<std::vector<DraftId>> chosen = results_of(last);
    for (i64 branch = last - 1; chosen && branch >= 0; --branch) {
        const std::optional<std::vector<DraftId>> results = results_of(branch);
        if (!results) return false;
        const DraftType truth{DType::boolean, {}};
        const DraftId here =
            is_if ? index : draft.pointwise("eq", {index, draft.number({DType::i32, {}}, {0, branch})}, truth);
        for (size_t i = 0; i < chosen->size(); ++i)
            (*chosen)[i] = draft.pointwise("select", {here, (*results)[i], (*chosen)[i]}, draft.type((*results)[i]));
    }
    if (!chosen) return false;
    for (size_t i = 0; i < chosen->size(); ++i) context.set(i, (*chosen)[i]);
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_control() {
    return {{"func.call", import_call},
            {"stablehlo.composite", import_call},
            {"stablehlo.while", import_while},
            {"stablehlo.case", import_branches, "case"},
            {"stablehlo.if", import_branches, "if"}};
}

} // namespace shard
