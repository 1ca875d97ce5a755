#include "planner/graph/chain.h"

#include <fmt/format.h>

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const std::vector<i64>&dims = attributes.integers("dim"), &shifts = attributes.integers("shift");
    if (shifts.size() != dims.size()) {
        builder.diagnostics()
            .error("E0226", span,
                   fmt::format("`shift` of 'roll' has {} entries for {} dims", shifts.size(), dims.size()))
            .help("give one entry for each dim in `dim`");
        return std::nullopt;
    }
    const Shape shape = builder.type(operands[0]).shape;
    Chain chain(builder);
    ValueId x = operands[0];
    for (size_t n = 0; n < dims.size(); ++n) {
        const i64 size = shape[dims[n]], over = (shifts[n] % size + size) % size;
        if (over == 0) continue;
        const std::vector<i64> dim = {dims[n]}, split = {size - over};
        const ValueId head = chain("slice", {x}, attributes_of({{"dim", dim}, {"limit", split}}));
        const ValueId tail = chain("slice", {x}, attributes_of({{"dim", dim}, {"start", split}}));
        x = chain("concatenate", {tail, head}, attributes_of({{"dim", dim}}));
    }
    return chain.result(x);
}

} // namespace

const CompositeDef& composite_roll() {
    static const CompositeDef def = {
        "roll",
        "The elements along a dim moved on by `shift` places; those that leave at the end come in at the start.\n"
        "{roll: x, dim: length, shift: 1}",
        {1, 1},
        {{"dim", AttributeDef::Type::dims, true, "the dims to move along"},
         {"shift", AttributeDef::Type::integers, true, "by how many places, for each of them; back if negative"}},
        build};
    return def;
}

} // namespace shard
