// The module of specs, through all passes.
#include "exporter/target/target.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("export --to specs: rules begin with the names of inputs, so that a batch keeps its axis") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", "model: m\naxes: {rows: 8, batch: 8, out: 4}\n"
                                                   "inputs: {x: {axes: [batch, rows]}}\n"
                                                   "params: {w: {axes: [rows, out], init: ones}}\n"
                                                   "graph: [{y: {dot: [x, w]}}]\noutputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nrules: [{rows: d}]\ninputs: {x: [d, ~]}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target("specs")->write(*compilation.plan, diagnostics);
    REQUIRE(text);
    CHECK(text->find(
              "LOGICAL_AXIS_RULES = ((\"batch\", \"d\"), (\"rows\", \"d\"), (\"rows\", None), (\"out\", None))\n") !=
          std::string::npos);
}

TEST_CASE("export --to specs: names of a job stand beside those of the plan") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", "model: m\ninputs: {x: {shape: [8, 8]}}\n"
                                                   "params: {w: {shape: [8, 4], init: ones}}\n"
                                                   "graph: [{y: {dot: [x, w]}}]\noutputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nparams: {w: [d, ~]}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    Diagnostics diagnostics;
    const TargetDef& specs = *find_target("specs");
    const std::string without = specs.write(*compilation.plan, diagnostics).value_or("");
    const std::string with =
        specs.write_named(*compilation.plan, {{"params.Dense_2.kernel", "w"}}, diagnostics).value_or("");
    CHECK(without.find("JOB_NAMES = {}\n") != std::string::npos);
    CHECK(with.find("JOB_NAMES = {\n    \"params.Dense_2.kernel\": \"w\",\n}\n") != std::string::npos);
}

} // namespace shard
