#include "tests/support/device_interpreter.h"

#include "planner/graph/op_def.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace shard {

namespace {

using Index = std::vector<i64>;

double at(const Array& array, const Index& index) {
    i64 offset = 0;
    for (size_t d = 0; d < array.shape.size(); ++d) offset = offset * array.shape[d] + index[d];
    return array.values[offset];
}

Array make(const Shape& shape, const std::function<double(const Index&)>& element) {
    Array array{shape, {}};
    i64 count = 1;
    for (i64 size : shape) count *= size;
    Index index(shape.size(), 0);
    for (i64 n = 0; n < count; ++n) {
        i64 rest = n;
        for (size_t d = shape.size(); d-- > 0;) {
            index[d] = rest % shape[d];
            rest /= shape[d];
        }
        array.values.push_back(element(index));
    }
    return array;
}

Index coordinates(const GraphRegion& region, size_t device) {
    Index result(region.axes.size());
    for (size_t a = region.axes.size(); a-- > 0;) {
        result[a] = static_cast<i64>(device) % region.axes[a].size;
        device /= static_cast<size_t>(region.axes[a].size);
    }
    return result;
}
size_t device_at(const GraphRegion& region, const Index& at) {
    size_t device = 0;
    for (size_t a = 0; a < region.axes.size(); ++a)
        device = device * static_cast<size_t>(region.axes[a].size) + static_cast<size_t>(at[a]);
    return device;
}

// The devices of a device's group by rank, and its own rank.
struct Group {
    std::vector<size_t> members;
    size_t rank = 0;
};
Group group_of(const GraphRegion& region, const Node& node, size_t device) {
    std::vector<size_t> places;
    i64 size = 1;
    for (const std::string& name : node.attributes().strings("over")) {
        places.push_back(
            static_cast<size_t>(std::find(region.names.begin(), region.names.end(), name) - region.names.begin()));
        size *= region.axes[places.back()].size;
    }
    Group group;
    for (i64 rank = 0; rank < size; ++rank) {
        Index where = coordinates(region, device);
        i64 rest = rank;
        for (size_t p = places.size(); p-- > 0;) {
            where[places[p]] = rest % region.axes[places[p]].size;
            rest /= region.axes[places[p]].size;
        }
        group.members.push_back(device_at(region, where));
        if (group.members.back() == device) group.rank = static_cast<size_t>(rank);
    }
    return group;
}

// Every device's result, element by element.
PerDevice elements(const GraphRegion& region, const Node& node, const Shape& result,
                   const std::function<double(const Group&, const Index&)>& element) {
    PerDevice held;
    for (size_t device = 0; device < devices_of(region); ++device) {
        const Group group = group_of(region, node, device);
        held.push_back(make(result, [&](const Index& index) { return element(group, index); }));
    }
    return held;
}

template<typename Combine>
PerDevice reduced(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result,
                  Combine combine) {
    return elements(region, node, result, [&](const Group& group, const Index& index) {
        double value = at(on_device(operand, group.members[0]), index);
        for (size_t m = 1; m < group.members.size(); ++m)
            value = combine(value, at(on_device(operand, group.members[m]), index));
        return value;
    });
}

PerDevice psum(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    return reduced(region, node, operand, result, [](double a, double b) { return a + b; });
}
PerDevice pmax(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    return reduced(region, node, operand, result, [](double a, double b) { return std::max(a, b); });
}
PerDevice pmin(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    return reduced(region, node, operand, result, [](double a, double b) { return std::min(a, b); });
}

PerDevice all_gather(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    const size_t dim = static_cast<size_t>(node.attributes().integer("dim"));
    return elements(region, node, result, [&](const Group& group, Index index) {
        const i64 block = operand[0].shape[dim];
        const size_t member = group.members[index[dim] / block];
        index[dim] %= block;
        return at(on_device(operand, member), index);
    });
}

PerDevice psum_scatter(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    const size_t dim = static_cast<size_t>(node.attributes().integer("dim"));
    return elements(region, node, result, [&](const Group& group, Index index) {
        index[dim] += static_cast<i64>(group.rank) * result[dim];
        double sum = 0;
        for (size_t member : group.members) sum += at(on_device(operand, member), index);
        return sum;
    });
}

PerDevice all_to_all(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    const size_t split = static_cast<size_t>(node.attributes().integer("split"));
    const size_t concat = static_cast<size_t>(node.attributes().integer("concat"));
    return elements(region, node, result, [&](const Group& group, Index index) {
        const i64 block = operand[0].shape[concat];
        const size_t member = group.members[index[concat] / block];
        index[concat] %= block;
        index[split] += static_cast<i64>(group.rank) * result[split];
        return at(on_device(operand, member), index);
    });
}

PerDevice ppermute(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    const std::vector<i64>& perm = node.attributes().integers("perm");
    return elements(region, node, result, [&](const Group& group, const Index& index) {
        for (size_t p = 0; p < perm.size(); p += 2)
            if (perm[p + 1] == static_cast<i64>(group.rank))
                return at(on_device(operand, group.members[perm[p]]), index);
        return 0.0;
    });
}

PerDevice pvary(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    return elements(region, node, result, [&](const Group& group, const Index& index) {
        return at(on_device(operand, group.members[group.rank]), index);
    });
}

PerDevice own_block(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    const size_t dim = static_cast<size_t>(node.attributes().integer("dim"));
    return elements(region, node, result, [&](const Group& group, Index index) {
        index[dim] += static_cast<i64>(group.rank) * result[dim];
        return at(on_device(operand, group.members[group.rank]), index);
    });
}

PerDevice axis_index(const GraphRegion& region, const Node& node, const PerDevice&, const Shape& result) {
    return elements(region, node, result,
                    [&](const Group& group, const Index&) { return static_cast<double>(group.rank); });
}

// Which block of a dim a device holds: its rank along the axes that split the dim.
i64 block_of(const GraphRegion& region, const Node& node, size_t device, size_t dim) {
    const Index where = coordinates(region, device);
    i64 rank = 0;
    for (const std::string& name : node.asked().border->dims[dim].axes) {
        const size_t a =
            static_cast<size_t>(std::find(region.names.begin(), region.names.end(), name) - region.names.begin());
        rank = rank * region.axes[a].size + where[a];
    }
    return rank;
}

PerDevice to_local(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    PerDevice held;
    for (size_t device = 0; device < devices_of(region); ++device)
        held.push_back(make(result, [&](Index index) {
            for (size_t d = 0; d < index.size(); ++d) index[d] += block_of(region, node, device, d) * result[d];
            return at(operand[0], index);
        }));
    return held;
}

PerDevice from_local(const GraphRegion& region, const Node& node, const PerDevice& operand, const Shape& result) {
    const Shape& local = operand[0].shape;
    const auto holder = [&](const Index& index) {
        for (size_t device = 0; device < devices_of(region); ++device) {
            bool holds = true;
            for (size_t d = 0; d < index.size(); ++d)
                holds = holds && block_of(region, node, device, d) == index[d] / local[d];
            if (holds) return device;
        }
        internal_error("no device holds an element");
    };
    return {make(result, [&](Index index) {
        const Array& array = on_device(operand, holder(index));
        for (size_t d = 0; d < index.size(); ++d) index[d] %= local[d];
        return at(array, index);
    })};
}

} // namespace

