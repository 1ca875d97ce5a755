#include "planner/rewrite/gather_parameters.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/op_def.h"
#include "planner/graph/train_phases.h"
#include "planner/graph/verify_loops.h"
#include "planner/graph/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace shard {

namespace {

constexpr std::string_view pass_attribute = "gather";

class Gatherer {
public:
    Gatherer(Graph& graph, const Layout& layout, Seeds& seeds)
        : graph_(graph), layout_(layout), seeds_(seeds), phases_(train_phases_of(graph)), names_(graph) {
        made_of_parameters_.resize(graph.values.size());
        is_layer_.resize(graph.values.size());
    }

    void run() {
        std::vector<std::optional<Sharding>> constraints = std::move(seeds_.constraints);
        seeds_.constraints.clear();
        const std::vector<NodeId> moved = retell(graph_, 0, [&](std::vector<Node>& nodes, size_t n) {
            Node& node = nodes[n];
            if (gathers_once() && node.opens() >= 0) gather_before(nodes, n);
            if (phases_[n] != Phase::update) {
                if (runs_on_shards(node)) {
                    store(node);
                } else {
                    if (phases_[n] == Phase::forward && is_made_of_parameters(node))
                        made_of_parameters_[node.outputs[0]] = true;
                    const Reader reader{phases_[n], node.closes() >= 0 ? node.closes() : node.loop, node.scope};
                    for (ValueId& input : node.inputs) input = as_read(input, reader);
                }
            }
            seeds_.constraints.push_back(std::move(constraints[n]));
        });
        for (Decision& decision : seeds_.log)
            if (decision.node >= 0) decision.node = moved[decision.node];
        graph_.calls.clear(); // for reverse mode, which is done
    }

private:
    struct Reader {
        Phase phase;
        int loop;
        std::string scope;
    };

    const std::optional<Sharding>& gathered(ValueId id) const { return seeds_.gathered[id]; }
    bool gathers_once() const { return layout_.fsdp->gather_again == GatherAgain::no; }

    // What the body of a loop reads of parameters from outside is gathered before the loop, casts made there too.
    void gather_before(const std::vector<Node>& nodes, size_t opens) {
        const Node& marker = nodes[opens];
        for (size_t n = opens + 1; nodes[n].closes() != marker.opens(); ++n) {
            const Node& node = nodes[n];
            if (phases_[n] == Phase::update || takes_layer(node)) continue;
            for (const ValueId input : node.inputs) {
                const std::map<ValueId, ValueId>::const_iterator outside = before_loop_.find(input);
                const ValueId id = outside == before_loop_.end() ? input : outside->second;
                if (!gathered(id) || is_within(graph_, graph_.value(id).loop, marker.opens())) continue;
                const Reader reader{Phase::forward, marker.loop, node.scope};
                if (!runs_on_shards(node)) {
                    gather(id, reader);
                    continue;
                }
                Node cast = node;
                cast.loop = graph_.value(id).loop;
                cast.inputs = {id};
                const ValueId made = add_value(node.outputs[0], graph_.value(node.outputs[0]).name, reader);
                graph_.value(made).loop = cast.loop;
                cast.outputs = {made};
                before_loop_[node.outputs[0]] = made;
                store(cast);
                append(std::move(cast), std::nullopt);
            }
        }
    }

    // A layer of a stack, in the two steps in which a loop takes it (planner/graph/loop_builder.h): what is gathered is
    // the layer.
    bool takes_layer(const Node& node) const {
        if (!node.op() || node.inputs.size() != 1 || !gathered(node.inputs[0])) return false;
        const Shape &from = graph_.value(node.inputs[0]).type.shape, &to = graph_.value(node.outputs[0]).type.shape;
        if (node.op()->of_stack == OpDef::OfStack::takes_entry)
            return node.attributes().integer("dim") == 0 && to[0] == 1;
        return node.op()->reshapes && is_layer_[node.inputs[0]] && to == Shape(from.begin() + 1, from.end());
    }

    bool runs_on_shards(const Node& node) const {
        if (takes_layer(node)) return true;
        if (!node.op() || node.op()->op_class != OpDef::Class::pointwise || is_constraint(node) ||
            node.inputs.size() != 1)
            return false;
        const ValueId from = node.inputs[0], to = node.outputs[0];
        return gathered(from) && !seeds_.values[to] && graph_.value(to).type.shape == graph_.value(from).type.shape &&
               byte_size(graph_.value(to).type.dtype) <= byte_size(graph_.value(from).type.dtype);
    }

    // Its result is stored and gathered as its operand is.
    void store(const Node& node) {
        const size_t from = node.inputs[0], to = node.outputs[0];
        seeds_.gathered[to] = seeds_.gathered[from];
        seeds_.values[to] = seeds_.values[from];
        if (!takes_layer(node)) return;
        is_layer_[to] = true;
        for (std::optional<Sharding>* sharding : {&seeds_.gathered[to], &seeds_.values[to]}) {
            std::vector<DimSharding>& dims = (*sharding)->dims;
            if (node.op()->reshapes)
                dims.erase(dims.begin());
            else
                dims[0] = {};
        }
    }

