#include "planner/graph/op_def.h"
#include "planner/graph_text/check_use.h"
#include "planner/graph_text/collective_words.h"
#include "planner/graph_text/graph_reader.h"
#include "planner/graph_text/graph_words.h"
#include "planner/graph_text/op_kernel.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// "with 0.5", and not an operand that is called so.
bool begins_constants(LineScanner& at) {
    return at.next_is("with ") && !at.next_is("with with ") && !at.next_is("with as ") && !at.next_is("with {");
}

} // namespace

void GraphReader::value_line(LineScanner& at, std::string name, const Span& place) {
    const NodeId n = static_cast<NodeId>(graph().nodes.size());
    const ValueId id = new_value(at, std::move(name), place, n);
    at.expect("=");
    if (!at.ok() || (results_of_ >= 0 && result_of_loop(at, id))) return;
    results_of_ = -1;
    Node node;
    node.outputs = {id};
    node.scope = details_.scope;
    node.origin = details_.origin;
    node.span = span_;
    node.loop = here();
    what_it_does(at, node);
    if (at.ok() && at.take("; because")) {
        if (node.reshard() == nullptr) return at.problem("only what moves data has a cause");
        const auto tell = [&](Reshard& reshard) { reshard.reason.cause = at.until("\n"); };
        if (auto* const exchange = std::get_if<Shared<Exchange>>(&node.does)) exchange->change(tell);
        if (auto* const move = std::get_if<Shared<LocalMove>>(&node.does)) move->change(tell);
    }
    graph().nodes.push_back(std::move(node));
    state_.constraints.resize(graph().nodes.size());
}

void GraphReader::what_it_does(LineScanner& at, Node& node) {
    const Span place = at.place();
    if (state_.is_local && (at.take("copy of ") || at.take("block of "))) return local_move(at, node, place);
    const std::string_view word = at.until_any(" {;");
    if (state_.is_local && find_collective(word) != nullptr && at.next_is("over ")) {
        std::string words = fmt::format("{} {}", word, at.until_last(" of ", ";")); // an axis may be called `of`
        at.expect("of ");
        return exchange(at, node, place, words);
    }
    if (word == "fused") at.until_any(" {;");
    if (word == "fused" && details_.op.empty()) return at.problem(place, "what was fused needs its details");
    const std::string_view name = word == "fused" ? std::string_view(details_.op) : word;
    Apply apply;
    apply.op = find_op(name);
    if (apply.op == nullptr) return at.problem(place, fmt::format("there is no op '{}'", name));
    if (!at.at_end() && !at.next_is("{") && !at.next_is(";") && !begins_constants(at)) node.inputs = known_list(at);
    if (begins_constants(at)) at.until_any("{;"); // they are in the kernel
    if (at.next_is("{")) arguments(at, apply);
    if (at.take("as ")) {
        state_.constraints.resize(graph().nodes.size() + 1);
        state_.constraints.back() = read_sharding(at, state_.mesh);
    }
    notes(at, node);
    if (!at.ok()) return;
    if (!state_.is_local) {
        const std::string problem =
            use_problem(graph(), state_.mesh, *apply.op, apply.attributes, node.inputs, node.outputs[0]);
        if (!problem.empty()) return at.problem(place, problem);
    } else {
        std::optional<Kernel> kernel = details_.kernel ? details_.kernel
                                                       : op_kernel(graph(), state_.mesh, *apply.op, apply.attributes,
                                                                   node.inputs, node.outputs[0]);
        if (!kernel)
            return at.problem(place, "its kernel does not follow from types and shardings: it needs its details");
        apply.kernel = *std::move(kernel);
    }
    node.does = std::move(apply);
}

void GraphReader::local_move(LineScanner& at, Node& node, const Span& place) {
    LocalMove move;
    node.inputs = {known(at)};
    if (!at.ok()) return;
    const std::optional<Kernel> kernel =
        details_.kernel ? details_.kernel : move_kernel(graph().value(node.inputs[0]), graph().value(node.outputs[0]));
    if (!kernel) return at.problem(place, "it is neither a copy nor a block: it needs its details");
    move.move = *kernel;
    reshard(at, move);
    node.does = std::move(move);
}

void GraphReader::exchange(LineScanner& at, Node& node, const Span& place, std::string_view words) {
    Exchange exchange;
    node.inputs = {known(at)};
    const std::optional<Collective> collective =
        details_.exchange ? details_.exchange : parse_collective(state_.mesh, words);
    if (!collective) return at.problem(place, "these are not the words of a collective");
    if (!at.ok()) return;
    const std::string problem = collective_problem(state_.mesh, *collective, graph().value(node.inputs[0]).type,
                                                   graph().value(node.outputs[0]).type);
    if (!problem.empty()) return at.problem(place, problem);
    exchange.collective = *collective;
    reshard(at, exchange);
    node.does = std::move(exchange);
}

void GraphReader::reshard(LineScanner& at, Reshard& reshard) {
    reshard.reason.remedy = details_.remedy;
    if (!at.take("{gather:")) return;
    const AttributeValue pass = read_attribute(at, std::nullopt);
    const std::string* name = std::get_if<std::string>(&pass);
    if (name != nullptr) reshard.gather_phase = parse_phase(*name);
    if (!reshard.gather_phase) at.problem("expected \"forward\" or \"backward\"");
    at.expect("}");
}

