#include "planner/rewrite/join_moves.h"

#include "planner/graph/node_classes.h"
#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/graph/users.h"
#include "planner/ops_support/pieces.h"
#include "plans/kernel/steps_inside.h"

#include <algorithm>

namespace shard {

namespace {

constexpr size_t most_pieces = 16;

// What an outer piece copies of what an inner one has put there; nullopt if that is no box.
std::optional<MovePiece> through(const MovePiece& outer, const MovePiece& inner) {
    MovePiece made = outer;
    made.operand = inner.operand;
    for (size_t d = 0; d < outer.extent.size(); ++d) {
        if (inner.out_stride[d] != 1) return std::nullopt;
        // Step u of the outer piece reads step first + stride * u of the inner one.
        const i64 stride = outer.in_stride[d];
        const i64 first = outer.in_start[d].constant - inner.out_start[d].constant;
        const auto [from, to] = steps_inside({0, outer.extent[d]}, first, stride, inner.extent[d]);
        made.extent[d] = std::max<i64>(to - from, 0);
        if (made.extent[d] == 0) return made;
        const bool one = made.extent[d] == 1; // of one element any stride says the same
        made.in_start[d] = constant(inner.in_start[d].constant + inner.in_stride[d] * (first + stride * from));
        made.in_stride[d] = one ? 1 : inner.in_stride[d] * stride;
        made.out_start[d] = constant(outer.out_start[d].constant + outer.out_stride[d] * from);
        if (one) made.out_stride[d] = 1;
    }
    return made;
}

class Joiner {
public:
    Joiner(Graph& graph, const Seeds& seeds)
        : graph_(graph), seeds_(seeds), classes_(graph), moves_(classes_.count()), is_joined_(graph.nodes.size()),
          is_output_(graph.values.size()) {
        const Users users(graph);
        for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
            users_.emplace_back(users[id].begin(), users[id].end());
        for (ValueId id : graph.outputs) is_output_[id] = true;
    }

    void run() {
        // In order: what is joined itself may be between others.
        for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) join_readers(id);
    }

private:
    // The op on whole values, if it only moves elements, and puts zeros where it puts none.
    std::optional<Move> move_of(NodeId id) {
        if (id < 0) return std::nullopt;
        const Node& node = graph_.node(id);
        if (node.op() == nullptr || node.op()->lower == nullptr || node.op()->device || is_constraint(node))
            return std::nullopt;
        if (is_joined_[id]) return lowered_move(node);
        std::optional<std::optional<Move>>& known = moves_[classes_.class_of(id)];
        if (!known) known = lowered_move(node);
        return *known;
    }

    std::optional<Move> lowered_move(const Node& node) const {
        const std::vector<TensorType> operands = types_of(graph_, node.inputs),
                                      results = types_of(graph_, node.outputs);
        const IndexRule rule = node.op()->rule(operands, results, node.attributes());
        const std::vector<std::vector<AxisRef>> unsplit(rule.factors.size());
        const Kernel kernel =
            node.op()->lower({operands, results, operands, results, node.attributes(), rule, unsplit});
        const Move* move = std::get_if<Move>(&kernel);
        if (move == nullptr || move->flat || !move->permutation.empty()) return std::nullopt;
        if (!move->covers && move->fill != Number(0)) return std::nullopt;
        const auto is_constant = [](const Affine& start) { return start.is_constant(); };
        for (const MovePiece& piece : move->pieces)
            if (!std::all_of(piece.in_start.begin(), piece.in_start.end(), is_constant) ||
                !std::all_of(piece.out_start.begin(), piece.out_start.end(), is_constant))
                return std::nullopt;
        return *move;
    }

    void join_readers(ValueId between) {
        const std::vector<NodeId>& readers = users_[between];
        const NodeId maker = graph_.value(between).producer;
        if (readers.empty() || is_output_[between] || seeds_.values[between]) return;
        const std::optional<Move> inner = move_of(maker);
        if (!inner) return;
        std::vector<Node> joined;
        for (NodeId reader : readers) {
            std::optional<Node> node = with(reader, between, *inner);
            if (!node) return;
            joined.push_back(std::move(*node));
        }
        for (size_t n = 0; n < readers.size(); ++n) {
            for (ValueId id : joined[n].inputs)
                if (std::find(users_[id].begin(), users_[id].end(), readers[n]) == users_[id].end())
                    users_[id].push_back(readers[n]);
            graph_.nodes[readers[n]] = std::move(joined[n]);
            is_joined_[readers[n]] = true;
        }
        users_[between].clear();
    }

    // The reader, of what `between` is made of in its place.
    std::optional<Node> with(NodeId reader, ValueId between, const Move& inner) {
        const std::optional<Move> outer = move_of(reader);
        Node node = graph_.node(reader);
        const Node& maker = graph_.node(graph_.value(between).producer);
        if (!outer || node.loop != maker.loop) return std::nullopt;
        std::vector<ValueId> inputs;
        const auto place_of = [&inputs](ValueId id) {
            const std::vector<ValueId>::iterator known = std::find(inputs.begin(), inputs.end(), id);
            const int place = static_cast<int>(known - inputs.begin());
            if (known == inputs.end()) inputs.push_back(id);
            return place;
        };
        std::vector<MovePiece> pieces;
        for (MovePiece piece : outer->pieces) {
            const ValueId operand = node.inputs[piece.operand];
            if (operand != between) {
                piece.operand = place_of(operand);
                pieces.push_back(std::move(piece));
                continue;
            }
            for (const MovePiece& part : inner.pieces) {
                std::optional<MovePiece> made = through(piece, part);
                if (!made) return std::nullopt;
                if (element_count(made->extent) == 0) continue;
                made->operand = place_of(maker.inputs[part.operand]);
                pieces.push_back(std::move(*made));
            }
        }
        if (pieces.empty() || pieces.size() > most_pieces) return std::nullopt;
        Attributes attributes;
        attributes.set("shape", std::vector<i64>(graph_.value(node.outputs[0]).type.shape));
        attributes.set("pieces", written_pieces(pieces));
        node.inputs = std::move(inputs);
        node.apply() = Apply{find_op("assemble"), std::move(attributes), {}, {}};
        return node;
    }

    Graph& graph_;
    const Seeds& seeds_;
    std::vector<std::vector<NodeId>> users_;                // that still read it
    const NodeClasses classes_;                             // of the nodes as they were
    std::vector<std::optional<std::optional<Move>>> moves_; // by class, once it is asked for
    std::vector<bool> is_joined_;                           // by node
    std::vector<bool> is_output_;
};

} // namespace

void join_moves(Graph& graph, const Seeds& seeds) { Joiner(graph, seeds).run(); }

} // namespace shard
