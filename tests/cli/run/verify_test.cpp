// `run --verify` believes nothing of a plan file but the texts inside it. The plans here are changed and sealed again,
// as somebody would who wants a wrong one to pass.
#include "executor/formats/tensor.h"
#include "plans/file/plan_json.h"
#include "plans/plan/plan_check.h"
#include "tests/support/memory_files.h"
#include "tests/support/mutate_plan.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "test_paths.h"

using namespace shard;

namespace {

constexpr const char* relu_model = "model: relus\n"
                                   "axes: {a: 8, b: 16}\n"
                                   "inputs: {x: {axes: [a, b]}}\n"
                                   "params: {w: {shape: [16, 4]}, c: {shape: [2, 4], init: zeros}}\n"
                                   "graph:\n"
                                   "  - k: {constant: [0, 1, 2, 3]}\n"
                                   "  - h: {dot: [x, w]}\n"
                                   "  - r: {relu: x}\n"
                                   "  - s: {reduce_sum: c, dims: [0]}\n"
                                   "  - s: {add: [s, k]}\n"
                                   "outputs: [h, r, s]\n";
constexpr const char* train_model = "model: line\n"
                                    "inputs: {x: {shape: [8, 4], mesh: [d, ~]}}\n"
                                    "params: {w: {shape: [4, 4]}}\n"
                                    "graph: [{y: {dot: [x, w]}}, {y: {mul: [y, y]}}]\n"
                                    "outputs: [y]\n"
                                    "train: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.1, momentum: 0.9}}}\n";
constexpr const char* moves_model = "model: moves\n"
                                    "axes: {a: 4, b: 8, v: 6}\n"
                                    "inputs: {x: {axes: [a, b]}, i: {axes: [a], dtype: i32}}\n"
                                    "params: {t: {shape: [6, 8]}}\n"
                                    "graph:\n"
                                    "  - p: {pad: x, dim: 0, low: 1, high: 2, value: 1.5}\n"
                                    "  - s: {slice: p, dim: 0, start: 1, limit: 5, stride: 2}\n"
                                    "  - c: {concatenate: [x, s], dim: 0}\n"
                                    "  - m: {reduce_max: c, dims: [1]}\n"
                                    "  - g: {gather: [t, i]}\n"
                                    "  - g: {softmax: g}\n"
                                    "outputs: [m, c, g]\n";
constexpr const char* layout = "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n";

struct Verifying {
    MemoryFiles files;
    Plan plan;

    explicit Verifying(const std::string& model, const std::string& mode = "forward") {
        files.files = {{"model.yaml", model}, {"layout.yaml", layout}};
        const CommandResult made =
            run_command(files, "shardc plan model.yaml layout.yaml --mode " + mode + " -o plan.json");
        REQUIRE_MESSAGE(made.code == 0, made.err);
        Diagnostics diagnostics;
        std::optional<Plan> parsed = parse_plan(files.files["plan.json"], diagnostics);
        REQUIRE(parsed);
        plan = std::move(*parsed);
    }
    CommandResult verify(const Plan& changed, const std::string& options = "") {
        files.files["changed.json"] = print_plan(changed);
        return run_command(files, "shardc run changed.json --verify --workers 1 " + options);
    }
    Buffer& buffer(Plan& of, const std::string& name) {
        for (Buffer& b : of.buffers)
            if (b.name == name) return b;
        FAIL("no buffer " << name);
        return of.buffers.front();
    }
};

// The change is seen, and if it is allowed, so is what it does to the numbers.
void check_found(Verifying& of, const Plan& changed, const std::string& where, const std::string& finding) {
    const CommandResult refused = of.verify(changed);
    CHECK(refused.code == 2);
    CHECK(refused.out == "");
    CHECK(refused.err.starts_with("error[E0507]: the plan is not what this program makes of the texts inside it\n"));
    CHECK(refused.err.find("--> changed.json:") != std::string::npos);
    CHECK(refused.err.find("  = note: the first difference is in " + where + "\n") != std::string::npos);
    const CommandResult allowed = of.verify(changed, "--allow-other-plan");
    CHECK(allowed.code == 1);
    CHECK(allowed.out.find("\nverified") == std::string::npos);
    CHECK(allowed.err.starts_with("warning[W0501]: "));
    CHECK_MESSAGE(allowed.err.find(finding) != std::string::npos, allowed.err);
}

// Calls change(kernel) of each kernel.
template<typename Change>
void change_kernels(Plan& plan, const Change& change) {
    for (Step& step : plan.steps)
        if (Compute* compute = std::get_if<Compute>(&step.variant_ref())) compute->kernel.change(change);
}
// Calls change(program) of what kernels run per element.
template<typename Change>
void change_programs(Plan& plan, const Change& change) {
    change_kernels(plan, [&](Kernel& kernel) {
        if (Pointwise* program = program_of(kernel)) change(*program);
    });
}

// Returns how many constants of programs were this one.
int replace_constants(Plan& plan, double from, double to) {
    int found = 0;
    change_programs(plan, [&](Pointwise& program) {
        for (ScalarStep& scalar : program.steps)
            if (scalar.op == ScalarOp::constant && scalar.value == from) scalar.value = to, ++found;
    });
    return found;
}

// relu is max(x, 0).
void replace_relu(Plan& plan) { REQUIRE(replace_constants(plan, 0, 0.1) == 1); }

} // namespace

