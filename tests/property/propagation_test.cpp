// What holds for propagation through any graph, whatever was asked for.
#include "tests/support/property.h"
#include "tests/support/tiny_graph.h"

#include "planner/propagate/cause_chain.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace shard;

namespace {

// A case is a string of bytes, each of which answers one question; a shorter or smaller one is a simpler case.
struct Choices {
    const std::vector<unsigned char>& bytes;
    size_t next = 0;
    int pick(size_t count) { return next < bytes.size() ? static_cast<int>(bytes[next++] % count) : 0; }
    bool more() const { return next < bytes.size(); }
};

std::string random_spec(Choices& choices, const Mesh& mesh, int rank) {
    std::vector<std::string> axes;
    for (const MeshAxis& axis : mesh.axes) axes.push_back(axis.name);
    const auto take = [&] {
        const std::vector<std::string>::iterator it = axes.begin() + choices.pick(axes.size());
        const std::string name = *it;
        axes.erase(it);
        return name;
    };
    std::string spec = "[";
    for (int d = 0; d < rank; ++d) {
        std::string dim;
        for (int count = choices.pick(3); count > 0 && !axes.empty(); --count) dim += (dim.empty() ? "" : ",") + take();
        const bool open = choices.pick(2) == 1;
        if (dim.empty() && !open) dim = "-";
        if (open) dim += "?";
        if (dim != "-" && choices.pick(4) == 3) dim += "@1";
        spec += (d > 0 ? " | " : "") + dim;
    }
    spec += "]";
    if (!axes.empty() && choices.pick(6) == 5) spec += " R{" + take() + "}";
    return spec;
}

TinyGraph random_graph(Choices& choices) {
    const char* meshes[] = {"a=2 b=2", "a=2 b=4 c=2", "a=4", "a=6 b=2", "a=3 b=2"};
    TinyGraph g(meshes[choices.pick(std::size(meshes))]);
    std::vector<ValueId> values;
    const auto shape = [&](ValueId id) -> const Shape& { return g.graph.value(id).type.shape; };
    const auto any = [&] { return values[choices.pick(values.size())]; };
    const auto input = [&](Shape size) {
        const int rank = static_cast<int>(size.size());
        const std::string spec = random_spec(choices, g.mesh, rank);
        return g.input(std::move(size), choices.pick(3) == 0 ? nullptr : spec.c_str());
    };
    const i64 sizes[] = {8, 4, 12, 6};
    values.push_back(input({sizes[choices.pick(4)], sizes[choices.pick(4)]}));
    while (choices.more() && g.graph.nodes.size() < 12) {
        const ValueId x = any();
        const Shape s = shape(x);
        const bool matrix = s.size() == 2;
        switch (choices.pick(8)) {
        case 0: {
            const ValueId y = any();
            values.push_back(g.pointwise({x, shape(y) == s ? y : x}));
            break;
        }
        case 1:
            if (matrix) {
                const i64 width = sizes[choices.pick(4)];
                values.push_back(g.op("ik,kj->ij", {x, input({s[1], width})}, {s[0], width}));
            }
            break;
        case 2:
            if (matrix) values.push_back(g.reshape("ij->ji", x, {s[1], s[0]}));
            break;
        case 3:
            if (matrix) values.push_back(g.reshape("ij->(ij)", x, {s[0] * s[1]}));
            break;
        case 4:
            if (!matrix && s[0] % 2 == 0) values.push_back(g.reshape("(ij)->ij", x, {s[0] / 2, 2}));
            break;
        case 5:
            values.push_back(matrix ? g.op("ij->i", {x}, {s[0]}) : g.broadcast("i->ij", x, {s[0], 4}));
            break;
        case 6: {
            const std::string spec = random_spec(choices, g.mesh, static_cast<int>(s.size()));
            values.push_back(g.constrain(x, spec.c_str()));
            break;
        }
        default:
            if (matrix) values.push_back(g.op("ik,jk->ij", {x, x}, {s[0], s[0]}));
        }
    }
    g.output(values.back());
    return g;
}

const Sharding* asked(const TinyGraph& g, ValueId id) {
    const std::optional<Sharding>& seed = g.seeds.values[id];
    if (seed) return &*seed;
    const NodeId producer = g.graph.value(id).producer;
    if (producer < 0 || !g.seeds.constraints[producer]) return nullptr;
    return &*g.seeds.constraints[producer];
}

bool begins_with(std::span<const AxisRef> list, std::span<const AxisRef> first) {
    return first.size() <= list.size() && std::equal(first.begin(), first.end(), list.begin());
}

// Behind a chain of constraints other values are read than the graph says: the second run could not know.
bool has_chain(const TinyGraph& g) {
    for (size_t n = 0; n < g.graph.nodes.size(); ++n) {
        const NodeId before = g.graph.value(g.graph.nodes[n].inputs[0]).producer;
        if (g.seeds.constraints[n] && before >= 0 && g.seeds.constraints[before]) return true;
    }
    return false;
}

void log_seeds(TinyGraph& g) {
    for (ValueId v = 0; v < static_cast<ValueId>(g.graph.values.size()); ++v) {
        const Sharding* seed = asked(g, v);
        for (size_t d = 0; seed != nullptr && d < seed->dims.size(); ++d) {
            Decision decision;
            decision.value = v;
            decision.dim = static_cast<int>(d);
            decision.axes = seed->dims[d].axes;
            decision.cause = Decision::Cause::mesh_spec;
            if (!decision.axes.empty()) g.seeds.log.push_back(decision);
        }
    }
}

} // namespace

