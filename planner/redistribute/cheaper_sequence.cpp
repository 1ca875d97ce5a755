#include "planner/redistribute/cheaper_sequence.h"

#include "planner/graph/device_op.h"
#include "planner/redistribute/manual_form.h"
#include "planner/redistribute/plan_cost.h"

#include "planner/graph/own_name.h"
#include "planner/redistribute/redistribute.h"
#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool takes_own_block(const Node& node) { return device_op(node) && device_op(node)->own_block_of; }
bool is_cast(const Node& node) { return device_op(node) && device_op(node)->casts; }

// Takes a whole value from one sharding to another. A permutation does not: it moves the parts.
bool reshards(const Node& node) {
    if (takes_own_block(node)) return true;
    const DeviceOp* op = device_op(node);
    return op && op->collective && !is_pairwise(op->collective(node.attributes()));
}

std::vector<AxisRef> real_axes(std::vector<AxisRef> axes) {
    std::erase_if(axes, [](const AxisRef& axis) { return axis.size == 1; });
    return axes;
}

bool ends_with(const std::vector<AxisRef>& axes, const std::vector<AxisRef>& end) {
    return axes.size() >= end.size() && std::equal(end.rbegin(), end.rend(), axes.rbegin());
}

class Run {
public:
    Run(const Graph& graph, const Users& users, Redistributor& redistributor)
        : graph_(graph), users_(users), redistributor_(redistributor) {}

    std::string advice(const Node& node) {
        const std::vector<const Node*> chain = chain_of(node);
        for (size_t first = 0, end; first < chain.size(); first = end) {
            begin(*chain[first]);
            for (end = first; end < chain.size() && take(*chain[end]);) nodes_.push_back(chain[end++]);
            end = std::max(end, first + 1);
            const auto is_collective = [](const Node* each) { return !takes_own_block(*each); };
            const auto it = std::find_if(nodes_.begin(), nodes_.end(), is_collective);
            if (it != nodes_.end() && *it == &node) return nodes_.size() < 2 ? std::string() : compare();
        }
        return {}; // of a run that another one begins
    }

private:
    // What takes a value from sharding to sharding, each the only reader of the one before.
    std::vector<const Node*> chain_of(const Node& node) const {
        std::vector<const Node*> chain = {&node};
        for (const Node* at = before(node); at; at = before(*at)) chain.insert(chain.begin(), at);
        for (const Node* at = only_reader(node); at && reshards(*at); at = only_reader(*at)) chain.push_back(at);
        return chain;
    }

    const Node* before(const Node& node) const {
        const Node* at = maker(node.inputs[0]);
        while (at && is_cast(*at)) at = maker(at->inputs[0]);
        return at && reshards(*at) && only_reader(*at) == &node ? at : nullptr;
    }

    void begin(const Node& first) {
        nodes_.clear();
        written_.clear();
        before_ = {};
        before_.dims.resize(graph_.value(first.inputs[0]).type.shape.size());
        now_ = before_;
    }

    const Node* maker(ValueId id) const {
        const NodeId producer = graph_.value(id).producer;
        return producer < 0 ? nullptr : &graph_.node(producer);
    }

    // Taking a value to vary is not a reader of its own.
    const Node* only_reader(const Node& node) const {
        const Node* at = &node;
        do {
            const std::span<const NodeId> readers = users_[at->outputs[0]];
            if (readers.size() != 1) return nullptr;
            at = &graph_.node(readers[0]);
        } while (is_cast(*at));
        return at->loop == node.loop ? at : nullptr;
    }

    // Adds the op to the run, if what a device holds can still be seen as its part of one whole value.
    bool take(const Node& node) {
        const Sharding before = before_, now = now_;
        if (takes(node)) return true;
        before_ = before;
        now_ = now;
        return false;
    }

    bool takes(const Node& node) {
        if (takes_own_block(node)) {
            const std::vector<AxisRef> axes = real_axes(group_axes(node.attributes()));
            if (overlaps(axes, now_) || varies(node, axes)) return false;
            std::vector<AxisRef>& dim = now_.dims[device_op(node)->own_block_of(node.attributes())].axes;
            dim.insert(dim.end(), axes.begin(), axes.end());
            return true;
        }
        Collective collective = node.op()->device->collective(node.attributes());
        collective.axes = real_axes(group_axes(node.attributes()));
        if (collective.axes.empty()) return false;
        for (AxisMove& move : collective.moves) move.axes = real_axes(move.axes);
        if (collective.def->uses.reduce && !needs_partial(collective)) return false;
        for (const AxisMove& move : collective.moves)
            if (move.from >= 0 && !needs_split(move)) return false;
        now_ = sharding_after(collective, now_);
        written_.push_back(std::move(collective));
        return true;
    }

