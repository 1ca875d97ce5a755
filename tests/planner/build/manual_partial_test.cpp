// Regions that are manual over some of the mesh's axes: shardings over the others pass through.
#include "tests/support/prove.h"
#include "tests/support/region.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

struct Planned {
    Sources sources;
    PlanRequest request;
    Compilation compilation;

    std::string sharding(const std::string& name) const {
        const std::optional<ValueId> value = find_value(*compilation.graph, name);
        REQUIRE(value.has_value());
        return text(compilation.layout->mesh, compilation.propagation->values[*value]);
    }
    std::vector<std::string> collectives() const {
        std::vector<std::string> kinds;
        for (const CollectiveReport& collective : compilation.plan->report.collectives)
            kinds.push_back(collective.kind + " " + text(compilation.layout->mesh, collective.axes));
        return kinds;
    }
};

void plan_of(const std::string& model, const std::string& layout, Planned& planned) {
    planned.request.model_file = planned.sources.add("model.yaml", model);
    planned.request.layout_file = planned.sources.add("layout.yaml", layout);
    planned.compilation = compile(planned.sources, planned.request);
    INFO(text_of(planned.sources, planned.compilation.diagnostics));
    REQUIRE(planned.compilation.plan.has_value());
    CHECK(prove(planned.sources, planned.request, planned.compilation, {}) == std::vector<std::string>{});
}

std::string model_of(const std::string& x, const std::string& w, const std::string& region) {
    return fmt::format("model: partial\ninputs:\n  x: {}\n  w: {}\ngraph:\n  - y:\n      manual:\n{}outputs: [y]\n", x,
                       w, region);
}

} // namespace

TEST_CASE("a sharding over a free axis enters, goes through the body and leaves") {
    Planned planned;
    plan_of(model_of("{shape: [8, 8], mesh: [~, f]}", "{shape: [8, 8]}",
                     "        mesh: i\n        in: {x: [i, ~], w: ~}\n        out: {z: [i, ~]}\n        body:\n"
                     "          - h: {tanh: x}\n          - z: {dot: [h, w]}\n"),
            "mesh: {i: 2, f: 2}\n", planned);
    CHECK(planned.sharding("y.x") == "[- | f]");
    CHECK(planned.sharding("y.h") == "[- | f]");
    CHECK(planned.sharding("w") == "[f | -]");
    CHECK(planned.sharding("y") == "[i | -]");
    CHECK(planned.collectives() == std::vector<std::string>{"all_reduce f"});
}

TEST_CASE("on a dim that the region splits, free axes are minor to its own") {
    Planned planned;
    plan_of(model_of("{shape: [8, 8]}", "{shape: [8, 8], mesh: [~, f]}",
                     "        mesh: i\n        in: {x: ~, w: [~, i]}\n        out: {z: [~, i]}\n        body:\n"
                     "          - z: {dot: [x, w]}\n"),
            "mesh: {i: 2, f: 2}\n", planned);
    // w is declared [- | f], which is closed: it enters as [- | i].
    CHECK(planned.sharding("y.w") == "[- | -]");
    CHECK(planned.sharding("y") == "[- | i]");
    Planned open;
    plan_of(model_of("{shape: [8, 8]}", "{shape: [8, 8], mesh: [~, [i, f]]}",
                     "        mesh: i\n        in: {x: ~, w: [~, i]}\n        out: {z: [~, i]}\n        body:\n"
                     "          - z: {dot: [x, w]}\n"),
            "mesh: {i: 2, f: 2}\n", open);
    CHECK(open.sharding("y.w") == "[- | f]");
    CHECK(open.sharding("y.z") == "[- | f]");
    CHECK(open.sharding("y") == "[- | i,f]");
    CHECK(open.collectives() == std::vector<std::string>{});
}

TEST_CASE("a result's sharding over a free axis goes back through the body") {
    Planned planned;
    plan_of(model_of("{shape: [8, 8]}", "{shape: [8, 8]}",
                     "        mesh: i\n        in: {x: [i, ~], w: [i, ~]}\n        out: {z: [i, ~]}\n        body:\n"
                     "          - z: {add: [x, w]}\n"),
            "mesh: {i: 2, f: 2}\noutputs: {y: [i, f]}\n", planned);
    CHECK(planned.sharding("y.z") == "[- | f]");
    CHECK(planned.sharding("y.x") == "[- | f]");
    CHECK(planned.sharding("x") == "[i | f]");
    CHECK(planned.collectives() == std::vector<std::string>{});
}

TEST_CASE("the region's own axes are closed to propagation in its body") {
    Planned planned;
    plan_of(model_of("{shape: [8, 8], mesh: [i, ~]}", "{shape: [8, 8]}",
                     "        mesh: i\n        in: {x: ~, w: ~}\n        out: {z: ~}\n        body:\n"
                     "          - z: {dot: [x, w]}\n"),
            "mesh: {i: 2, f: 2}\n", planned);
    CHECK(planned.sharding("y.x") == "[- | -]");
    CHECK(planned.sharding("y") == "[- | -]");
    CHECK(planned.collectives() == std::vector<std::string>{"all_gather i"});
}

TEST_CASE("a collective by hand and one that shardc adds for a free axis") {
    Planned planned;
    plan_of(model_of("{shape: [8, 8], mesh: [i, f]}", "{shape: [8, 8], mesh: [f, ~]}",
                     "        mesh: i\n        in: {x: [i, ~], w: ~}\n        out: {z: ~}\n        body:\n"
                     "          - h: {dot: [x, w]}\n          - z: {psum: h, over: i}\n"),
            "mesh: {i: 2, f: 2}\n", planned);
    CHECK(planned.sharding("y.h") == "[- | -]");
    CHECK(planned.collectives().size() == 2);
}

TEST_CASE("the dim of a gather by hand is whole over free axes") {
    Planned planned;
    plan_of(model_of("{shape: [8, 8], mesh: [[i, f], ~]}", "{shape: [8, 8]}",
                     "        mesh: i\n        in: {x: [i, ~], w: ~}\n        out: {z: ~}\n        body:\n"
                     "          - g: {all_gather: x, over: i, dim: 0, tiled: true}\n          - z: {add: [g, w]}\n"),
            "mesh: {i: 2, f: 2}\n", planned);
    CHECK(planned.sharding("y.x") == "[f | -]");
    CHECK(planned.collectives() == std::vector<std::string>{"all_gather f", "all_gather i"});
}

} // namespace shard
