#include "planner/graph/loop_index.h"

namespace shard {

Attributes loop_attributes(const Graph& graph, int loop) {
    const GraphLoop& of = graph.loops[loop];
    Attributes attributes;
    attributes.set("loop", i64{loop});
    attributes.set("trips", of.trips);
    attributes.set("reverse", of.reverse);
    return attributes;
}

i64 loop_trips(const Attributes& attributes) { return attributes.integer("trips"); }

Affine loop_index(const Attributes& attributes) {
    AffineTerm term;
    term.kind = AffineTerm::Kind::loop;
    term.index = static_cast<int>(attributes.integer("loop"));
    Affine index;
    index.terms.push_back(term);
    return attributes.flag("reverse", false) ? constant(loop_trips(attributes) - 1) + index * -1 : index;
}

void set_loops_around(Attributes& attributes, const Graph& graph, int innermost) {
    std::vector<i64> loops, trips, reverse;
    for (i64 alike = attributes.integer("loops_alike", 0); alike > 0 && innermost >= 0; --alike)
        innermost = graph.loops[innermost].parent;
    for (int loop = innermost; loop >= 0; loop = graph.loops[loop].parent) {
        const GraphLoop& of = graph.loops[loop];
        loops.insert(loops.begin(), loop);
        trips.insert(trips.begin(), of.trips);
        reverse.insert(reverse.begin(), of.reverse ? 1 : 0);
    }
    if (loops.empty()) return;
    attributes.set("loops", loops);
    attributes.set("loop_trips", trips);
    attributes.set("loop_reverse", reverse);
}

std::vector<Affine> loop_indices(const Attributes& attributes) {
    std::vector<Affine> indices;
    if (!attributes.has("loops")) return indices;
    for (size_t n = 0; n < attributes.integers("loops").size(); ++n) {
        Attributes one;
        one.set("loop", attributes.integers("loops")[n]);
        one.set("trips", attributes.integers("loop_trips")[n]);
        one.set("reverse", attributes.integers("loop_reverse")[n] != 0);
        indices.push_back(loop_index(one));
    }
    return indices;
}

} // namespace shard
