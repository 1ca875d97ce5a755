#include "tests/support/prove.h"

#include "cli/diagnostics/subjects_text.h"
#include "executor/formats/tensor.h"
#include "executor/verify/compare.h"
#include "executor/verify/in_f64.h"
#include "planner/graph/view.h"
#include "planner/optimize/in_place.h"
#include "planner/partition/spread.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/products_as_weights.h"
#include "plans/file/plan_json.h"
#include "tests/support/graph_trip.h"
#include "tests/support/interpreter.h"
#include "tests/support/tensors.h"
#include "tests/support/thread_ranks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

std::uint32_t next(std::uint32_t& state) {
    state = state * 1664525U + 1013904223U;
    return state >> 16;
}

// The largest error that n rounded additions may leave, relative to the largest value; n is generous.
constexpr double tolerance(DType dtype) {
    switch (dtype) {
    case DType::f32:
        return 2e-4;
    case DType::f64:
        return 1e-9;
    case DType::bf16:
        return 0.06;
    default:
        return 0;
    }
}

void compare(const std::string& what, const std::string& output, double relative, const std::vector<double>& got,
             const std::vector<double>& want, std::vector<std::string>& problems) {
    if (got.size() != want.size()) {
        problems.push_back(fmt::format("{}: {} has {} elements, not {}", what, output, got.size(), want.size()));
        return;
    }
    double scale = 1;
    for (double value : want)
        if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
    const double allowed = relative * scale;
    for (size_t i = 0; i < got.size(); ++i) {
        bool same =
            got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])) || std::fabs(got[i] - want[i]) <= allowed;
        if (same) continue;
        problems.push_back(fmt::format("{}: {}[{}] is {}, not {}", what, output, i, got[i], want[i]));
        return;
    }
}

std::map<std::string, Tensor> make_inputs(const Graph& graph, std::uint32_t state) {
    std::map<std::string, Tensor> inputs;
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        inputs[value.name] = make_tensor(value.type.dtype, value.type.shape, [&](i64) {
            const double drawn = static_cast<double>(next(state) % 5) - 2;
            if (value.type.dtype == DType::boolean) return drawn > 0 ? 1.0 : 0.0;
            return is_signed(value.type.dtype) ? drawn : std::fabs(drawn);
        });
    }
    return inputs;
}

// What the interpreter makes of some steps, as the result of a run. `inputs` are those of the first step.
RunResult interpreted_steps(const Graph& graph, const std::map<std::string, Tensor>& inputs, int steps) {
    RunResult result;
    result.steps = steps;
    const std::vector<int> updates = updates_by_output(graph);
    std::map<std::string, Array> arrays, outputs;
    for (const auto& [name, tensor] : inputs) arrays[name] = {tensor.type.shape, values(tensor)};
    for (int step = 0; step < steps; ++step) {
        outputs = interpret(graph, arrays);
        for (size_t o = 0; o < updates.size(); ++o) {
            const std::string& name = graph.output_names[o];
            if (updates[o] < 0 && outputs.at(name).values.size() == 1)
                result.scalars[name].push_back(outputs.at(name).values[0]);
            if (updates[o] < 0) continue;
            const std::string& input = graph.value(graph.updates[updates[o]].input).name;
            if (step == 0) result.initial[name] = inputs.at(input);
            arrays[input] = outputs.at(name);
        }
    }
    for (size_t o = 0; o < updates.size(); ++o) {
        const std::string& name = graph.output_names[o];
        const TensorType& type = graph.value(graph.outputs[o]).type;
        result.outputs[name] = make_tensor(type.dtype, type.shape, [&](i64 i) { return outputs.at(name).values[i]; });
    }
    return result;
}

// What `run --verify` does where rounding is in doubt: the plan and the reference in f64, from the same values.
std::vector<std::string> problems_in_f64(const Plan& plan, const Plan& reference, RunOptions options) {
    const Plan wide = in_f64(plan), one = in_f64(reference);
    Diagnostics diagnostics;
    std::optional<std::map<std::string, Tensor>> begun = beginning(reference, options, diagnostics);
    if (!begun) return {"what the plan begins with cannot be made"};
    options.inputs = std::move(*begun);
    const std::optional<RunResult> result = run_plan(wide, options, diagnostics);
    const std::optional<RunResult> expected = run_plan(one, options, diagnostics);
    if (!result || !expected) return {"the plan does not run in f64: " + text_of({}, diagnostics)};
    const std::optional<Comparison> comparison = compare_repeated({wide, *result}, {one, *expected}, diagnostics);
    if (!comparison || !comparison->equal) return {"in f64: " + text_of({}, diagnostics)};
    return {};
}

