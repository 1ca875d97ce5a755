// Nodes are visited in order, so what a node takes in has already taken in what it can. A node takes in producers whose
// every reader is it or among them, so that whole programs with values read twice (the gradient of a gelu) become one
// kernel; a reduction also what one other kernel can take in, too, where making it twice costs less than storing it.
// They move down to it: what they read then lives longer, and what they made lives no more. They move only if
// at no moment the former has hardly more bytes than the latter (a row of scales beside a value of many rows). A kernel
// costs memory at most where its result can no longer be made in place.
#include "planner/optimize/fuse_pointwise.h"

#include "planner/graph/first_places.h"
#include "planner/graph/op_def.h"
#include "planner/graph/users.h"
#include "planner/optimize/program_maker.h"
#include "planner/partition/local.h"
#include "plans/kernel/scalar_cost.h"
#include "plans/plan/plan_check_kernel.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>

namespace shard {

namespace {

// Bounds on one kernel: blocks of all live steps are to stay in a core's cache.
constexpr size_t step_limit = 48, input_limit = 12;
constexpr i64 hardly = 64;        // more by this part
constexpr size_t few = 16;        // operands that are compared with each other
constexpr size_t cheap_steps = 2; // less than to store the result and to read it
constexpr i64 least_run = 256;    // neighbours that a reduction makes at once

const Pointwise* pointwise_of(const Node& node) {
    return node.op() != nullptr && node.kernel() ? std::get_if<Pointwise>(node.kernel()) : nullptr;
}

const Reduce* reduce_of(const Node& node) {
    return node.op() != nullptr && node.kernel() ? std::get_if<Reduce>(node.kernel()) : nullptr;
}

const Pointwise& program_of(const Node& node) { return *program_of(*node.kernel()); }

// That makes a value of itself.
Pointwise copy_of(const TensorType& type) {
    Pointwise program;
    program.input_dims.resize(1);
    for (int d = 0; d < type.rank(); ++d) program.input_dims[0].push_back(d);
    ScalarStep& step = program.steps.emplace_back();
    step.op = ScalarOp::input;
    step.args[0] = 0;
    step.dtype = type.dtype;
    return program;
}

// The one number that a node makes, if it makes nothing else: a constant, or a broadcast of one.
std::optional<double> number_of(const Node& node) {
    if (node.op() == nullptr || !node.kernel()) return std::nullopt;
    if (const Generate* generate = std::get_if<Generate>(node.kernel()))
        if (const Fill* fill = std::get_if<Fill>(&generate->source)) return fill->value;
    if (const Pointwise* pointwise = std::get_if<Pointwise>(node.kernel()))
        if (pointwise->steps.size() == 1 && pointwise->steps[0].op == ScalarOp::constant)
            return pointwise->steps[0].value;
    return std::nullopt;
}

// Steps that compute.
size_t steps_of(const Node& node) {
    const std::vector<ScalarStep>& steps = program_of(node).steps;
    return static_cast<size_t>(
        std::count_if(steps.begin(), steps.end(), [](const ScalarStep& step) { return arity(step.op) > 0; }));
}

// The input's dims are the output's, in order and of the same sizes.
bool same_space(const std::vector<int>& dims, const Shape& input, const Shape& output) {
    if (input != output) return false;
    for (size_t d = 0; d < dims.size(); ++d)
        if (dims[d] != static_cast<int>(d)) return false;
    return true;
}

class Fuser {
public:
    explicit Fuser(Graph& graph)
        : graph_(graph), users_(graph), readers_(graph.values.size(), 0), last_read_(graph.values.size(), -1) {
        for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) count_reads(n);
        for (ValueId id : graph.inputs) last_read(id) = forever;
        for (ValueId id : graph.outputs) {
            last_read(id) = forever;
            ++readers(id);
        }
    }

    void run() {
        for (NodeId n = 0; n < static_cast<NodeId>(graph_.nodes.size()); ++n) {
            if (pointwise_of(graph_.node(n)) != nullptr) take_in(n);
            if (reduce_of(graph_.node(n)) != nullptr) take_in_reduced(n);
        }
    }

private:
    static constexpr NodeId forever = std::numeric_limits<NodeId>::max();
    int& readers(ValueId id) { return readers_[id]; }
    NodeId& last_read(ValueId id) { return last_read_[id]; }

    void count_reads(NodeId n) {
        for_each_value(graph_.node(n), [&](ValueId id) {
            ++readers(id);
            last_read(id) = std::max(last_read(id), n);
        });
    }

