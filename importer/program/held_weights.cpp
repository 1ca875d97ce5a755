#include "importer/program/held_weights.h"

#include "plans/base/units.h"

#include <fmt/format.h>

#include <set>

namespace shard {

namespace {

bool multiplies(std::string_view op) { return op == "dot" || op == "einsum" || op == "conv" || op == "ragged_dot"; }

// What is only moved or converted on its way.
DraftId origin(const Draft& draft, DraftId value) {
    while (true) {
        const DraftEntry* const entry = draft.entry_of(value);
        if (entry == nullptr || (entry->op != "cast" && entry->op != "reshape" && entry->op != "transpose"))
            return value;
        value = entry->operands[0];
    }
}

} // namespace

void report_held_weights(const Draft& draft, const std::vector<DraftId>& results, Span place,
                         Diagnostics& diagnostics) {
    const std::vector<bool> needed = draft.needed_for(results);
    std::set<DraftId> weights;
    for (size_t i = 0; i < draft.entry_count(); ++i)
        if (needed[i] && multiplies(draft.entry(i).op))
            for (const DraftId operand : draft.entry(i).operands)
                if (const DraftId of = origin(draft, operand); draft.is_table(of) && is_floating(draft.type(of).dtype))
                    weights.insert(of);
    if (weights.empty()) return;
    i64 bytes = 0;
    for (const DraftId weight : weights)
        bytes += element_count(draft.type(weight).shape) * byte_size(draft.type(weight).dtype);
    diagnostics
        .warning("W0808", place,
                 fmt::format("the program closes over {} that it multiplies by, {}: constants, not parameters",
                             weights.size() == 1 ? "an array" : fmt::format("{} arrays", weights.size()),
                             human_bytes(bytes)))
        .help("to split them, pass them as arguments: jax.jit(lambda params, x: ...)");
}

} // namespace shard