// A value is as inexact as the coarsest type on its way: an f64 that was cast from f32 has the errors of f32.
double coarsest(const Graph& graph) {
    double largest = 0;
    for (const Value& value : graph.values) largest = std::max(largest, tolerance(value.type.dtype));
    return largest;
}

} // namespace

std::string text_of(const Sources& sources, const Diagnostics& diagnostics) {
    Subject subject{{}, {}, &sources, diagnostics.all()};
    return subjects_text(std::span<const Subject>(&subject, 1), Paint{});
}

Compilation compile_as_written(Sources& sources, PlanRequest request) {
    const auto pad = std::find_if(request.passes.begin(), request.passes.end(),
                                  [](const PassDef& pass) { return pass.name == "pad"; });
    request.passes = request.passes.first(pad - request.passes.begin());
    return compile(sources, request);
}

std::vector<std::string> prove(Sources& sources, const PlanRequest& request, const Compilation& compilation,
                               const ProofOptions& options) {
    std::vector<std::string> problems;
    const Plan& plan = *compilation.plan;

    Diagnostics diagnostics;
    std::string json = print_plan(plan);
    std::optional<Plan> parsed = parse_plan(json, diagnostics);
    if (!parsed) return {"the plan does not parse back: " + text_of(sources, diagnostics)};
    if (!(*parsed == plan)) problems.push_back("parse(print(plan)) is another plan");
    if (print_plan(*parsed) != json) problems.push_back("print(parse(print(plan))) is another text");

    for (const std::string& problem : graph_trip_problems(sources, request))
        problems.push_back("the graph as text: " + problem);

    PlanRequest one = request;
    one.mesh_override = Mesh{};
    one.unimproved = true;
    Compilation single = compile(sources, one);
    if (!single.plan) return {"the one-device plan fails: " + text_of(sources, single.diagnostics)};

    const Compilation model = compile_as_written(sources, request);

    RunOptions run;
    run.workers = options.workers;
    run.steps = options.steps;
    if (options.small_integers)
        run.inputs = make_inputs(*model.graph, options.seed);
    else if (options.interpreter) {
        // The interpreter needs the same inputs: let a plan that only returns them make them.
        Plan echo = *single.plan;
        echo.steps.clear();
        echo.outputs.clear();
        for (const PlanInput& input : echo.inputs)
            echo.outputs.push_back({echo.buffers[input.buffer].name, input.buffer});
        std::optional<RunResult> drawn = run_plan(echo, {}, diagnostics);
        if (!drawn) return {"inputs cannot be drawn: " + text_of(sources, diagnostics)};
        run.inputs = drawn->outputs;
    }
    std::optional<RunResult> result = run_plan(plan, run, diagnostics);
    if (!result) return {"the plan does not run: " + text_of(sources, diagnostics)};
    for (const int ranks : {2, 3})
        if (plan.mesh.device_count() % ranks == 0)
            for (const std::string& problem : differences_on_ranks(plan, run, *result, ranks))
                problems.push_back(problem);
    RunOptions reference_options;
    reference_options.inputs = run.inputs;
    reference_options.steps = run.steps;
    reference_options.return_initial = true;
    std::optional<RunResult> reference = run_plan(*single.plan, reference_options, diagnostics);
    if (!reference) return {"the one-device plan does not run: " + text_of(sources, diagnostics)};

    std::map<std::string, Array> expected;
    Exactness exactness;
    const bool trains = !compilation.graph->updates.empty();
    if (trains && options.interpreter) {
        const RunResult steps = interpreted_steps(*model.graph, run.inputs, options.steps);
        if (result->scalars.size() != steps.scalars.size()) problems.push_back("other scalars than the interpreter's");
        const std::optional<Comparison> same =
            compare_results({plan, *result}, {*single.plan, steps}, diagnostics, &reference_options);
        if (!same || !same->equal) problems.push_back("against the interpreter: " + text_of(sources, diagnostics));
    } else if (options.interpreter) {
        std::map<std::string, Array> inputs;
        for (const std::pair<const std::string, Tensor>& input : run.inputs)
            inputs[input.first] = {input.second.type.shape, values(input.second)};
        expected = interpret(*model.graph, inputs, &exactness);
    }
    // Beyond the range in which whole numbers are exact, a comparison on the way may go either way: bytes and memory
    // are still proved.
    const bool comparable = exactness.in_range && (exactness.exact || !options.small_integers || !options.interpreter);
    const bool exact = options.small_integers && options.interpreter;
    for (const std::pair<const std::string, Tensor>& output : result->outputs) {
        if (!comparable || trains) break; // for steps, compare_results knows best what rounding may make
        const std::vector<double> got = values(output.second);
        const double relative = exact || tolerance(output.second.type.dtype) == 0 ? 0 : coarsest(*compilation.graph);
        compare("against one device", output.first, relative, got, values(reference->outputs.at(output.first)),
                problems);
        if (options.interpreter)
            compare("against the interpreter", output.first, relative, got, expected.at(output.first).values, problems);
    }
    std::optional<Comparison> comparison =
        compare_results({plan, *result}, {*single.plan, *reference}, diagnostics, &reference_options);
    // Where rounding is in doubt f64 decides, as for `run --verify`.
    const bool in_wide = comparable && is_below_f64(plan) && !takes_float_bits(plan);
    const std::vector<std::string> wide =
        in_wide ? problems_in_f64(plan, *single.plan, reference_options) : std::vector<std::string>();
    const bool is_rounding = in_wide && !exact && !trains && wide.empty(); // of steps nothing else is compared here
    if (comparable && problems.empty() && (!comparison || (!comparison->equal && !is_rounding)))
        problems.push_back("compare_results disagrees: " + text_of(sources, diagnostics));

    problems.insert(problems.end(), wide.begin(), wide.end());

    i64 promised = 0;
    for (const CollectiveReport& collective : plan.report.collectives) promised += collective.wire_bytes_total;
    if (result->wire_bytes_total != promised)
        problems.push_back(fmt::format("{} wire bytes were moved, {} promised", result->wire_bytes_total, promised));
    if (result->touched_peak_bytes != plan.peak_bytes)
        problems.push_back(
            fmt::format("the peak was {} bytes, {} promised", result->touched_peak_bytes, plan.peak_bytes));
    if (result->touched_host_peak_bytes != plan.host_peak_bytes)
        problems.push_back(fmt::format("the peak on the host was {} bytes, {} promised",
                                       result->touched_host_peak_bytes, plan.host_peak_bytes));
    if (plan.report.memory.peak != plan.peak_bytes) problems.push_back("the report's peak is not the plan's");
    return problems;
}