TEST_CASE("run --verify: the plan itself is verified") {
    for (const char* model : {relu_model, moves_model}) {
        Verifying of(model);
        const CommandResult result = of.verify(of.plan);
        CHECK(result.code == 0);
        CHECK(result.out.find("\nverified against the same model on one device: ") != std::string::npos);
    }
    Verifying training(train_model, "train");
    CHECK(training.verify(training.plan, "--steps 3").code == 0);
}

TEST_CASE("run --verify: an unused buffer of a coarse type loosens nothing") {
    Verifying of(relu_model);
    Plan changed = of.plan;
    replace_relu(changed);
    Buffer unused;
    unused.id = static_cast<int>(changed.buffers.size());
    unused.name = "unused";
    unused.dtype = DType::bf16;
    unused.bytes = 2;
    changed.buffers.push_back(unused);
    size_t relu = 0;
    while (changed.steps[relu] == of.plan.steps[relu]) ++relu;
    check_found(of, changed, fmt::format("steps[{}]", relu), "error[P0201]: 'r' differs from the reference");
}

TEST_CASE("run --verify: a few values far below 1 are as wrong as others when they are twice what they should be") {
    for (const char* mode : {"forward", "train"}) {
        CAPTURE(mode);
        Verifying of("model: small\n"
                     "inputs: {x: {shape: [8, 4]}}\n"
                     "params: {w: {shape: [8, 4]}}\n"
                     "graph: [{y: {mul: [x, w]}}, {y: {mul: [y, y]}}, {y: {mul: [y, 1.25e-9]}}, {m: {mean: y}}]\n"
                     "outputs: [m]\n"
                     "train: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.1}}}\n",
                     mode);
        Plan changed = of.plan;
        REQUIRE(replace_constants(changed, 1.25e-9, 2.5e-9) > 0);
        const CommandResult allowed = of.verify(changed, "--allow-other-plan");
        CHECK(allowed.code == 1);
        CHECK_MESSAGE(allowed.err.find("error[P0201]: ") != std::string::npos, allowed.out);
        CHECK(of.verify(of.plan).code == 0);
    }
}

TEST_CASE("run --verify: what differs in f32 and not in f64 is rounding, and verified") {
    // Two devices add up halves, one device all of it: the sums differ in their last bits, which the factor shows.
    Verifying of("model: magnifies\n"
                 "axes: {a: 16, b: 64}\n"
                 "inputs: {x: {axes: [a, b]}}\n"
                 "graph: [{s: {reduce_sum: x, dims: [1]}}, {y: {sin: {mul: [s, 4096]}}}]\n"
                 "outputs: [y]\n");
    const CommandResult result = of.verify(of.plan);
    CHECK_MESSAGE(result.code == 0, result.err);
    CHECK(result.err == "");
    CHECK(result.out.find("\nverified against the same model on one device: largest difference ") != std::string::npos);
    CHECK(result.out.find(" allowed); that is rounding: in f64 largest") != std::string::npos);
    const CommandResult json = of.verify(of.plan, "--format json");
    CHECK(json.code == 0);
    CHECK(json.out.find("\"verify\": {\"verified\": true, ") != std::string::npos);
    CHECK(json.out.find("\"in_f64\": {\"verified\": true, ") != std::string::npos);
    // The largest number in place of the sum is no rounding, in f64 either.
    Plan changed = of.plan;
    change_kernels(changed, [](Kernel& kernel) {
        if (Reduce* reduce = std::get_if<Reduce>(&kernel)) reduce->op = ReduceOp::max;
    });
    const CommandResult wrong = of.verify(changed, "--allow-other-plan");
    CHECK(wrong.code == 1);
    CHECK(wrong.err.find("error[P0201]: 'y' differs from the reference") != std::string::npos);
    CHECK(wrong.out.find("that is not rounding: in f64 largest") != std::string::npos);
}

