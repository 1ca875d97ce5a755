#include "importer/shape/relu_function.h"

namespace shard {

namespace {

// relu, relu_0, relu_12.
bool is_called_relu(std::string_view name) {
    if (!name.starts_with("relu")) return false;
    name.remove_prefix(4);
    return name.empty() || (name.size() > 1 && name.front() == '_' &&
                            name.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

bool is_zero(const Draft& draft, DraftId value) {
    const std::optional<DraftNumber>& number = draft[value].number;
    return number && number->real == 0;
}

} // namespace

std::optional<std::vector<DraftId>> relu_in_place_of(ProgramWalk& walk, const MlirFunction& function,
                                                     const std::vector<DraftId>& arguments) {
    Draft& draft = walk.draft();
    if (arguments.size() != 1 || !is_called_relu(function.name) || !is_floating(draft.type(arguments[0]).dtype))
        return std::nullopt;
    const DraftType type = draft.type(arguments[0]);
    Draft body;
    const DraftId x = body.input("x", type, false);
    const std::optional<std::vector<DraftId>> results = walk.tried(function.body, body, {x});
    if (!results || results->size() != 1) return std::nullopt;
    const DraftEntry* const made = body.entry_of(results->front());
    if (made == nullptr || made->op != "max" || made->operands.size() != 2) return std::nullopt;
    const DraftId a = made->operands[0], b = made->operands[1];
    if (!(a == x && is_zero(body, b)) && !(b == x && is_zero(body, a))) return std::nullopt;
    return std::vector<DraftId>{draft.pointwise("relu", {arguments[0]}, type)};
}

} // namespace shard