void GraphReader::arguments(LineScanner& at, Apply& apply) {
    Asked asked;
    at.expect("{");
    bool first = true;
    while (at.ok() && !at.take("}")) {
        if (!first) at.expect(",");
        first = false;
        const std::string key(at.word());
        at.expect(":");
        if (key == "to") {
            asked.logical = read_names(at);
        } else if (key == "sharding" || key == "border") {
            (key == "sharding" ? asked.mesh : asked.border) = read_spec(at);
        } else {
            std::optional<AttributeDef::Type> type;
            for (const AttributeDef& def : apply.op->attributes)
                if (def.name == key) type = def.type;
            if (apply.attributes.has(key)) at.problem("this argument is there already");
            apply.attributes.set(key, read_attribute(at, type));
        }
    }
    if (asked.border || asked.mesh || !asked.logical.empty()) apply.asked = std::move(asked);
}

void GraphReader::notes(LineScanner& at, Node& node) {
    if (at.take("; gradient of")) {
        const Span place = at.place();
        const std::string_view word = at.word();
        // Names that live as long as the program.
        if (const OpDef* const op = find_op(word))
            node.gradient_of = op->name;
        else if (const CompositeDef* const composite = find_composite(word))
            node.gradient_of = composite->name;
        else
            at.problem(place, "expected an op or a composite");
    }
    node.pattern = at.take("; pattern");
    if (at.take("; remat")) {
        const i64 number = at.integer();
        if (number < 0 || number >= id_limit) return at.problem("there are no so many calls");
        node.remat = static_cast<int>(number);
        graph().remats.resize(std::max(graph().remats.size(), static_cast<size_t>(number) + 1));
    }
}

NodeId GraphReader::add_marker(Node node) {
    node.scope = details_.scope;
    node.origin = details_.origin;
    node.span = span_;
    node.loop = here();
    graph().nodes.push_back(std::move(node));
    state_.constraints.emplace_back();
    return static_cast<NodeId>(graph().nodes.size()) - 1;
}

void GraphReader::open(LineScanner& at) {
    const Span place = at.place();
    const i64 number = at.integer();
    at.expect(":");
    GraphLoop loop;
    loop.scope = at.word();
    loop_names_.push_back(loop.scope);
    if (loop.scope == "microbatches" && details_.scope.empty()) loop.scope.clear(); // not a block that is called so
    at.expect(",");
    loop.trips = at.integer();
    at.expect("trips");
    loop.reverse = at.take(", reverse");
    if (loop.trips < 1) at.problem("a loop has at least one trip");
    if (number < 0 || number >= id_limit) at.problem(place, "there are no so many loops");
    if (!at.ok()) return;
    graph().loops.resize(std::max(graph().loops.size(), static_cast<size_t>(number) + 1));
    const int id = static_cast<int>(number);
    if (graph().loops[id].opens >= 0) return at.problem(place, "there is a loop of this number already");
    loop.parent = here();
    loop.span = span_;
    Node marker;
    marker.does = LoopOpens{id};
    loop.opens = add_marker(std::move(marker));
    graph().loops[id] = std::move(loop);
    open_.push_back(id);
}

void GraphReader::carry(LineScanner& at, const Span& line) {
    if (open_.empty() || static_cast<NodeId>(graph().nodes.size()) != graph().loops[here()].opens + 1)
        return at.problem(line, "what a loop carries stands at its beginning");
    const NodeId opens = graph().loops[here()].opens;
    const Span place = at.place();
    std::string name(at.word());
    at.expect(":");
    const ValueId argument = new_value(at, std::move(name), place, opens);
    at.expect("=");
    const ValueId init = known(at);
    if (!at.ok()) return;
    graph().nodes[opens].inputs.push_back(init);
    graph().nodes[opens].outputs.push_back(argument);
    graph().loops[here()].carried.push_back({init, argument, -1, -1});
}

void GraphReader::close(LineScanner& at) {
    const Span place = at.place();
    const std::string_view name = at.word();
    if (open_.empty() || name != loop_names_.back()) return at.problem(place, "no loop of this name is open");
    const int id = open_.back();
    open_.pop_back();
    loop_names_.pop_back();
    Node marker;
    marker.does = LoopCloses{id};
    graph().loops[id].closes = add_marker(std::move(marker));
    results_of_ = id;
    yielded_ = 0;
}

bool GraphReader::result_of_loop(LineScanner& at, ValueId id) {
    GraphLoop& loop = graph().loops[results_of_];
    const auto ends = [&](ValueId from) {
        Node& marker = graph().nodes[loop.closes];
        marker.inputs.push_back(from);
        marker.outputs.push_back(id);
        graph().value(id).producer = loop.closes;
        return from;
    };
    if (at.take("yield ")) {
        if (yielded_ >= loop.carried.size()) return at.problem("the loop carries no more"), true;
        loop.carried[yielded_].yield = ends(known(at));
        loop.carried[yielded_++].result = id;
    } else if (at.take("sum ")) {
        GraphLoop::Sum sum{ends(known(at)), id};
        if (!details_.reduce.empty())
            sum.reduce = details_.reduce == "each" ? GradientReduce::each : GradientReduce::end;
        if (!details_.becomes.empty()) becomes_.emplace_back(results_of_, loop.sums.size(), details_.becomes);
        loop.sums.push_back(sum);
    } else if (at.take("stack ")) {
        loop.stacks.push_back({ends(known(at)), id});
    } else {
        return false;
    }
    return true;
}

} // namespace shard
