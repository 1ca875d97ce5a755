#include "importer/shape/cross_entropy_forms.h"

#include "importer/model/arguments.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::string_view name = "softmax_cross_entropy", each = ", per_position: true";

struct Picked {
    DraftId of = -1, labels = -1; // (..., classes) and (..., 1)
};

// Of each position the class of its label, through dims of size 1.
std::optional<Picked> picked(Taking& taking, DraftId value) {
    const Draft& draft = taking.draft();
    const DraftEntry* entry = taking.made(value);
    while (entry != nullptr && entry->op == "reshape") entry = taking.made(entry->operands[0]);
    if (entry == nullptr || entry->op != "gather" || !entry->is_inside) return std::nullopt;
    const Shape &table = draft.type(entry->operands[0]).shape, &labels = draft.type(entry->operands[1]).shape;
    if (table.empty() || labels.size() != table.size() || labels.back() != 1) return std::nullopt;
    std::string pairs;
    for (size_t d = 0; d + 1 < table.size(); ++d) {
        if (labels[d] != table[d]) return std::nullopt;
        pairs += fmt::format("{}[{}, {}]", d == 0 ? "" : ", ", d, d);
    }
    const std::string batch = pairs.empty() ? "" : fmt::format(", batch: [{}]", pairs);
    if (entry->arguments != fmt::format(", dim: {}{}", table.size() - 1, batch)) return std::nullopt;
    return Picked{entry->operands[0], entry->operands[1]};
}

Composite composite_of(const Draft& draft, DraftId logits, DraftId labels, std::string_view arguments) {
    Shape shape = draft.type(logits).shape;
    shape.pop_back();
    Composite found{std::string(name), {logits, of_step(0)}, std::string(arguments)};
    found.steps = {
        {"reshape", {}, {labels}, fmt::format(", shape: {}", list_text(shape)), {draft.type(labels).dtype, shape}}};
    return found;
}

// Whether a value has the dims of the logits but the last.
bool is_of_positions(const Draft& draft, DraftId value, DraftId logits) {
    Shape shape = draft.type(logits).shape;
    shape.pop_back();
    return draft.type(value).shape == shape;
}

// logsumexp(logits) - logits[label]
std::optional<Composite> from_logsumexp(Taking& taking, const DraftEntry& root) {
    const DraftEntry* const sum = taking.made_by(root.operands[0], "logsumexp");
    const std::optional<Picked> own = sum == nullptr ? std::nullopt : picked(taking, root.operands[1]);
    const Draft& draft = taking.draft();
    if (!own || sum->operands[0] != own->of || !is_of_positions(draft, root.results[0], own->of) ||
        listed(sum->arguments, "dims") != std::vector<i64>{std::ssize(draft.type(own->of).shape) - 1})
        return std::nullopt;
    return composite_of(draft, own->of, own->labels, each);
}

// The sum of all elements, over their number.
std::optional<DraftId> mean_of_all(Taking& taking, const DraftEntry& quotient) {
    const DraftEntry* const sum = taking.made_by(quotient.operands[0], "reduce_sum");
    if (sum == nullptr) return std::nullopt;
    const Shape& shape = taking.draft().type(sum->operands[0]).shape;
    const bool is_all = taking.draft().type(sum->results[0]).shape.empty();
    return is_all && taking.is_number(quotient.operands[1], static_cast<double>(element_count(shape)))
               ? std::optional<DraftId>(sum->operands[0])
               : std::nullopt;
}

// -log_softmax(logits)[label], or the mean of that.
std::optional<Composite> from_log_softmax(Taking& taking, const DraftEntry& root) {
    const Draft& draft = taking.draft();
    DraftId value = root.operands[0];
    const DraftEntry* const quotient = draft.entry_of(value);
    const bool is_mean = quotient != nullptr && quotient->op == "div";
    if (is_mean) {
        taking.made(value);
        const std::optional<DraftId> all = mean_of_all(taking, *quotient);
        if (!all) return std::nullopt;
        value = *all;
    }
    const std::optional<Picked> own = picked(taking, value);
    const DraftEntry* const logs = own ? taking.made_by(own->of, "log_softmax") : nullptr;
    if (logs == nullptr) return std::nullopt;
    const DraftId logits = logs->operands[0];
    if (logs->arguments != fmt::format(", dim: {}", draft.type(logits).shape.size() - 1) ||
        (!is_mean && !is_of_positions(draft, root.results[0], logits)))
        return std::nullopt;
    return composite_of(draft, logits, own->labels, is_mean ? "" : each);
}

std::optional<Composite> mean(Taking& taking, const DraftEntry& root) {
    const std::optional<DraftId> all = mean_of_all(taking, root);
    const DraftEntry* const losses = all ? taking.made_by(*all, name) : nullptr;
    if (losses == nullptr || losses->arguments != each) return std::nullopt;
    return Composite{std::string(name), losses->operands, {}};
}

} // namespace

std::vector<CompositeForm> cross_entropy_forms() {
    return {{"sub", from_logsumexp}, {"neg", from_log_softmax}, {"div", mean}};
}

} // namespace shard
