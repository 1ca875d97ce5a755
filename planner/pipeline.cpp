#include "planner/pipeline.h"

#include "planner/build/build.h"
#include "planner/build/fold_by_device.h"
#include "planner/build/train.h"
#include "planner/build/unroll_regions.h"
#include "planner/grad/gradient_pattern.h"
#include "planner/optimize/in_place.h"
#include "planner/optimize/optimize.h"
#include "planner/optimize/order_updates.h"
#include "planner/partition/check_local_sizes.h"
#include "planner/partition/verify_local.h"
#include "planner/price/attach_sources.h"
#include "planner/price/judge.h"
#include "planner/price/plan_layers.h"
#include "planner/price/price.h"
#include "planner/propagate/check_sizes.h"
#include "planner/propagate/xla_compat.h"
#include "planner/read/hardware.h"
#include "planner/read/layout_reader.h"
#include "planner/read/model_reader.h"
#include "planner/seed/gather_parameters.h"
#include "planner/seed/lint_rules.h"
#include "planner/text/allowances.h"
#include "plans/base/version.h"
#include "plans/plan/verify_plan.h"

namespace shard {

namespace {

// The same model on a mesh of one device: no axes, so no rule, override or constraint can name one. Nothing is sent, so
// the profile (which may be a file that is not there any more) does not matter.
Layout one_device(const Layout& layout, const Mesh& mesh) {
    Layout single;
    single.name = layout.name;
    single.mesh = mesh;
    single.semantics = layout.semantics;
    single.missing_axes = MissingAxes::ignore;
    return single;
}

} // namespace

Compilation compile(Sources& sources, const PlanRequest& request) {
    Compilation c;
    Diagnostics& diagnostics = c.diagnostics;

    // Both files are read before stopping, so one run shows the mistakes of both.
    c.model = read_model(sources, request.model_file, diagnostics);
    c.layout = read_layout(sources, request.layout_file, diagnostics);
    Allowances allowances;
    for (int file : {request.model_file, request.layout_file}) allowances.read(sources, file, diagnostics);
    if (!c.model || !c.layout || diagnostics.has_error()) return c;
    const Mesh mesh = c.layout->mesh;
    const MissingAxes missing_axes = c.layout->missing_axes;
    if (request.mesh_override) c.layout = one_device(*c.layout, *request.mesh_override);

    const bool training = request.mode == "train";
    if (training && !c.model->train) {
        diagnostics.error("E0242", {request.model_file, 1, 1, 1}, "the model does not say how it is trained")
            .help("write train: {loss: ..., optimizer: ...}, or plan its forward pass with --mode forward");
        return c;
    }

    // Modules and repeats are expanded and composites lowered: from here on there are only primitive ops.
    c.graph = training ? build_train_graph(*c.model, diagnostics, &mesh) : build_graph(*c.model, diagnostics, &mesh);
    c.hardware = load_hardware(c.layout->hardware, c.layout->hardware_span, sources, diagnostics);
    if (!c.graph || !c.hardware || diagnostics.has_error()) return c;
    // One device cannot be several: what a manual region does on each of them is written out.
    if (request.mesh_override) c.graph = unroll_regions(*c.graph);
    // Gradients and the optimizer's update are ops like others: from here on a train step is an ordinary graph.
    if (training) {
        Builder builder(*c.graph, diagnostics);
        if (!add_train_step(builder, *c.model, diagnostics)) return c;
    }
    // Gradients that modules declare have been used.
    remove_patterns(*c.graph);
    // Random values that are drawn by device are so for the layout's own mesh, also where one device makes them all.
    if (!fold_by_device(*c.graph, mesh, missing_axes, diagnostics)) return c;
    if (!check_links(c.layout->mesh, c.layout->mesh_spans, *c.hardware, diagnostics)) return c;
    verify_graph(*c.graph);
    if (request.edit) request.edit(*c.graph, *c.layout);

    // Rules, overrides and constraints become initial shardings; every one divides its dim.
    c.seeds = seed_shardings(*c.graph, *c.layout, diagnostics);
    if (!c.seeds || diagnostics.has_error()) return c;
    lint_rules(*c.graph, *c.layout, *c.seeds, allowances, diagnostics);

    // What fsdp splits is whole where ops read it.
    gather_parameters(*c.graph, *c.layout, *c.seeds);
    verify_graph(*c.graph);

    // Every value has a closed sharding that divides, and every axis on it a recorded cause.
    c.propagation = propagate(*c.graph, c.layout->mesh, *c.seeds);

    if (c.model->xla_compat) count_copies_in_bits(*c.graph, c.layout->mesh, *c.propagation, diagnostics);

    // What 64-bit arithmetic cannot plan is refused before anything is multiplied out.
    if (!check_sizes(*c.graph, c.layout->mesh, *c.propagation, diagnostics)) return c;

    // From here on types are local and collectives are nodes.
    c.local = partition(*c.graph, c.layout->mesh, *c.hardware, *c.propagation);
    verify_local(*c.local, c.layout->mesh);
    if (!check_local_sizes(*c.local, diagnostics)) return c;
    optimize(*c.local);
    order_updates(*c.local); // an optimizer's steps go to where their gradients are
    land_carried(*c.local);  // what a loop carries stays in one place
    land_updates(*c.local);  // new parameters and states go into the bytes of those they replace
    verify_local(*c.local, c.layout->mesh);

    // Order, offsets and peak are fixed; what follows only adds figures and findings.
    ScheduleMap map;
    c.plan = schedule(*c.local, c.layout->mesh, sources, &map);
    name_layers(*c.plan, *c.graph);
    c.plan->model = c.model->name.text;
    c.plan->mode = request.mode;
    price(*c.plan, *c.graph, *c.local, map, *c.propagation, *c.hardware, sources);
    const std::vector<PlanProblem> problems = plan_problems(*c.plan);
    if (!problems.empty()) internal_error("made a bad plan: " + problems[0].where + ": " + problems[0].what);
    judge(*c.plan, c.layout->policy, diagnostics);
    diagnostics = allowances.apply(diagnostics);
    c.plan->tool = tool_text();
    std::vector<int> files = {request.model_file, request.layout_file};
    if (const int file = find_hardware(c.layout->hardware, c.layout->hardware_span, sources); file >= 0)
        files.push_back(file);
    attach_sources(*c.plan, sources, files, diagnostics);
    return c;
}

} // namespace shard