    // That a node reads, be it several times.
    template<class Visit>
    static void for_each_value(const Node& node, const Visit& visit) {
        if (node.inputs.size() > few) {
            const std::vector<size_t> places = first_places(node.inputs);
            for (size_t i = 0; i < places.size(); ++i)
                if (places[i] == i) visit(node.inputs[i]);
            return;
        }
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (!is_read_before(node, i)) visit(node.inputs[i]);
    }
    static bool is_read_before(const Node& node, size_t input) {
        const auto begin = node.inputs.begin(), end = begin + static_cast<std::ptrdiff_t>(input);
        return std::find(begin, end, node.inputs[input]) != end;
    }

    // What the node's program runs over.
    const Shape& space_of(const Node& node) const {
        const Reduce* const reduce = reduce_of(node);
        return reduce != nullptr ? reduce->made->shape : graph_.value(node.outputs[0]).type.shape;
    }

    const Node* producer_of(ValueId id) const {
        const NodeId producer = graph_.value(id).producer;
        return producer < 0 ? nullptr : &graph_.node(producer);
    }

    // What a kernel makes by itself instead of reading its operand: a number, or positions along a dim.
    std::optional<ScalarStep> leaf_of(const Node& node, size_t input) const {
        const Node* const producer = producer_of(node.inputs[input]);
        if (producer == nullptr) return std::nullopt;
        const Value& value = graph_.value(node.inputs[input]);
        ScalarStep step;
        step.dtype = value.type.dtype;
        if (const std::optional<double> number = number_of(*producer)) {
            step.op = ScalarOp::constant;
            step.value = *number;
            return step;
        }
        if (producer->op() == nullptr) return std::nullopt;
        const Generate* const generate = std::get_if<Generate>(producer->kernel());
        const Iota* const iota = generate == nullptr ? nullptr : std::get_if<Iota>(&generate->source);
        if (iota == nullptr) return std::nullopt;
        const int along = program_of(node).input_dims[input][static_cast<size_t>(iota->dim)];
        if (value.type.shape[static_cast<size_t>(iota->dim)] != space_of(node)[static_cast<size_t>(along)])
            return std::nullopt;
        step.op = ScalarOp::index;
        step.args[0] = along;
        step.start = generate->start[static_cast<size_t>(iota->dim)];
        return step;
    }

    // Every read of `id` by the node is of its own elements, one by one.
    bool reads_in_place(const Node& node, ValueId id) const {
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (node.inputs[i] == id &&
                !same_space(program_of(node).input_dims[i], graph_.value(id).type.shape, space_of(node)))
                return false;
        return true;
    }

    // It has few cheap steps and moves less memory so than if its result was stored, written once and read twice. The two
    // kernels that read the result can make it themselves, and the other one is looked at after `n`. What lives longer for
    // it has less bytes than the result.
    bool is_made_twice(NodeId producer, NodeId n) const {
        const Node& node = graph_.node(producer);
        const ValueId made = node.outputs[0];
        const std::vector<ScalarStep>& steps = program_of(node).steps;
        const std::span<const NodeId> users = users_[made];
        const i64 bytes = graph_.value(made).type.bytes();
        i64 read = 0, kept_alive = 0;
        for_each_value(node, [&](ValueId id) {
            read += graph_.value(id).type.bytes();
            if (last_read_[id] < last_read_[made]) kept_alive += graph_.value(id).type.bytes();
        });
        return steps_of(node) <= cheap_steps && readers_[made] == 2 && last_read_[made] < forever &&
               read <= 2 * bytes && kept_alive < bytes / 2 &&
               std::none_of(steps.begin(), steps.end(), [](const ScalarStep& step) { return is_series(step.op); }) &&
               std::any_of(users.begin(), users.end(), [n](NodeId user) { return user > n; }) &&
               std::all_of(users.begin(), users.end(), [&](NodeId user) {
                   const Node& reader = graph_.node(user);
                   if (reader.loop != node.loop) return false;
                   const Reduce* const reduce = reduce_of(reader);
                   return (reduce != nullptr && !reduce->made) ||
                          ((reduce != nullptr || pointwise_of(reader) != nullptr) && reads_in_place(reader, made));
               });
    }

