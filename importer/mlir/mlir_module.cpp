#include "importer/mlir/mlir_module.h"

#include "importer/mlir/mlir_cursor.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::string text_of(const MlirType& type) {
    if (!type.is_tensor) return type.element;
    std::string text = "tensor<";
    for (const i64 size : type.shape) text += fmt::format("{}x", size);
    return text + type.element + ">";
}

i64 element_count(const MlirType& type) { return element_count(std::span<const i64>(type.shape)); }

void MlirModule::add(MlirFunction function) {
    function_places.emplace(function.name, functions.size());
    functions.push_back(std::move(function));
}

const MlirFunction* MlirModule::find(std::string_view function) const {
    const auto place = function_places.find(function);
    return place == function_places.end() ? nullptr : &functions[place->second];
}

std::string MlirModule::location_name(int location) const {
    // Places may refer to each other in a circle: a few steps find what JAX writes.
    for (int step = 0; location >= 0 && step < 8; ++step) {
        const MlirLocation& here = locations[location];
        if (!here.name.empty()) return here.name;
        location = here.inside.empty() ? -1 : here.inside.front();
    }
    return {};
}

const MlirItem* find_item(const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        for (const MlirItem& item : items)
            if (!item.key.empty() && item.key == key) return &item;
    return nullptr;
}

const MlirAttribute* find_attribute(const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys) {
    const MlirItem* const item = find_item(items, keys);
    return item == nullptr || item->parts.empty() ? nullptr : &item->parts.front();
}

std::string chosen_word(const std::vector<MlirItem>& items, std::initializer_list<std::string_view> keys,
                        std::initializer_list<std::string_view> choices) {
    const auto is_choice = [&](const MlirAttribute& word) {
        return std::find(choices.begin(), choices.end(), word.text) != choices.end();
    };
    for (const MlirItem& item : items) {
        const bool is_keyed = std::find(keys.begin(), keys.end(), item.key) != keys.end();
        if (!item.key.empty() && !is_keyed) continue;
        for (const MlirAttribute& part : item.parts) {
            if (is_choice(part)) return part.text;
            if (!is_keyed) continue;
            for (const MlirItem& inner : part.items)
                for (const MlirAttribute& word : inner.parts)
                    if (is_choice(word)) return word.text;
        }
    }
    return {};
}

bool looks_like_mlir(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) continue;
        line.remove_prefix(begin);
        // YAML has comments that begin with '#', and no map whose key is `module @name` or "builtin.module".
        if (line.front() == '#' || line.starts_with("//")) continue;
        return line.starts_with("module @") || line.starts_with("module attributes") || line.starts_with("module {") ||
               line.starts_with("\"builtin.module\"") || line.starts_with("func.func ");
    }
    return false;
}

} // namespace shard
