#include "planner/ops_support/loop_index.h"

namespace shard {

Attributes loop_attributes(const Graph& graph, int loop) {
    const GraphLoop& of = graph.loops[static_cast<size_t>(loop)];
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

} // namespace shard