    // Devices hold sums of their own along axes of which nothing was said so far.
    bool needs_partial(const Collective& collective) {
        if (overlaps(collective.axes, now_) || overlaps(collective.axes, before_)) return false;
        if (!before_.partial.empty() && before_.reduce != collective.reduce) return false;
        for (Sharding* sharding : {&before_, &now_}) {
            sharding->partial.insert(sharding->partial.end(), collective.axes.begin(), collective.axes.end());
            std::sort(sharding->partial.begin(), sharding->partial.end());
            sharding->reduce = collective.reduce;
        }
        return true;
    }

    // Devices hold blocks of the dim.
    bool needs_split(const AxisMove& move) {
        std::vector<AxisRef>& here = now_.dims[move.from].axes;
        if (ends_with(here, move.axes)) return true;
        if (!here.empty() || overlaps(move.axes, now_) || overlaps(move.axes, before_)) return false;
        here = move.axes;
        std::vector<AxisRef>& first = before_.dims[move.from].axes;
        first.insert(first.begin(), move.axes.begin(), move.axes.end());
        return true;
    }

    static bool overlaps(const std::vector<AxisRef>& axes, const Sharding& sharding) {
        const std::vector<AxisRef> used = used_axes(sharding);
        return std::any_of(axes.begin(), axes.end(), [&](const AxisRef& axis) {
            return overlaps_any(axis, used) || overlaps_any(axis, sharding.partial);
        });
    }

    // Before it is taken to vary by the op itself.
    bool varies(const Node& node, const std::vector<AxisRef>& axes) const {
        ValueId id = node.inputs[0];
        for (const Node* at = maker(id); at && is_cast(*at); at = maker(id)) id = at->inputs[0];
        const std::vector<int>& varying = graph_.value(id).varying;
        return std::any_of(axes.begin(), axes.end(), [&](const AxisRef& axis) {
            return std::find(varying.begin(), varying.end(), axis.axis) != varying.end();
        });
    }

    // What the written ops cost, one after the other.
    PlanCost written_cost(i64 bytes) const {
        const Mesh& mesh = redistributor_.mesh();
        PlanCost cost;
        size_t next = 0;
        for (const Node* node : nodes_) {
            if (!takes_own_block(*node)) {
                const Collective& collective = written_[next++];
                cost.seconds += collective.def->seconds(collective, mesh, redistributor_.hardware(), bytes);
                cost.wire_bytes += collective.def->wire_bytes_total(collective, mesh, bytes);
                ++cost.collectives;
            }
            bytes = graph_.value(node->outputs[0]).type.bytes();
        }
        return cost;
    }

    std::string compare() const {
        TensorType type = graph_.value(nodes_.front()->inputs[0]).type;
        PlanCost written = written_cost(type.bytes()), found;
        for (size_t d = 0; d < type.shape.size(); ++d) type.shape[d] *= total_size(before_.dims[d].axes);
        const Redistribution& way = redistributor_.find(type, before_, now_);
        found.add(way);
        found.collectives = written.collectives; // fewer for the same seconds and bytes are not worth a word
        if (!cheaper(found, written)) return {};
        const std::string lines =
            nodes_.front()->span.line == nodes_.back()->span.line
                ? fmt::format("line {} does", nodes_.front()->span.line)
                : fmt::format("lines {} to {} do", nodes_.front()->span.line, nodes_.back()->span.line);
        if (way.steps.empty()) return fmt::format("what {} comes to nothing: it is not needed", lines);
        std::string text;
        for (const RedistributionStep& step : way.steps) {
            const std::optional<std::vector<std::string>> ops = manual_form(redistributor_.mesh(), step);
            if (!ops) return {};
            for (const std::string& op : *ops) {
                const std::string operand = text.empty() ? operand_name(nodes_.front()->inputs[0]) : "that";
                text += fmt::format("{}{{{}}}", text.empty() ? "" : ", then ", fmt::format(fmt::runtime(op), operand));
            }
        }
        const i64 devices = redistributor_.mesh().device_count();
        return fmt::format("{} does what {}, and sends {} B in place of {} B", text, lines, found.wire_bytes / devices,
                           written.wire_bytes / devices);
    }

    // As the body names it: not as it is taken to vary.
    std::string operand_name(ValueId id) const {
        for (const Node* at = maker(id); at && is_cast(*at); at = maker(id)) id = at->inputs[0];
        return std::string(own_name(graph_.value(id).name));
    }

    const Graph& graph_;
    const Users& users_;
    Redistributor& redistributor_;
    Sharding before_, now_; // of the whole value, where the run begins and where it has come to
    std::vector<const Node*> nodes_;
    std::vector<Collective> written_;
};

} // namespace

std::string cheaper_sequence(const Graph& graph, const Users& users, const Node& node, Redistributor& redistributor) {
    return Run(graph, users, redistributor).advice(node);
}

} // namespace shard