int region_of(const Graph& graph, const Node& node) {
    int region = -1;
    for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs})
        for (ValueId id : *ids) region = std::max(region, graph.value(id).region);
    return region;
}

size_t devices_of(const GraphRegion& region) {
    size_t devices = 1;
    for (const AxisRef& axis : region.axes) devices *= static_cast<size_t>(axis.size);
    return devices;
}

const Array& on_device(const PerDevice& held, size_t device) { return held.size() == 1 ? held[0] : held[device]; }

DeviceEvaluate find_device_op(std::string_view name) {
    const std::pair<std::string_view, DeviceEvaluate> ops[] = {
        {"psum", psum},
        {"pmax", pmax},
        {"pmin", pmin},
        {"all_gather", all_gather},
        {"psum_scatter", psum_scatter},
        {"all_to_all", all_to_all},
        {"ppermute", ppermute},
        {"pvary", pvary},
        {"own_block", own_block},
        {"axis_index", axis_index},
        {"to_local", to_local},
        {"from_local", from_local},
    };
    for (const auto& [known, evaluate] : ops)
        if (known == name) return evaluate;
    return nullptr;
}

// Threefry 2x32 with 20 rounds, of the counter (0, n).
Array fold_in_word(const Node& node, const std::vector<const Array*>& operands, const Shape& shape) {
    Array result{shape, {}};
    for (size_t i = 0; i < static_cast<size_t>(element_count(shape)); ++i) {
        const auto word_of = [&](size_t k) {
            const std::vector<double>& values = operands[k]->values;
            return static_cast<std::uint32_t>(values[values.size() == 1 ? 0 : i]);
        };
        std::uint32_t key[3], x[2];
        for (size_t k = 0; k < 2; ++k) key[k] = word_of(k);
        key[2] = key[0] ^ key[1] ^ 0x1BD11BDAU;
        x[0] = key[0];
        x[1] = word_of(2) + key[1];
        constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
        for (std::uint32_t group = 0; group < 5; ++group) {
            for (int r : rotations[group % 2]) {
                x[0] += x[1];
                x[1] = ((x[1] << r) | (x[1] >> (32 - r))) ^ x[0];
            }
            x[0] += key[(group + 1) % 3];
            x[1] += key[(group + 2) % 3] + group + 1;
        }
        result.values.push_back(static_cast<double>(x[node.attributes().integer("word")]));
    }
    return result;
}

} // namespace shard
