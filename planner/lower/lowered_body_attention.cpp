// Attention of a device's own queries or keys: where they begin depends on the device.
#include "planner/lower/lowered_body.h"

#include "planner/graph/types_of.h"
#include "planner/ops_support/attention_drop.h"
#include "plans/kernel/attend_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

// The device's own part of a start, and what an operand adds to it (-1: nothing).
std::string LoweredBody::start_text(Affine start, ValueId given) {
    std::erase_if(start.terms, [](const AffineTerm& term) { return term.kind != AffineTerm::Kind::coordinate; });
    const std::string own = affine_text(start);
    if (given < 0) return own;
    std::string operand = name(given);
    if (local_.value(given).type.dtype != DType::i32)
        operand = step("start", fmt::format("cast: {}, dtype: i32", operand));
    return start == Affine{} ? operand : step("start", fmt::format("add: [{}, {}]", operand, own));
}

void LoweredBody::write_attention(const Node& node, const Attend& attend) {
    const std::vector<TensorType> types = types_of(local_, node.inputs);
    const size_t count = static_cast<size_t>(attend_pairs(attend.part, types).count);
    const AttentionScalars scalars = attention_scalars(attend.part, types, node.attributes());
    const auto operand = [&](int n) { return n < 0 ? -1 : node.inputs[static_cast<size_t>(n)]; };
    std::vector<std::string> operands;
    for (size_t n = 0; n < count; ++n) operands.push_back(name(node.inputs[n]));
    Affine own = attend.start;
    std::erase_if(own.terms, [](const AffineTerm& term) { return term.kind != AffineTerm::Kind::coordinate; });
    if (own != Affine{} || scalars.start >= 0) operands.push_back(start_text(own, operand(scalars.start)));
    const ValueId result = node.outputs[0];
    std::string arguments = arguments_text(node, local_.value(result).type.shape);
    if (attend.kept) {
        if (node.attributes().has("blocks"))
            fail(node.span, fmt::format("{} draws by blocks of devices here, which has no form in a manual region",
                                        node.op()->name));
        const size_t first = scalars.first < 0 ? node.inputs.size() : static_cast<size_t>(scalars.first);
        for (size_t n = static_cast<size_t>(scalars.drop()); n < first; ++n) operands.push_back(name(node.inputs[n]));
        const std::vector<Affine>& starts = attend.kept->start;
        const bool is_part = std::any_of(starts.begin(), starts.end(), [](const Affine& at) { return at != Affine{}; });
        for (int d = 0; is_part && d < 4; ++d)
            operands.push_back(
                start_text(starts[static_cast<size_t>(d)], scalars.first < 0 ? -1 : operand(scalars.first + d)));
        if (is_part && !node.attributes().has("drawn")) arguments += ", drawn: " + list_text(attend.kept->shape);
    }
    entry(result, fmt::format("{}: [{}]{}", node.op()->name, fmt::join(operands, ", "), arguments));
}

} // namespace shard
