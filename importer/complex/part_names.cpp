#include "importer/complex/part_names.h"

#include <string_view>

namespace shard {

namespace {

constexpr std::string_view complex_of = "complex<";
constexpr std::string_view suffixes[] = {".real", ".imag"};

} // namespace

bool is_complex_type(const MlirType& type) { return type.element.starts_with(complex_of); }

MlirType real_type(MlirType type) {
    if (is_complex_type(type))
        type.element = type.element.substr(complex_of.size(), type.element.size() - complex_of.size() - 1);
    return type;
}

int location_of_part(MlirModule& module, int location, size_t part) {
    const std::string name = module.location_name(location);
    if (name.empty()) return location;
    module.locations.push_back({name + std::string(suffixes[part]), {}, 0, {location}});
    return static_cast<int>(module.locations.size()) - 1;
}

void describe_parts(const MlirModule& module, MlirFunction& function) {
    const std::vector<MlirId>& taken = function.body.arguments;
    const std::vector<MlirId> returned =
        function.body.ops.empty() ? std::vector<MlirId>() : function.body.ops.back().operands;
    const auto has_parts = [&](const std::vector<MlirId>& values, size_t i) {
        return i < values.size() && is_complex_type(module.type(values[i]));
    };
    std::vector<MlirItem> arguments, results;
    std::vector<i64> moved; // by result, where its first part is
    for (size_t i = 0; i < function.result_attributes.size(); ++i) {
        moved.push_back(std::ssize(results));
        for (size_t part = 0; part < (has_parts(returned, i) ? 2 : 1); ++part) {
            MlirItem& made = results.emplace_back(function.result_attributes[i]);
            if (made.parts.empty() || !has_parts(returned, i)) continue;
            for (MlirItem& item : made.parts[0].items)
                if (item.key == "jax.result_info" && !item.parts.empty()) item.parts[0].text += suffixes[part];
        }
    }
    for (size_t i = 0; i < function.argument_attributes.size(); ++i)
        for (size_t part = 0; part < (has_parts(taken, i) ? 2 : 1); ++part) {
            MlirItem& made = arguments.emplace_back(function.argument_attributes[i]);
            if (made.parts.empty()) continue;
            for (MlirItem& item : made.parts[0].items) {
                if (item.key != "tf.aliasing_output" || item.parts.empty()) continue;
                i64& result = item.parts[0].integer; // that lands in the argument's bytes
                if (result >= 0 && result < std::ssize(moved))
                    result = moved[static_cast<size_t>(result)] + static_cast<i64>(part);
            }
        }
    function.argument_attributes = std::move(arguments);
    function.result_attributes = std::move(results);
}

} // namespace shard
