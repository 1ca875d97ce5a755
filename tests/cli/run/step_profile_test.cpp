// run --profile: each step of the plan is counted in one kind and one module, as often as it runs.
#include "cli/run/step_profile.h"
#include "plans/file/plan_json.h"
#include "tests/support/layered_model.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace shard {
namespace {

using nlohmann::json;

json profile_of_run(bool scan, const std::string& options = {}) {
    MemoryFiles files;
    files.files["model.yaml"] = layered_model(scan);
    files.files["layout.yaml"] = layered_layout;
    const CommandResult result = run_command(files, "run model.yaml layout.yaml --profile --format json" + options);
    REQUIRE_MESSAGE(result.code == 0, result.err);
    return json::parse(result.out).at("profile");
}

json row_of(const json& rows, const std::string& name) {
    for (const json& row : rows)
        if (row.at("name") == name) return row;
    FAIL("no row '" << name << "' in " << rows.dump(1));
    return {};
}

double sum_of(const json& rows, const char* key) {
    double sum = 0;
    for (const json& row : rows) sum += row.at(key).get<double>();
    return sum;
}

} // namespace

TEST_CASE(
    "run --profile: six products of three layers, written out or in a loop, and what the cost model says of them") {
    for (const bool scan : {true, false}) {
        CAPTURE(scan);
        const json profile = profile_of_run(scan);
        const json products = row_of(profile.at("kinds"), "contract"),
                   sums = row_of(profile.at("kinds"), "all_reduce over model");
        CHECK(products.at("count") == 6);
        CHECK(products.at("flops") == 3 * 2 * 2 * (4 * 16 * 16)); // of a device: batch / 2, mlp / 2
        CHECK(sums.at("count") == 3);
        CHECK(sums.at("predicted_seconds").get<double>() > 0);
        // Both tables count the same steps, and what is predicted is the step.
        for (const char* key : {"executed_seconds", "predicted_seconds"})
            CHECK(sum_of(profile.at("kinds"), key) == doctest::Approx(sum_of(profile.at("modules"), key)));
        CHECK(sum_of(profile.at("kinds"), "predicted_seconds") ==
              doctest::Approx(profile.at("predicted_seconds").get<double>()));
        CHECK(sum_of(profile.at("kinds"), "executed_seconds") <=
              profile.at("executed_seconds").get<double>() * (1 + 1e-9));
    }
}

TEST_CASE("run --profile: layers are one module") {
    const json modules = profile_of_run(false).at("modules");
    CHECK(modules.size() >= 1);
    for (const json& row : modules)
        CHECK(row.at("name").get<std::string>().find_first_of("0123456789") == std::string::npos);
}

TEST_CASE("a profile of spans by hand: means over devices, loops counted by what is in them") {
    MemoryFiles files;
    files.files["model.yaml"] = layered_model(true);
    files.files["layout.yaml"] = "mesh: {data: 1}\n";
    Diagnostics diagnostics;
    REQUIRE(run_command(files, "plan model.yaml layout.yaml -o plan.json").code == 0);
    const std::optional<Plan> plan = parse_plan(files.files.at("plan.json"), diagnostics);
    REQUIRE(plan);
    int step = 0, loop = -1, product = -1;
    const std::function<void(const std::vector<Step>&)> visit = [&](const std::vector<Step>& steps) {
        for (const Step& each : steps) {
            const int at = step++;
            if (const Loop* found = std::get_if<Loop>(&each.variant_ref())) {
                loop = at;
                visit(found->body);
            } else if (const Compute* compute = std::get_if<Compute>(&each.variant_ref()))
                if (product < 0 && class_name(*compute->kernel) == "contract") product = at;
        }
    };
    visit(plan->steps);
    REQUIRE(loop >= 0);
    REQUIRE(product > loop);
    const std::vector<std::vector<RunSpan>> spans = {{{product, 1, 2}, {product, 3, 5}, {loop, 0, 6}},
                                                     {{product, 1, 4}, {product, 5, 7}, {loop, 0, 8}}};
    const StepProfile profile = profile_of(*plan, nullptr, spans, 2);
    CHECK(profile.executed == 8);
    CHECK(profile.hardware.empty());
    REQUIRE(profile.kinds.size() == 1);
    CHECK(profile.kinds[0].name == "contract");
    CHECK(profile.kinds[0].count == 2);
    CHECK(profile.kinds[0].executed == (3 + 5) / 2.0);
    CHECK(profile_text(profile, Paint()).find("predicted") == std::string::npos);
    CHECK(profile_text(profile, Paint()).find("of a device, the mean of 2:") != std::string::npos);

    const StepProfile turns = profile_of(*plan, nullptr, spans, 1); // what one has computed, the other has waited for
    CHECK(turns.executed == 8);
    CHECK(turns.kinds[0].executed == 3 + 5);
    CHECK(profile_text(turns, Paint()).find("of the step, in which 2 devices take turns on 1 cores:") !=
          std::string::npos);
}

TEST_CASE("a profile of devices that take turns: collectives have what kernels leave of the step") {
    MemoryFiles files;
    files.files["model.yaml"] = layered_model(false);
    files.files["layout.yaml"] = layered_layout;
    Diagnostics diagnostics;
    REQUIRE(run_command(files, "plan model.yaml layout.yaml -o plan.json").code == 0);
    const std::optional<Plan> plan = parse_plan(files.files.at("plan.json"), diagnostics);
    REQUIRE(plan);
    int product = -1, wait = -1;
    for (size_t i = 0; i < plan->steps.size(); ++i) {
        const Compute* const compute = std::get_if<Compute>(&plan->steps[i].variant_ref());
        if (product < 0 && compute != nullptr && class_name(*compute->kernel) == "contract")
            product = static_cast<int>(i);
        if (wait < 0 && std::holds_alternative<Wait>(plan->steps[i].variant_ref())) wait = static_cast<int>(i);
    }
    REQUIRE(product >= 0);
    REQUIRE(wait >= 0);
    // One after the other computes for a second, and waits until the last has; then all wait for half a second.
    std::vector<std::vector<RunSpan>> spans;
    for (int device = 0; device < 4; ++device) {
        const double begin = device / 2;
        spans.push_back({{product, begin, begin + 1}, {wait, begin + 1, 2.5}});
    }
    const StepProfile profile = profile_of(*plan, nullptr, spans, 2);
    REQUIRE(profile.kinds.size() == 2);
    CHECK(profile.kinds[0].name == "contract");
    CHECK(profile.kinds[0].executed == doctest::Approx(2));
    CHECK(profile.kinds[1].executed == doctest::Approx(0.5));
}

} // namespace shard