    // Of gathered parameters, constants, and nothing else; without work that is worth keeping.
    bool is_made_of_parameters(const Node& node) const {
        if (!node.op() || node.outputs.size() != 1 || is_constraint(node)) return false;
        bool any = false;
        for (ValueId id : node.inputs) {
            const NodeId producer = graph_.value(id).producer;
            const bool constant = producer >= 0 && graph_.node(producer).op() &&
                                  graph_.node(producer).op()->op_class == OpDef::Class::constant;
            const bool of_parameters = gathered(id).has_value() || made_of_parameters_[id];
            if (!constant && !of_parameters) return false;
            any = any || of_parameters;
        }
        return any && !has_reduction(graph_, node);
    }

    // What a reader reads in place of a value.
    ValueId as_read(ValueId id, const Reader& reader) {
        if (const std::map<ValueId, ValueId>::const_iterator outside = before_loop_.find(id);
            outside != before_loop_.end())
            id = outside->second;
        if (gathered(id)) return gather(id, reader);
        if (gathers_once()) return id;
        if (reader.phase != Phase::backward || !made_of_parameters_[id]) return id;
        return again(id, reader);
    }

    ValueId again(ValueId id, const Reader& reader) {
        const auto [known, added] = found_.try_emplace({id, reader.phase, reader.loop}, id);
        if (!added) return known->second;
        Node node = graph_.node(graph_.value(id).producer);
        for (ValueId& input : node.inputs) {
            const std::map<ValueId, ValueId>::iterator stored = gathered_from_.find(input);
            input = as_read(stored == gathered_from_.end() ? input : stored->second, reader);
        }
        node.loop = reader.loop;
        const ValueId made = add_value(id, graph_.value(id).name + ".again", reader);
        node.outputs = {made};
        append(std::move(node), std::nullopt);
        found_[{id, reader.phase, reader.loop}] = made;
        return made;
    }

    ValueId gather(ValueId id, Reader reader) {
        if (gathers_once()) {
            reader.phase = Phase::forward;
            reader.loop = graph_.value(id).loop;
        }
        const auto [known, added] = found_.try_emplace({id, reader.phase, reader.loop}, -1);
        if (!added) return known->second;
        const bool backward = reader.phase == Phase::backward;
        const ValueId made =
            add_value(id, fmt::format("{}.gathered{}", graph_.value(id).name, backward ? ".again" : ""), reader);
        known->second = made;
        gathered_from_[made] = id;
        Apply constrain{find_op("constrain"), {}, {}, {}};
        constrain.attributes.set("mesh", true);
        constrain.attributes.set(std::string(pass_attribute), std::string(name(reader.phase)));
        ShardingSpec whole{{}, {}, layout_.fsdp->span};
        for (const DimSharding& dim : gathered(id)->dims) {
            DimSpec& spec = whole.dims.emplace_back();
            for (const AxisRef& axis : dim.axes) spec.axes.push_back(text(layout_.mesh, axis));
            spec.open = dim.open;
        }
        constrain.asked = Asked{{}, std::move(whole), {}};
        Node node;
        node.does = std::move(constrain);
        node.inputs = {id};
        node.outputs = {made};
        node.scope = reader.scope;
        node.span = layout_.fsdp->span;
        node.loop = reader.loop;
        append(std::move(node), gathered(id));
        return made;
    }

    ValueId add_value(ValueId of, const std::string& name, const Reader& reader) {
        Value value;
        value.name = names_(name);
        value.type = graph_.value(of).type;
        value.span = graph_.value(of).span;
        value.loop = reader.loop;
        const ValueId id = append_value(graph_, std::move(value));
        made_of_parameters_.push_back(false);
        is_layer_.push_back(false);
        seeds_.values.emplace_back();
        seeds_.gathered.emplace_back();
        seeds_.rejected_by_value.emplace_back();
        return id;
    }

    void append(Node node, std::optional<Sharding> constraint) {
        append_node(graph_, std::move(node));
        seeds_.constraints.push_back(std::move(constraint));
    }

    Graph& graph_;
    const Layout& layout_;
    Seeds& seeds_;
    const std::vector<Phase> phases_;                          // by node as they were
    std::vector<bool> made_of_parameters_;                     // by value, those of the forward pass
    std::vector<bool> is_layer_;                               // by value: taken from a stack by loop_slice
    std::map<ValueId, ValueId> gathered_from_;                 // what was gathered -> what is stored
    std::map<std::tuple<ValueId, Phase, int>, ValueId> found_; // what stands for a value in a pass and loop
    std::map<ValueId, ValueId> before_loop_;                   // a parameter's cast in a loop -> the one before it
    FreshNames names_;
};

} // namespace

void gather_parameters(Graph& graph, const Layout& layout, Seeds& seeds) {
    const bool any = std::any_of(seeds.gathered.begin(), seeds.gathered.end(),
                                 [](const std::optional<Sharding>& sharding) { return sharding.has_value(); });
    if (any) Gatherer(graph, layout, seeds).run();
}

bool is_parameter_gather(const Node& node) { return node.attributes().has(pass_attribute); }

ValueId gathered_parameter(const Graph& graph, const Node& node) {
    ValueId parameter = node.inputs[0];
    while (graph.value(parameter).producer >= 0 && !graph.node(graph.value(parameter).producer).inputs.empty())
        parameter = graph.node(graph.value(parameter).producer).inputs[0];
    return parameter;
}

Phase gather_phase(const Node& node) { return *parse_phase(node.attributes().string(pass_attribute)); }

} // namespace shard
