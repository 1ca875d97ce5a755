#include "planner/build/unroll_regions.h"

#include "planner/graph/device_op.h"
#include "plans/base/index_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace shard {

namespace {

class Unroller {
public:
    explicit Unroller(const Graph& graph)
        : source_(graph), builder_(made_, diagnostics_), held_(graph.values.size()),
          first_(graph.nodes.size() + 1, -1) {}

    Graph run() {
        made_.declared = source_.declared;
        made_.remats = source_.remats;
        made_.loops = source_.loops; // ids follow
        for (ValueId id : source_.inputs) {
            builder_.unique_name(source_.value(id).name, "#");
            held_[id] = {builder_.add_input(source_.value(id))};
        }
        for (const Call& call : source_.calls)
            if (!call.composite) is_called_.insert(call.results.begin(), call.results.end());
        for (size_t n = 0; n < source_.nodes.size(); ++n) {
            first_[n] = static_cast<NodeId>(made_.nodes.size());
            visit(source_.nodes[n]);
        }
        first_.back() = static_cast<NodeId>(made_.nodes.size());
        finish();
        return std::move(made_);
    }

private:
    using Held = std::vector<ValueId>; // one for a global value; in a region one per device, row-major over its axes

    static ValueId must(std::optional<ValueId> id) {
        internal_check(id.has_value(), "an op of a manual region was refused where it is written out");
        return *id;
    }

    const Held& held(ValueId id) const { return held_[id]; }
    // A global value, and one that is the same everywhere, is there for every device.
    ValueId held_by(ValueId id, size_t device) const { return held(id).size() == 1 ? held(id)[0] : held(id)[device]; }

    void visit(const Node& node) {
        builder_.set_loop(node.loop);
        builder_.set_remat(node.remat);
        builder_.set_pattern(node.pattern);
        if (node.op() == nullptr) return visit_marker(node);
        const ValueId output = node.outputs[0];
        const Value& value = source_.value(output);
        const int region = std::max(value.region, node.inputs.empty() ? -1 : source_.value(node.inputs[0]).region);
        builder_.set_place({node.scope, value.name + "@", node.span, {}, {}});
        Held& result = held_[output];
        if (region < 0) {
            result = {again(node, 0)};
            describe(result[0], value);
            return;
        }
        set_region(region);
        if (node.op()->device && node.op()->device->border == DeviceOp::Border::leaves) {
            const size_t rank = node.attributes().integers("parts").size();
            result = {together(node, 0, std::vector<i64>(rank))};
            if (rank == 0) result = {must(builder_.emit("reshape", {result[0]}, shape_of({})))};
            describe(result[0], value);
        } else if (node.op()->device && node.op()->device->border == DeviceOp::Border::enters) {
            for (size_t device = 0; device < device_count(); ++device) result.push_back(block(node, device));
        } else if (node.op()->device) {
            result = exchanged(node);
        } else {
            result = computed(node);
        }
    }

    // A loop carries, adds up and stacks what every device of a region has.
    void visit_marker(const Node& node) {
        Node marker = node;
        marker.inputs.clear();
        marker.outputs.clear();
        std::vector<TensorType> types;
        std::vector<size_t> devices; // by output of the node
        for (size_t n = 0; n < node.outputs.size(); ++n) {
            const Value& value = source_.value(node.outputs[n]);
            set_region(value.region);
            devices.push_back(value.region < 0 ? 1 : device_count());
            for (size_t device = 0; device < devices[n]; ++device) {
                marker.inputs.push_back(held_by(node.inputs[n], device));
                types.push_back(value.type);
            }
        }
        builder_.set_place({node.scope, "marker@", node.span, {}, {}});
        const std::vector<ValueId> outputs = builder_.emit_marker(std::move(marker), types, "value");
        std::vector<ValueId>::const_iterator next = outputs.begin();
        for (size_t n = 0; n < node.outputs.size(); ++n) {
            const Value& value = source_.value(node.outputs[n]);
            for (size_t device = 0; device < devices[n]; ++device, ++next) {
                held_[node.outputs[n]].push_back(*next);
                if (value.region < 0) describe(*next, value);
                made_.value(*next).loop = value.loop;
            }
        }
    }

    ValueId again(const Node& node, size_t device) {
        std::vector<ValueId> inputs;
        for (ValueId input : node.inputs) inputs.push_back(held_by(input, device));
        const ValueId made = must(builder_.emit(node.op()->name, inputs, node.attributes()));
        made_.nodes[made_.value(made).producer].apply().asked = node.asked();
        return made;
    }

    // What is said of a global value is said of its twin.
    void describe(ValueId made, const Value& value) {
        Value& twin = made_.value(made);
        twin.name = value.name;
        twin.type.logical = value.type.logical;
        twin.role = value.role;
        twin.span = value.span;
        twin.of = value.of < 0 ? -1 : held(value.of)[0];
    }

    // --- devices of the region ---