TEST_CASE("run --verify: every output that the texts give is compared") {
    Verifying of(relu_model);
    Plan changed = of.plan;
    replace_relu(changed);
    changed.outputs.erase(changed.outputs.begin() + 1);
    check_found(of, changed, "outputs[1]",
                "error[P0202]: the two runs do not both have an output 'r' of the same type");
    changed.outputs.clear();
    check_found(of, changed, "outputs", "error[P0202]: the two runs do not both have an output 'h' of the same type");
}

TEST_CASE("run --verify: inputs begin as the texts say") {
    Verifying of(relu_model);
    Plan changed = of.plan;
    changed.inputs[0].init.source = Fill{1};
    check_found(of, changed, "inputs[0]", "error[P0202]: input 'x' begins with other values in the reference");
}

TEST_CASE("run --verify: inputs have the names, the roles and the types that the texts give them") {
    Verifying of("model: sum\n"
                 "inputs: {x: {shape: [8, 4]}, y: {shape: [8, 4]}}\n"
                 "params: {w: {shape: [8, 4]}}\n"
                 "graph: [{z: {sub: [x, y]}}, {z: {add: [z, w]}}]\n"
                 "outputs: [z]\n");
    // The same numbers come out of all of these: what was given for one of them would go to another.
    Plan swapped = of.plan;
    std::swap(of.buffer(swapped, "x").name, of.buffer(swapped, "y").name);
    check_found(of, swapped, "buffers[0]", "error[P0202]: input 'x' begins with other values in the reference");
    Plan renamed = of.plan;
    of.buffer(renamed, "x").name = "other";
    check_found(of, renamed, "buffers[0]",
                "error[P0202]: input 'x' is not there, and input f32 (8, 4) in the reference");
    Plan other_role = of.plan;
    of.buffer(other_role, "w").role = Role::input;
    check_found(of, other_role, "buffers[2]",
                "error[P0202]: input 'w' is input f32 (8, 4), and param f32 (8, 4) in the reference");
}

TEST_CASE("run --verify: what updates what is as the texts say") {
    Verifying of(train_model, "train");
    Plan changed = of.plan;
    std::swap(changed.outputs[0].name, changed.outputs[1].name);
    const CommandResult refused = of.verify(changed);
    CHECK(refused.code == 2);
    const CommandResult allowed = of.verify(changed, "--allow-other-plan");
    CHECK(allowed.code == 1);
    CHECK(allowed.err.find("error[P0202]: ") != std::string::npos);
}

TEST_CASE("run --verify: inputs whose names have changed places, one of them from a list of values") {
    Verifying of("model: named\n"
                 "inputs: {big: {shape: [64, 64]}, few: {shape: [2, 2]}}\n"
                 "graph: [{y: {neg: big}}, {z: {neg: few}}]\n"
                 "outputs: [y, z]\n");
    Plan changed = of.plan;
    changed.inputs[1].init.source = Literal{{1, 2, 3, 4}};
    std::swap(of.buffer(changed, "big").name, of.buffer(changed, "few").name);
    check_found(of, changed, "inputs[1]",
                "error[P0202]: input 'big' is input f32 (2, 2), and input f32 (64, 64) in the reference");
}

TEST_CASE("run --verify: an output that depends on no bf16 may differ as f32 does") {
    Verifying of("model: two\n"
                 "inputs: {x: {shape: [64, 8]}}\n"
                 "graph: [{y: {neg: x}}, {half: {cast: x, dtype: bf16}}, {half: {mul: [half, half]}}]\n"
                 "outputs: [y, half]\n");
    Plan changed = of.plan;
    change_programs(changed, [](Pointwise& kernel) {
        if (kernel.steps.back().op != ScalarOp::neg) return;
        // -x times 1.001: less than half a unit in the last place of bf16.
        const int last = static_cast<int>(kernel.steps.size()) - 1;
        kernel.steps.push_back({ScalarOp::constant, {-1, -1, -1}, DType::f32, 1.001, {}});
        kernel.steps.push_back({ScalarOp::mul, {last, last + 1, -1}, DType::f32, 0, {}});
    });
    REQUIRE(changed != of.plan);
    const CommandResult allowed = of.verify(changed, "--allow-other-plan");
    CHECK(allowed.code == 1);
    CHECK(allowed.err.find("error[P0201]: 'y' differs from the reference") != std::string::npos);
}