namespace {

void spread_in_any_case(Compilation& c, const PlanRequest&, Sources&) {
    ComputeDecisions decisions(c.layout->mesh, *c.hardware, c.layout->prefer, c.layout->partitioner);
    const Local alone = partition(*c.graph, *c.propagation, decisions);
    const GraphFacts facts(*c.graph);
    const SpreadRoots roots = roots_to_spread(*c.graph, facts, alone);
    std::vector<Propagation> ways;
    for (size_t way = 0; way < ways_to_spread; ++way)
        if (std::optional<Propagation> made = spread_along(*c.graph, facts, *c.seeds, *c.propagation, roots, way))
            ways.push_back(std::move(*made));
    if (!ways.empty()) c.propagation = std::move(ways[c.graph->nodes.size() % ways.size()]);
}

void as_weights_in_any_case(Compilation& c, const PlanRequest&, Sources&) {
    const std::vector<CrossedProduct> crossed = crossed_products(*c.graph, *c.seeds, *c.propagation);
    std::set<std::string> kinds;
    for (const CrossedProduct& product : crossed) kinds.insert(product.kind);
    c.seeds = seed_products_as_weights(*c.graph, *c.seeds, crossed, kinds);
    c.propagation = propagate(*c.graph, c.layout->mesh, *c.seeds);
}

// The passes with one in place of that of its name.
template<void run(Compilation&, const PlanRequest&, Sources&)>
std::span<const PassDef> passes_with(std::string_view name) {
    static const std::vector<PassDef> passes = [name] {
        std::vector<PassDef> all(all_passes().begin(), all_passes().end());
        for (PassDef& pass : all)
            if (pass.name == name) pass.run = run;
        return all;
    }();
    return passes;
}

bool has_cause(const Compilation& compilation, Decision::Cause cause) {
    const DecisionLog& log = compilation.propagation->log;
    return std::any_of(log.begin(), log.end(), [&](const Decision& why) { return why.cause == cause; });
}

} // namespace

std::vector<std::string> prove(const std::string& model, const std::string& layout, const ProofOptions& options) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = options.mode;
    if (options.spread != nullptr) request.passes = passes_with<spread_in_any_case>("spread");
    if (options.as_weights != nullptr) request.passes = passes_with<as_weights_in_any_case>("weights");
    Compilation compilation = compile(sources, request);
    if (options.spread != nullptr && compilation.propagation)
        *options.spread += has_cause(compilation, Decision::Cause::spread);
    if (options.as_weights != nullptr && compilation.propagation)
        *options.as_weights += has_cause(compilation, Decision::Cause::weight);
    if (!compilation.plan) return {"no plan: " + text_of(sources, compilation.diagnostics)};
    return prove(sources, request, compilation, options);
}

} // namespace shard