    void set_region(int region) { axes_ = region < 0 ? std::vector<AxisRef>() : source_.regions[region].axes; }
    size_t device_count() const {
        i64 count = 1;
        for (const AxisRef& axis : axes_) count *= axis.size;
        return count;
    }
    std::vector<i64> coordinates(size_t device) const {
        std::vector<i64> at(axes_.size());
        for (size_t a = axes_.size(); a-- > 0;) {
            at[a] = static_cast<i64>(device) % axes_[a].size;
            device /= axes_[a].size;
        }
        return at;
    }
    size_t device_at(const std::vector<i64>& at) const {
        i64 device = 0;
        for (size_t a = 0; a < axes_.size(); ++a) device = device * axes_[a].size + at[a];
        return device;
    }
    size_t place_of(int axis) const {
        return std::find_if(axes_.begin(), axes_.end(), [axis](const AxisRef& ref) { return ref.axis == axis; }) -
               axes_.begin();
    }
    // The region's axes that split a dim at the border, by their place in axes_.
    std::vector<size_t> split_by(const Node& node, size_t dim) const {
        const int region = static_cast<int>(node.attributes().integer("region"));
        const std::vector<std::string>& names = source_.regions[region].names;
        std::vector<size_t> places;
        for (const std::string& name : node.asked().border->dims[dim].axes) places.push_back(index_of(names, name));
        return places;
    }

    // --- the border ---

    ValueId block(const Node& node, size_t device) {
        const ValueId whole = held(node.inputs[0])[0];
        const std::vector<i64> at = coordinates(device);
        const Shape shape = made_.value(whole).type.shape;
        const std::vector<i64>& parts = node.attributes().integers("parts");
        std::vector<i64> start(shape.size(), 0), limit = shape;
        for (size_t d = 0; d < shape.size(); ++d) {
            i64 rank = 0;
            for (size_t a : split_by(node, d)) rank = rank * axes_[a].size + at[a];
            start[d] = rank * (shape[d] / parts[d]);
            limit[d] = start[d] + shape[d] / parts[d];
        }
        ValueId& made = blocks_.try_emplace({whole, node.loop, start}, -1).first->second;
        if (made < 0) made = must(builder_.emit("slice", {whole}, attributes_of({{"start", start}, {"limit", limit}})));
        return made;
    }

    // The blocks from `dim` on, of what a device holds whose blocks of earlier dims are given.
    ValueId together(const Node& node, size_t dim, std::vector<i64> blocks) {
        const std::vector<i64>& parts = node.attributes().integers("parts");
        if (dim == parts.size()) {
            std::vector<i64> at(axes_.size(), 0);
            for (size_t d = 0; d < parts.size(); ++d) {
                const std::vector<size_t> places = split_by(node, d);
                for (size_t p = places.size(); p-- > 0;) {
                    at[places[p]] = blocks[d] % axes_[places[p]].size;
                    blocks[d] /= axes_[places[p]].size;
                }
            }
            return held_by(node.inputs[0], device_at(at));
        }
        std::vector<ValueId> rows;
        for (blocks[dim] = 0; blocks[dim] < parts[dim]; ++blocks[dim]) rows.push_back(together(node, dim + 1, blocks));
        if (rows.size() == 1 && dim + 1 < parts.size()) return rows[0];
        return must(
            builder_.emit("concatenate", rows, attributes_of({{"dim", std::vector<i64>{static_cast<i64>(dim)}}})));
    }

    // --- the body ---

    // Devices with the same operands have the same result. A result of a module with a gradient of its own is there
    // once for every place at which it may differ.
    Held computed(const Node& node) {
        Held result;
        std::map<std::pair<std::vector<ValueId>, std::vector<i64>>, ValueId> made;
        const bool is_result = is_called_.count(node.outputs[0]) > 0;
        for (size_t device = 0; device < device_count(); ++device) {
            std::vector<ValueId> operands;
            std::vector<i64> at;
            if (is_result) at = coordinates(device);
            for (size_t a = 0; a < at.size(); ++a)
                if (!varies(source_.value(node.outputs[0]), axes_[a].axis)) at[a] = 0;
            for (ValueId input : node.inputs)
                if (!is_result) operands.push_back(held_by(input, device));
            const auto [it, is_new] = made.try_emplace({operands, at}, -1);
            if (is_new) it->second = again(node, device);
            result.push_back(it->second);
        }
        return result;
    }

    Held exchanged(const Node& node) {
        Held result(device_count(), -1);
        std::vector<size_t> places;
        for (i64 axis : node.attributes().integers("mesh_axes")) places.push_back(place_of(static_cast<int>(axis)));
        const size_t size = group_size(node.attributes());
        for (size_t first = 0; first < device_count(); ++first) {
            if (result[first] >= 0) continue;
            std::vector<size_t> group;
            for (size_t rank = 0; rank < size; ++rank) {
                std::vector<i64> at = coordinates(first);
                size_t left = rank;
                for (size_t p = places.size(); p-- > 0;) {
                    const size_t along = axes_[places[p]].size;
                    at[places[p]] = static_cast<i64>(left % along);
                    left /= along;
                }
                group.push_back(device_at(at));
            }
            Held members;
            if (!node.inputs.empty())
                for (size_t device : group) members.push_back(held_by(node.inputs[0], device));
            Chain chain(builder_);
            const Held results = node.op()->device->meaning(chain, members, node.attributes());
            internal_check(chain.ok() && results.size() == size, "what a device op means was refused");
            for (size_t rank = 0; rank < size; ++rank) result[group[rank]] = results[rank];
        }
        return result;
    }

