#include "importer/mlir/mlir_parts.h"

#include <utility>

namespace shard {

namespace {

const MlirAttribute* symbol_of(const MlirOp& op) {
    if (const MlirAttribute* const name = find_attribute(op.items, {"sym_name"})) return name;
    for (const MlirItem& item : op.items)
        if (!item.parts.empty() && item.parts.front().kind == MlirAttribute::Kind::symbol) return &item.parts.front();
    return nullptr;
}

std::vector<MlirItem> attributes_of(const MlirOp& op, std::string_view key) {
    const MlirAttribute* const list = find_attribute(op.items, {key});
    return list == nullptr ? std::vector<MlirItem>() : list->items;
}

} // namespace

void take_parts(MlirOp op, MlirModule& module) {
    const MlirAttribute* const name = symbol_of(op);
    if (op.name == "module" || op.name == "builtin.module") {
        if (name != nullptr) module.name = name->text;
        // In the generic form among the op's own.
        for (const std::vector<MlirItem>& items : {attributes_of(op, "attributes"), op.items})
            if (const MlirAttribute* const number = find_attribute(items, {"mhlo.num_partitions"}))
                module.partitions = number->integer;
        if (op.regions.empty()) return;
        std::vector<MlirOp> inside = std::move(op.regions.front().ops);
        for (MlirOp& inner : inside) take_parts(std::move(inner), module);
    } else if (op.name == "func.func") {
        if (name == nullptr || op.regions.empty()) return; // a declaration
        MlirFunction function;
        function.name = name->text;
        function.span = name->span;
        function.argument_attributes = attributes_of(op, "arg_attrs");
        function.result_attributes = attributes_of(op, "res_attrs");
        function.body = std::move(op.regions.front());
        module.add(std::move(function));
    } else {
        module.ops.push_back(std::move(op));
    }
}

} // namespace shard
