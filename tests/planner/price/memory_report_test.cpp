// What is alive at the peak, as a report names it.
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

TEST_CASE("scratch at the peak is named after the op whose kernel needs it, at its place") {
    Sources sources;
    PlanRequest request;
    request.model_file =
        sources.add("model.yaml", "model: m\naxes: {a: 64, b: 32, c: 16, d: 8}\ninputs:\n  x: {axes: [a, b, c]}\n"
                                  "  w: {axes: [c, a, d]}\ngraph:\n  - y: {einsum: \"abc,cad->dba\", in: [x, w]}\n"
                                  "outputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 2}\nrules: [{a: data}]\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    const MemoryReport& memory = compilation.plan->report.memory;
    std::string text;
    for (const auto& held : memory.largest)
        text += fmt::format("{} {} {} line {}\n", held.name, held.kind, held.bytes, held.source.line);
    // A device has half of `a`; the kernel packs one panel beside what is in and out.
    CHECK(text == "x inputs 65536 line 4\ny activations 32768 line 7\nw inputs 16384 line 5\n"
                  "scratch of einsum temporaries 1024 line 7\n");
    CHECK(memory.temporaries == 1024);
    CHECK(memory.peak == 65536 + 32768 + 16384 + 1024);
}

} // namespace shard