    // Producers that `n` can take in, the last one first; with each of them all readers of what it makes come before, or
    // it is made twice.
    std::vector<NodeId> takeable(NodeId n) const {
        std::vector<NodeId> taken;
        const int loop = graph_.node(n).loop; // others would be computed in every trip
        size_t steps = steps_of(graph_.node(n));
        std::map<NodeId, int, std::greater<>> candidates; // and how many of `n` and `taken` read what they make
        const auto add_producers = [&](const Node& reader) {
            for_each_value(reader, [&](ValueId id) {
                const Node* const producer = producer_of(id);
                if (producer != nullptr && pointwise_of(*producer) != nullptr && producer->loop == loop &&
                    !number_of(*producer) && reads_in_place(reader, id))
                    ++candidates[graph_.value(id).producer];
            });
        };
        add_producers(graph_.node(n));
        while (!candidates.empty()) {
            const auto [producer, count] = *candidates.begin();
            candidates.erase(candidates.begin());
            const Node& node = graph_.node(producer);
            const size_t more = steps_of(node);
            const bool alone = count == readers_[node.outputs[0]],
                       twice = !alone && reduce_of(graph_.node(n)) != nullptr && is_made_twice(producer, n);
            if ((!alone && !twice) || steps + more > step_limit) continue;
            steps += more;
            taken.push_back(producer);
            if (alone) add_producers(node);
        }
        return taken;
    }

    // What is asked of a choice of producers to take in: looked up once, since many choices are looked at.
    struct Member {
        std::vector<ValueId> reads; // but leaves
        NodeId node = -1, last_reader = -1;
        i64 bytes = 0; // of what it makes
    };
    // First `n`, then the producers.
    std::vector<Member> members_of(NodeId n, std::span<const NodeId> taken) const {
        std::vector<Member> members(1 + taken.size());
        members[0].node = n;
        for (size_t i = 0; i < taken.size(); ++i) members[i + 1].node = taken[i];
        for (size_t m = 0; m < members.size(); ++m) {
            Member& member = members[m];
            const Node& node = graph_.node(member.node);
            const ValueId made = node.outputs[0];
            member.bytes = graph_.value(made).type.bytes();
            for (size_t before = 0; before < m && member.last_reader < 0; ++before) { // the last one comes first
                const std::vector<ValueId>& reads = graph_.node(members[before].node).inputs;
                if (std::find(reads.begin(), reads.end(), made) != reads.end())
                    member.last_reader = members[before].node;
            }
            for (size_t i = 0; i < node.inputs.size(); ++i)
                if (!leaf_of(node, i)) member.reads.push_back(node.inputs[i]);
        }
        return members;
    }

    // Nothing that is needed is made between them.
    bool follows(NodeId before, NodeId after) const {
        for (NodeId n = before + 1; n < after; ++n) {
            const Node& node = graph_.node(n);
            const bool is_gone = node.outputs.size() == 1 && readers_[node.outputs[0]] == 0;
            if (!is_gone && !number_of(node)) return false;
        }
        return true;
    }

    // With these taken in: few operands, and at no moment more memory.
    bool is_good(std::span<const Member> members) const {
        const std::span<const Member> taken = members.subspan(1);
        std::vector<ValueId> outside;
        for (const Member& member : members)
            for (const ValueId id : member.reads) {
                const NodeId producer = graph_.value(id).producer;
                const auto makes = [producer](const Member& each) { return each.node == producer; };
                if (std::any_of(taken.begin(), taken.end(), makes) ||
                    std::find(outside.begin(), outside.end(), id) != outside.end())
                    continue;
                outside.push_back(id);
                if (outside.size() > input_limit) return false;
            }
        // What is read lives until the node; what is made in it lives no more.
        const NodeId n = members[0].node;
        const bool is_reduced = reduce_of(graph_.node(n)) != nullptr;
        std::vector<NodeId> moments;
        for (const Member& each : taken) moments.push_back(each.node);
        for (ValueId id : outside)
            if (last_read_[id] > taken.back().node && last_read_[id] < n) moments.push_back(last_read_[id]);
        for (const NodeId moment : moments) {
            NodeId next = n;
            for (const Member& each : taken)
                if (each.node > moment) next = std::min(next, each.node);
            // A reduction that follows at once: its result is small, and nothing else is made meanwhile.
            if (is_reduced && follows(moment, next)) continue;
            i64 kept_alive = 0, gone = 0;
            for (ValueId id : outside)
                if (last_read_[id] <= moment) kept_alive += graph_.value(id).type.bytes();
            for (const Member& inside : taken)
                if (inside.node <= moment && inside.last_reader > moment) gone += inside.bytes;
            if (kept_alive > gone + gone / hardly) return false;
        }
        return true;
    }

