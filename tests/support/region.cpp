#include "tests/support/region.h"

#include "tests/support/interpreter.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

std::string region_model(const std::string& in, const std::string& out, const std::string& body) {
    return fmt::format(R"(model: region
graph:
  - flat: {{iota: ~, shape: [16], dtype: f32}}
  - x: {{reshape: flat, shape: [4, 4]}}
  - y:
      manual:
        in: {}
        out: {}
        body:
          {}
outputs: [x, y]
)",
                       in, out, body);
}

Graph graph_on(const std::string& model, const std::string& mesh) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", "mesh: " + mesh + "\n");
    Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.graph.has_value());
    return std::move(*compilation.graph);
}

std::vector<double> region_result(const std::string& in, const std::string& out, const std::string& body,
                                  const std::string& mesh) {
    const std::string model = region_model(in, out, body);
    CAPTURE(model);
    CHECK(prove(model, "mesh: " + mesh + "\n", {}) == std::vector<std::string>{});
    return interpret(graph_on(model, mesh), {}).at("y").values;
}

} // namespace shard
