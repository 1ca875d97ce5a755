#include "planner/redistribute/simpler_ways.h"

#include "planner/graph/device_op.h"
#include "planner/graph/own_name.h"
#include "planner/redistribute/cheaper_sequence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

class Advisor {
public:
    Advisor(const Graph& graph, const Users& users, const Node& node, Redistributor& redistributor)
        : graph_(graph), users_(users), node_(node), op_(*node.op()->device),
          collective_(op_.collective(node.attributes())), redistributor_(redistributor) {}

    std::string advice() const {
        if (const std::string same = of_equal_values(); !same.empty()) return same;
        if (const std::string cheaper = cheaper_sequence(graph_, users_, node_, redistributor_); !cheaper.empty())
            return cheaper;
        if (const std::string again = of_the_same_twice(); !again.empty()) return again;
        return of_what_reads_it();
    }

private:
    const Value& value(ValueId id) const { return graph_.value(id); }
    // nullptr: it enters, or a loop carries it.
    const Node* producer(ValueId id) const {
        const NodeId node = value(id).producer;
        return node < 0 || is_marker(graph_.node(node)) ? nullptr : &graph_.node(node);
    }
    std::string over() const {
        const std::vector<std::string>& axes = node_.attributes().strings("over");
        return axes.size() == 1 ? axes[0] : fmt::format("[{}]", fmt::join(axes, ", "));
    }
    static bool same_group(const Node& a, const Node& b) {
        return a.attributes().integers("mesh_axes") == b.attributes().integers("mesh_axes");
    }

    // The operand does not vary: every device has what it would be sent.
    std::string of_equal_values() const {
        const Node* taken = producer(node_.inputs[0]);
        if (!taken || !taken->op()->device || !taken->op()->device->casts || !op_.of_equal) return {};
        const std::vector<i64>& varied = taken->attributes().integers("mesh_axes");
        for (i64 axis : node_.attributes().integers("mesh_axes"))
            if (std::find(varied.begin(), varied.end(), axis) == varied.end()) return {};
        const std::string_view x = own_name(value(taken->inputs[0]).name);
        const std::string instead = op_.of_equal(x, node_.attributes());
        return instead.empty() ? "" : fmt::format("{} is the same on all devices along {}: {}", x, over(), instead);
    }

    // A permutation passes on the result of its like, which nobody else reads.
    std::string of_the_same_twice() const {
        const Node* before = producer(node_.inputs[0]);
        if (!is_pairwise(collective_) || !before || before->op() != node_.op() || !same_group(*before, node_) ||
            users_[node_.inputs[0]].size() != 1)
            return {};
        return fmt::format("one {} whose pairs go both ways at once does what this and the one at line {} do",
                           node_.op()->name, before->span.line);
    }

    // The dim that is whole on each device afterwards.
    std::optional<int> gathered_dim() const {
        const std::vector<AxisMove>& moves = collective_.moves;
        return moves.size() == 1 && moves[0].to < 0 ? std::optional(moves[0].from) : std::nullopt;
    }

    // Its only reader sums up what everybody is sent.
    std::string of_what_reads_it() const {
        const std::span<const NodeId> readers = users_[node_.outputs[0]];
        const std::optional<int> gathered = gathered_dim();
        if (readers.size() != 1 || !gathered) return {};
        const Node& reader = graph_.node(readers[0]);
        if (is_marker(reader) || reader.op()->reduces != ReduceOp::sum) return {};
        const std::vector<i64>& dims = reader.attributes().integers("dims");
        if (std::find(dims.begin(), dims.end(), *gathered) == dims.end()) return {};
        return fmt::format("only the sum over dim {} of it is read: {} first, then psum over {}", *gathered,
                           reader.op()->name, over());
    }

    const Graph& graph_;
    const Users& users_;
    const Node& node_;
    const DeviceOp& op_;
    const Collective collective_;
    Redistributor& redistributor_;
};

} // namespace

std::string simpler_way(const Graph& graph, const Users& users, const Node& node, Redistributor& redistributor) {
    return Advisor(graph, users, node, redistributor).advice();
}

} // namespace shard