TEST_CASE("property: what was asked for is kept, closed dims stay, and every axis leads back to a seed") {
    CHECK(holds([](const std::vector<unsigned char>& bytes) {
        Choices choices = {bytes};
        TinyGraph g = random_graph(choices);
        log_seeds(g);
        const PropagateOptions options[] = {{}, basic(), aggressive()};
        g.run(options[choices.pick(3)]);
        for (ValueId v = 0; v < static_cast<ValueId>(g.graph.values.size()); ++v) {
            const Sharding& found = g.fixpoint.values[v];
            const Sharding* seed = asked(g, v);
            for (size_t d = 0; d < found.dims.size(); ++d) {
                if (seed != nullptr) {
                    RC_ASSERT(begins_with(found.dims[d].axes, seed->dims[d].axes) ||
                              total_size(seed->dims[d].axes) == 1);
                    if (!seed->dims[d].open) RC_ASSERT(found.dims[d].axes == seed->dims[d].axes);
                    RC_ASSERT(found.dims[d].open == seed->dims[d].open);
                }
                for (const AxisRef& axis : found.dims[d].axes) {
                    const std::vector<Decision> chain = cause_chain(g.fixpoint.log, v, static_cast<int>(d), axis);
                    RC_ASSERT(!chain.empty());
                    RC_ASSERT(chain.back().cause != Decision::Cause::propagation);
                }
            }
        }
    }));
}

TEST_CASE("property: the result is a fixpoint, closed, and divides") {
    CHECK(holds([](const std::vector<unsigned char>& bytes) {
        Choices choices = {bytes};
        TinyGraph g = random_graph(choices);
        RC_PRE(!has_chain(g));
        const PropagateOptions options[] = {basic(), aggressive()};
        const PropagateOptions& option = options[choices.pick(2)];
        propagate(g.graph, g.mesh, g.seeds, option); // verifies itself
        g.run(option);
        const Shardings first = g.fixpoint.values;
        for (size_t v = 0; v < first.size(); ++v) g.seeds.values[v] = first[v];
        for (std::optional<Sharding>& constraint : g.seeds.constraints) constraint.reset();
        g.run(option);
        for (size_t v = 0; v < first.size(); ++v)
            RC_ASSERT(text(g.mesh, g.fixpoint.values[v]) == text(g.mesh, first[v]));
    }));
}