    // How many of them, from the first on.
    size_t good(NodeId n, std::span<const NodeId> possible) const {
        if (possible.empty()) return 0;
        const std::vector<Member> members = members_of(n, possible);
        size_t count = possible.size();
        while (count > 0 && !is_good(std::span(members).first(1 + count))) --count;
        return count;
    }

    bool changes(NodeId n, std::span<const NodeId> taken) const {
        const Node& node = graph_.node(n);
        if (!taken.empty()) return true;
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (is_read_before(node, i) || leaf_of(node, i)) return true;
        return false;
    }

    // The program of a node, with those of the producers that are taken in in the place of their reads.
    int append(ProgramMaker& made, std::vector<std::pair<ValueId, int>>& steps, const Node& node,
               std::span<const NodeId> taken) const {
        const Pointwise& kernel = program_of(node);
        return made.append(kernel, [&](size_t input, DType dtype) {
            if (std::optional<ScalarStep> leaf = leaf_of(node, input)) return made.add(std::move(*leaf));
            const ValueId id = node.inputs[input];
            if (std::find(taken.begin(), taken.end(), graph_.value(id).producer) == taken.end())
                return made.read(id, kernel.input_dims[input], dtype);
            for (const auto& [known, step] : steps)
                if (known == id) return step;
            const int step = append(made, steps, *producer_of(id), taken);
            steps.emplace_back(id, step);
            return step;
        });
    }

    // An operand has all dims of the space that the result lacks.
    bool reads_all(const ProgramMaker& made, const Reduce& reduce) const {
        for (size_t i = 0; i < made.inputs.size(); ++i)
            if (has_reduced_dims(reduce, made.kernel.input_dims[i], graph_.value(made.inputs[i]).type.shape))
                return true;
        return false;
    }

    // Blocks of neighbours are made one after the other: there are long runs of them, or what is next lies behind.
    bool has_long_runs(const Reduce& reduce, const Shape& shape) const {
        i64 run = 1;
        bool was_reduced = false, is_behind = false; // a reduced dim, and a kept one in front of one
        for (size_t d = shape.size(); d-- > 0;) {
            if (shape[d] == 1) continue;
            const bool is_reduced =
                std::find(reduce.dims.begin(), reduce.dims.end(), static_cast<int>(d)) != reduce.dims.end();
            if (is_reduced && is_behind) return run >= least_run;
            is_behind = is_behind || (was_reduced && !is_reduced);
            was_reduced = was_reduced || is_reduced;
            if (!is_behind) run *= shape[d];
        }
        return true;
    }

    void take_in_reduced(NodeId n) {
        Node& node = graph_.nodes[n];
        const TensorType& reduced = graph_.value(node.inputs[0]).type;
        if (!has_long_runs(*reduce_of(node), reduced.shape)) return;
        const Shared<Kernel> alone = node.apply().kernel;
        node.apply().kernel.change([&](Kernel& kernel) {
            std::get<Reduce>(kernel).made = {reduced.shape, copy_of(reduced)};
        });
        if (!take_in(n)) node.apply().kernel = alone;
    }

    bool take_in(NodeId n) {
        const std::vector<NodeId> possible = takeable(n);
        const std::span<const NodeId> taken = std::span(possible).first(good(n, possible));
        if (!changes(n, taken)) return false;
        Node& node = graph_.nodes[n];
        ProgramMaker made;
        std::vector<std::pair<ValueId, int>> steps; // of what is taken in
        const int result = append(made, steps, node, taken);
        // The last step is the result; a program that ends in a read that others share stays as it is.
        if (result != static_cast<int>(made.kernel.steps.size()) - 1) return false;
        if (reduce_of(node) != nullptr && !reads_all(made, *reduce_of(node))) return false;
        const auto forget = [this](ValueId id) { --readers(id); };
        for_each_value(node, forget);
        for (NodeId gone : taken) // the last one first: what nobody reads any more reads no more
            if (readers_[graph_.node(gone).outputs[0]] == 0) for_each_value(graph_.node(gone), forget);
        node.inputs = std::move(made.inputs);
        node.apply().kernel.change([&](Kernel& kernel) { *program_of(kernel) = std::move(made.kernel); });
        count_reads(n);
        return true;
    }

    Graph& graph_;
    const Users users_;             // before anything was taken in
    std::vector<int> readers_;      // by value: nodes that read it, and outputs
    std::vector<NodeId> last_read_; // by value: never before the node that really reads it last
};

} // namespace

void fuse_pointwise(Local& local) { Fuser(local.graph).run(); }

} // namespace shard
