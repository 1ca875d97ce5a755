// Random models, meshes and layouts, differentiated: every gradient agrees with central differences, and the plan of
// forward and backward together equals the one-device plan and the interpreter, and keeps its promises.
#include "planner/pipeline/passes.h"
#include "tests/support/gradient_check.h"
#include "tests/support/property.h"
#include "tests/support/prove.h"
#include "tests/support/random_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace shard;

namespace {

// All passes, and after the random values have their keys the gradients of what the model computes.
std::span<const PassDef> passes_with_gradients() {
    static const std::vector<PassDef> passes = [] {
        std::vector<PassDef> made(all_passes().begin(), all_passes().end());
        const std::vector<PassDef>::iterator fold =
            std::find_if(made.begin(), made.end(), [](const PassDef& pass) { return pass.name == "fold"; });
        made.insert(fold + 1, {"gradients", "", "",
                               [](Compilation& c, const PlanRequest&, Sources&) { add_gradients(*c.graph); }, nullptr});
        return made;
    }();
    return passes;
}

std::vector<std::string> problems_of(const RandomCase& made, std::uint32_t seed) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", made.model);
    request.layout_file = sources.add("layout.yaml", made.layout);
    request.passes = passes_with_gradients();
    const Compilation compilation = compile(sources, request);
    if (!compilation.plan) return {"no plan: " + text_of(sources, compilation.diagnostics)};
    std::vector<std::string> problems = check_gradients(*compile_as_written(sources, request).graph, seed);
    ProofOptions proof;
    proof.seed = seed;
    proof.workers = made.workers;
    for (std::string& problem : prove(sources, request, compilation, proof)) problems.push_back(std::move(problem));
    return problems;
}

void check_cases(const std::string& name, const RandomCaseOptions& options) {
    const bool held = holds(name, [&] {
        const std::vector<std::uint32_t> tape =
            *rc::gen::container<std::vector<std::uint32_t>>(90, rc::gen::inRange<std::uint32_t>(0, 1000));
        const RandomCase made = random_case(tape, options);
        std::vector<std::string> problems;
        try {
            problems = problems_of(made, tape.front());
        } catch (const std::exception& error) {
            problems = {error.what()};
        }
        if (!problems.empty()) RC_FAIL(fmt::format("{}\n{}{}", fmt::join(problems, "\n"), made.model, made.layout));
    });
    CHECK(held);
}

} // namespace

TEST_CASE("gradients agree with central differences, on any mesh") {
    check_cases("gradients", {.f64_only = true, .most_elements = 600});
}

TEST_CASE("gradients agree with central differences where axes do not divide dims") {
    check_cases("uneven gradients", {.f64_only = true, .most_elements = 400, .uneven = true});
}