    void finish() {
        for (ValueId id : source_.outputs) {
            made_.outputs.push_back(held(id)[0]);
            builder_.mark_used(held(id)[0]);
        }
        made_.output_names = source_.output_names;
        for (const auto& [path, id] : source_.aliases) made_.aliases.emplace_back(path, held(id)[0]);
        for (size_t l = 0; l < made_.loops.size(); ++l) finish(source_.loops[l], made_.loops[l]);
        for (const Graph::Quotient& quotient : source_.quotients)
            made_.quotients.push_back({held(quotient.value)[0], held(quotient.sum)[0], held(quotient.count)[0]});
        if (source_.loss >= 0) made_.loss = held(source_.loss)[0];
        for (const Update& update : source_.updates)
            made_.updates.push_back({held(update.input)[0], held(update.output)[0]});
        // Composites outside the regions keep the gradients of their own, and modules everywhere.
        for (const Call& call : source_.calls) {
            if (call.composite && source_.value(call.results[0]).region >= 0) continue;
            Call twin = call;
            twin.first = first_[call.first];
            twin.last = first_[call.last];
            spread(call.operands, call.gives, twin.operands, twin.gives);
            spread(call.results, call.given, twin.results, twin.given);
            for (auto& [path, id] : twin.names) id = held(id)[0];
            made_.calls.push_back(std::move(twin));
        }
    }

    void finish(const GraphLoop& source, GraphLoop& made) {
        made.carried.clear();
        made.sums.clear();
        made.stacks.clear();
        for (const GraphLoop::Carried& carried : source.carried)
            for (size_t device = 0; device < held(carried.result).size(); ++device)
                made.carried.push_back({held_by(carried.init, device), held_by(carried.argument, device),
                                        held_by(carried.yield, device), held_by(carried.result, device)});
        for (const GraphLoop::Sum& sum : source.sums)
            for (size_t device = 0; device < held(sum.result).size(); ++device) {
                made.sums.push_back(sum);
                made.sums.back().term = held_by(sum.term, device);
                made.sums.back().result = held_by(sum.result, device);
            }
        for (const GraphLoop::Stack& stack : source.stacks)
            for (size_t device = 0; device < held(stack.result).size(); ++device)
                made.stacks.push_back({held_by(stack.slice, device), held_by(stack.result, device)});
    }

    // One call of a module for all devices: what varies is there once for each of them.
    void spread(const std::vector<ValueId>& values, const std::vector<ValueId>& gradients, Held& all_values,
                Held& all_gradients) const {
        all_values.clear();
        all_gradients.clear();
        for (size_t n = 0; n < values.size(); ++n) {
            const ValueId gradient = n < gradients.size() ? gradients[n] : -1;
            if (values[n] < 0 && gradient < 0) continue;
            for (size_t device : devices_with_own(values[n] < 0 ? gradient : values[n])) {
                all_values.push_back(values[n] < 0 ? -1 : held_by(values[n], device));
                all_gradients.push_back(gradient < 0 ? -1 : held_by(gradient, device));
            }
        }
    }

    // The first of those along which it does not vary.
    std::vector<size_t> devices_with_own(ValueId id) const {
        const Value& value = source_.value(id);
        std::vector<size_t> devices;
        if (value.region < 0) return {0};
        const std::vector<AxisRef>& axes = source_.regions[value.region].axes;
        for (size_t device = 0; device < held(id).size(); ++device) {
            size_t left = device;
            bool own = true;
            for (size_t a = axes.size(); a-- > 0; left /= axes[a].size)
                own = own && (left % static_cast<size_t>(axes[a].size) == 0 || varies(value, axes[a].axis));
            if (own) devices.push_back(device);
        }
        return devices;
    }

    static bool varies(const Value& value, int axis) {
        return std::find(value.varying.begin(), value.varying.end(), axis) != value.varying.end();
    }

    const Graph& source_;
    Graph made_;
    Diagnostics diagnostics_;
    Builder builder_;
    std::vector<Held> held_;      // by value of the source
    std::vector<NodeId> first_;   // by node of the source: the first that was made of it
    std::set<ValueId> is_called_; // results of modules with a gradient of their own
    std::vector<AxisRef> axes_;   // of the region at hand
    std::map<std::tuple<ValueId, int, std::vector<i64>>, ValueId> blocks_; // cut out at the border, in a loop
};

} // namespace

Graph unroll_regions(const Graph& graph) {
    if (graph.regions.empty()) return graph;
    return Unroller(graph).run();
}

} // namespace shard