TEST_CASE("run --verify: a plan of another version that plans alike is verified, another one says who wrote it") {
    Verifying of(relu_model);
    Plan older = of.plan;
    older.tool = "shardc 0.0.9";
    CHECK(of.verify(older).code == 0);
    older.report.compute_seconds *= 2;
    const CommandResult refused = of.verify(older);
    CHECK(refused.code == 2);
    CHECK(refused.err.find("  = note: it was written by shardc 0.0.9, this is ") != std::string::npos);
    CHECK(of.verify(older, "--allow-other-plan").code == 0);
}

TEST_CASE("run --verify: a plan file brings its hardware profile") {
    const std::string folder = std::string(SHARDC_TEST_DIR) + "/verify_profile";
    std::filesystem::create_directories(folder);
    const std::string profile = folder + "/own.yaml";
    MemoryFiles files(SHARDC_SOURCE_DIR);
    std::string error;
    const std::optional<std::string> text = files.read("planner/hardware/uniform.yaml", error);
    REQUIRE(text);
    std::ofstream(profile) << *text;
    files.files = {{"model.yaml", relu_model}, {"layout.yaml", layout + ("hardware: " + profile + "\n")}};
    REQUIRE(run_command(files, "shardc plan model.yaml layout.yaml -o plan.json").code == 0);
    std::filesystem::remove(profile);
    CHECK(run_command(files, "shardc run plan.json --verify").code == 0);
    CHECK(run_command(files, "shardc explain plan.json h").code == 0);
    CHECK(run_command(files, "shardc plan model.yaml layout.yaml").code == 2);
}

// SHARDC_MUTANTS=5000 makes as many, SHARDC_SEED=5 others.
TEST_CASE("run --verify: no changed plan is verified, nor one that computes something else where changes are allowed") {
    const char* asked = std::getenv("SHARDC_MUTANTS");
    const int count = asked == nullptr ? 60 : std::atoi(asked);
    std::vector<Verifying> plans;
    for (const char* model : {relu_model, moves_model}) plans.emplace_back(model);
    plans.emplace_back(train_model, "train");
    RunOptions two_steps;
    two_steps.workers = 1;
    two_steps.steps = 2;
    std::vector<RunResult> right;
    for (Verifying& of : plans) right.push_back(run_clean(of.plan, two_steps));

    const char* seed = std::getenv("SHARDC_SEED");
    std::mt19937 random(seed == nullptr ? 7 : static_cast<std::uint32_t>(1000 + std::atoi(seed)));
    int verified = 0;
    for (int mutant = 0; mutant < count;) {
        std::vector<std::uint32_t> tape(40);
        for (std::uint32_t& value : tape) value = static_cast<std::uint32_t>(random() % (1U << 20));
        const size_t which = tape[0] % plans.size();
        Verifying& of = plans[which];
        Plan plan = of.plan;
        mutate_plan(plan, std::span(tape).subspan(1));
        if (plan == of.plan || !plan_problems(plan).empty() || !is_small(plan)) continue;
        ++mutant;
        CAPTURE(mutant);
        const CommandResult refused = of.verify(plan);
        CHECK(refused.code == 2);
        CHECK(refused.out == "");

        const std::string steps = plan.mode == "train" ? "--steps 2 " : "";
        const CommandResult allowed = of.verify(plan, steps + "--allow-other-plan");
        if (allowed.out.find("\nverified") == std::string::npos) {
            CHECK(allowed.code != 0);
            continue;
        }
        ++verified;
        // The numbers are those of the plan that was not changed, whatever the tolerance was.
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(plan, two_steps, diagnostics);
        REQUIRE(result);
        CHECK(result->outputs.size() == right[which].outputs.size());
        for (const std::pair<const std::string, Tensor>& output : right[which].outputs) {
            const std::vector<double> want = values(output.second), got = values(result->outputs.at(output.first));
            REQUIRE(got.size() == want.size());
            double scale = 0, difference = 0;
            for (size_t i = 0; i < want.size(); ++i) {
                scale = std::max(scale, std::fabs(want[i]));
                difference = std::max(difference, std::fabs(got[i] - want[i]));
            }
            CHECK_MESSAGE(difference <= 1e-4 * scale, output.first);
        }
    }
    if (asked != nullptr) MESSAGE(count << " changed plans, " << verified << " of them compute the same");
    CHECK(verified > 0);
}
