#include "tests/support/planned_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

PlannedCase::PlannedCase(const std::string& model, const std::string& layout, const std::string& mode,
                         bool unimproved) {
    request.mode = mode;
    request.unimproved = unimproved;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan);
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        sent += collective.wire_bytes_per_device;
}

void PlannedCase::check_proof() {
    const std::vector<std::string> problems = prove(sources, request, compilation, {});
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
}

} // namespace shard
