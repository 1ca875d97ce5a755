#include "importer/model/region_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

std::string region_form(const MlirModule& module, const MlirRegion& region) {
    std::map<MlirId, size_t> number;
    for (const MlirId argument : region.arguments) number.emplace(argument, number.size());
    std::string form;
    const auto words = [](const std::vector<MlirItem>& items) {
        std::string text, order; // LT, and its order behind it: the generic form has them the other way round
        const auto add = [&](const MlirAttribute& word) {
            if (word.kind != MlirAttribute::Kind::word) return;
            if (word.text.size() == 2) text += word.text;
            if (word.text == "TOTALORDER") order = word.text;
        };
        for (const MlirItem& item : items)
            for (const MlirAttribute& part : item.parts) {
                add(part);
                for (const MlirItem& inner : part.items)
                    for (const MlirAttribute& word : inner.parts) add(word);
                for (const std::string& element : part.numbers) text += element;
            }
        return text + order;
    };
    for (const MlirOp& op : region.ops) {
        std::vector<size_t> operands;
        for (const MlirId operand : op.operands)
            operands.push_back(number.contains(operand) ? number.at(operand) : module.values.size());
        for (const MlirId result : op.results) number.emplace(result, number.size());
        form +=
            fmt::format("{}{}({});", op.name.substr(op.name.find('.') + 1), words(op.items), fmt::join(operands, ","));
    }
    return form;
}

std::string applied_op(const MlirOp& op) {
    for (size_t i = 0; i + 1 < op.items.size(); ++i)
        if (op.items[i].key.empty() && !op.items[i].parts.empty() && op.items[i].parts[0].text == "applies" &&
            !op.items[i + 1].parts.empty())
            return op.items[i + 1].parts[0].text;
    if (op.regions.size() != 1) return {};
    const MlirRegion& region = op.regions.front();
    if (region.arguments.size() != 2 || region.ops.size() != 2) return {};
    const MlirOp &body = region.ops[0], &end = region.ops[1];
    const bool plain = body.results.size() == 1 && end.operands == body.results && body.operands.size() == 2 &&
                       ((body.operands[0] == region.arguments[0] && body.operands[1] == region.arguments[1]) ||
                        (body.operands[0] == region.arguments[1] && body.operands[1] == region.arguments[0]));
    return plain ? body.name : std::string();
}

} // namespace shard
