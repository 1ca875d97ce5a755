#include "planner/graph_text/check_use.h"

#include "planner/graph/device_op.h"
#include "planner/graph/loop_index.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

using Type = AttributeDef::Type;

bool is_stored_as(const AttributeValue& value, Type type) {
    switch (type) {
    case Type::integer:
        return std::holds_alternative<i64>(value);
    case Type::number:
    case Type::element:
        return std::holds_alternative<double>(value) || std::holds_alternative<i64>(value);
    case Type::flag:
    case Type::sharding:
        return std::holds_alternative<bool>(value);
    case Type::string:
    case Type::dtype:
        return std::holds_alternative<std::string>(value);
    case Type::elements:
        return std::holds_alternative<std::vector<double>>(value);
    case Type::axes:
    case Type::mesh_axes:
        return std::holds_alternative<std::vector<std::string>>(value);
    case Type::integers:
    case Type::pairs:
    case Type::size:
    case Type::dims:
    case Type::dim:
    case Type::shape:
        return std::holds_alternative<std::vector<i64>>(value);
    }
    return false;
}

bool are_dims(std::vector<i64> dims, i64 rank) {
    std::sort(dims.begin(), dims.end());
    return std::adjacent_find(dims.begin(), dims.end()) == dims.end() &&
           (dims.empty() || (dims.front() >= 0 && dims.back() < rank));
}

bool are_sizes(const std::vector<i64>& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](i64 size) { return size > 0; }) &&
           checked_element_count(sizes).has_value();
}

bool fits(const AttributeValue& value, Type type, i64 rank) {
    if (!is_stored_as(value, type)) return false;
    if (type == Type::dtype) return parse_dtype(std::get<std::string>(value)).has_value();
    if (type == Type::dim && std::get<std::vector<i64>>(value).size() != 1) return false;
    if (type == Type::size && std::get<std::vector<i64>>(value).size() != 1) return false;
    if (type == Type::pairs) return std::get<std::vector<i64>>(value).size() % 2 == 0;
    if (type == Type::dim || type == Type::dims) return are_dims(std::get<std::vector<i64>>(value), rank);
    if (type == Type::shape || type == Type::size) return are_sizes(std::get<std::vector<i64>>(value));
    return true;
}

const AttributeValue* find(const Attributes& attributes, std::string_view name) {
    for (const auto& [key, value] : attributes.entries())
        if (key == name) return &value;
    return nullptr;
}

// Attributes of ops that depend on a loop's index say of the loop what it says itself.
bool fits_its_loop(const Graph& graph, const Attributes& attributes) {
    const AttributeValue* const value = find(attributes, "loop");
    if (value == nullptr) return true;
    const i64* const loop = std::get_if<i64>(value);
    if (loop == nullptr || *loop < 0 || *loop >= static_cast<i64>(graph.loops.size())) return false;
    const Attributes of_loop = loop_attributes(graph, static_cast<int>(*loop));
    for (const auto& [name, own] : of_loop.entries()) {
        const AttributeValue* const said = find(attributes, name);
        if (said == nullptr || *said != own) return false;
    }
    return true;
}

// Ops of manual regions say of the mesh what it is, and of a border how many parts each dim has.
bool fits_its_region(const Graph& graph, const Mesh& mesh, const OpDef& op, const Attributes& attributes, i64 rank) {
    using Integers = std::vector<i64>;
    if (op.device == nullptr) return true;
    const auto list = [&attributes](std::string_view name) {
        const AttributeValue* const value = find(attributes, name);
        return value == nullptr ? nullptr : std::get_if<Integers>(value);
    };
    const Integers *const axes = list("mesh_axes"), *const sizes = list("sizes");
    if (axes == nullptr || sizes == nullptr || axes->size() != sizes->size() || !are_dims(*axes, std::ssize(mesh.axes)))
        return false;
    for (size_t n = 0; n < axes->size(); ++n)
        if (mesh.axes[(*axes)[n]].size != (*sizes)[n]) return false;
    if (op.device->border == DeviceOp::Border::none) return true;
    const AttributeValue* const region = find(attributes, "region");
    const i64* const index = region == nullptr ? nullptr : std::get_if<i64>(region);
    const Integers* const parts = list("parts");
    // A local graph has no regions any more.
    return index != nullptr && *index >= 0 && (graph.regions.empty() || *index < std::ssize(graph.regions)) &&
           parts != nullptr && std::ssize(*parts) == rank && are_sizes(*parts);
}

} // namespace

std::string use_problem(const Graph& graph, const Mesh& mesh, const OpDef& op, const Attributes& attributes,
                        std::span<const ValueId> operands, ValueId result) {
    const i64 count = static_cast<i64>(operands.size());
    if (count < op.operands.min || (op.operands.max >= 0 && count > op.operands.max))
        return fmt::format("{} does not take {} operands", op.name, count);
    const i64 rank = graph.value(operands.empty() ? result : operands[0]).type.rank();
    for (const AttributeDef& def : op.attributes) {
        const AttributeValue* const value = find(attributes, def.name);
        if (value == nullptr ? def.required : !fits(*value, def.type, rank))
            return fmt::format("'{}' of {} is {}", def.name, op.name,
                               value == nullptr ? "missing" : "not what it takes");
    }
    if (!fits_its_loop(graph, attributes)) return "it depends on a loop that is another one";
    if (!fits_its_region(graph, mesh, op, attributes, rank)) return "it is in a manual region that is another one";
    return "";
}

} // namespace shard
