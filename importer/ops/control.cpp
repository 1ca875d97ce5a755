// Calls and loops.
#include "importer/model/op_context.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr int most_trips = 10'000;

bool import_call(OpContext& context, std::string_view) {
    const MlirAttribute* callee = find_attribute(context.op.items, {"callee"});
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

// A loop whose condition is known from what it counts is written out.
bool import_while(OpContext& context, std::string_view) {
    if (!context.expect(context.op.regions.size() == 2 && context.operand_count() == context.op.results.size(),
                        "has a condition, a body, and as many results as operands"))
        return false;
    std::vector<DraftId> carried;
    for (size_t i = 0; i < context.operand_count(); ++i) carried.push_back(context.operand(i));
    for (int trip = 0;; ++trip) {
        const std::optional<std::vector<DraftId>> condition = context.run(context.op.regions[0], carried);
        if (!condition) return false;
        if (!context.expect(condition->size() == 1, "has a condition of one value")) return false;
        const std::optional<DraftNumber> known = context.draft[condition->front()].number;
        if (!known)
            return context.refuse("a loop that runs until a value is computed",
                                  "give it a fixed number of trips, as jax.lax.scan and fori_loop have");
        if (known->integer == 0) break;
        if (trip == most_trips) return context.refuse(fmt::format("a loop of more than {} trips", most_trips));
        const std::optional<std::vector<DraftId>> next = context.run(context.op.regions[1], carried);
        if (!next) return false;
        if (!context.expect(next->size() == carried.size(), "hands on as many values as it begins with")) return false;
        carried = *next;
    }
    for (size_t i = 0; i < carried.size(); ++i) context.set(i, carried[i]);
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_control() { return {{"func.call", import_call}, {"stablehlo.while", import_while}}; }

} // namespace shard
