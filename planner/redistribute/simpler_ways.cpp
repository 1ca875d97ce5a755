#include "planner/redistribute/simpler_ways.h"

#include "planner/graph/device_op.h"
#include "planner/redistribute/cheaper_sequence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

// The last part of a path: how the body calls the value.
std::string_view own_name(const Value& value) {
    const std::string_view path = value.name;
    return path.substr(path.rfind('.') + 1);
}

class Advisor {
public:
    Advisor(const Graph& graph, const std::vector<std::vector<NodeId>>& users, const Node& node,
            Redistributor& redistributor)
        : graph_(graph), users_(users), node_(node), op_(node.op->name), redistributor_(redistributor) {}

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
        const std::vector<std::string>& axes = node_.attributes.strings("over");
        return axes.size() == 1 ? axes[0] : fmt::format("[{}]", fmt::join(axes, ", "));
    }
    static bool same_group(const Node& a, const Node& b) {
        return a.attributes.integers("mesh_axes") == b.attributes.integers("mesh_axes");
    }

    // The operand does not vary: every device has what it would be sent.
    std::string of_equal_values() const {
        const Node* taken = producer(node_.inputs[0]);
        if (!taken || taken->op->name != "pvary") return {};
        const std::vector<i64>& varied = taken->attributes.integers("mesh_axes");
        for (i64 axis : node_.attributes.integers("mesh_axes"))
            if (std::find(varied.begin(), varied.end(), axis) == varied.end()) return {};
        const std::string_view x = own_name(value(taken->inputs[0]));
        const std::string why = fmt::format("{} is the same on all devices along {}: ", x, over());
        const i64 n = group_size(node_.attributes);
        if (op_ == "psum") return why + fmt::format("{{mul: [{}, {}]}} needs no collective", x, n);
        if (op_ == "pmax" || op_ == "pmin") return why + fmt::format("{} of it is {}", op_, x);
        if (op_ == "psum_scatter") return why + fmt::format("own_block of {{mul: [{}, {}]}} needs no collective", x, n);
        if (op_ == "all_gather") return why + fmt::format("concatenate {} copies of it, without a collective", n);
        if (op_ == "ppermute" && node_.attributes.integers("perm").size() == static_cast<size_t>(2 * n))
            return why + "passing it on changes nothing";
        return {};
    }

    // It passes on the result of its like, which nobody else reads.
    std::string of_the_same_twice() const {
        const Node* before = producer(node_.inputs[0]);
        if (op_ != "ppermute" || !before || before->op != node_.op || !same_group(*before, node_) ||
            users_[node_.inputs[0]].size() != 1)
            return {};
        return fmt::format("one ppermute whose pairs go both ways at once does what this and the one at line {} do",
                           before->span.line);
    }

    // Its only reader sums up what everybody is sent.
    std::string of_what_reads_it() const {
        const std::vector<NodeId>& readers = users_[node_.outputs[0]];
        if (readers.size() != 1 || op_ != "all_gather") return {};
        const Node& reader = graph_.node(readers[0]);
        if (is_marker(reader) || reader.op->name != "reduce_sum") return {};
        const std::vector<i64>& dims = reader.attributes.integers("dims");
        if (std::find(dims.begin(), dims.end(), node_.attributes.integer("dim")) == dims.end()) return {};
        return fmt::format("only the sum over dim {} of it is read: reduce_sum first, then psum over {}",
                           node_.attributes.integer("dim"), over());
    }

    const Graph& graph_;
    const std::vector<std::vector<NodeId>>& users_;
    const Node& node_;
    const std::string_view op_;
    Redistributor& redistributor_;
};

} // namespace

std::string simpler_way(const Graph& graph, const std::vector<std::vector<NodeId>>& users, const Node& node,
                        Redistributor& redistributor) {
    return Advisor(graph, users, node, redistributor).advice();
}

} // namespace shard
