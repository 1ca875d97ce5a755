#include "planner/pipeline/passes.h"

#include "planner/build/attention_dims.h"
#include "planner/build/build.h"
#include "planner/build/fold_by_device.h"
#include "planner/build/train.h"
#include "planner/build/unroll_regions.h"
#include "planner/grad/gradient_pattern.h"
#include "planner/optimize/combine.h"
#include "planner/optimize/in_place.h"
#include "planner/optimize/offload.h"
#include "planner/optimize/optimize.h"
#include "planner/optimize/order_updates.h"
#include "planner/optimize/overlap.h"
#include "planner/partition/check_local_sizes.h"
#include "planner/partition/full_gathers.h"
#include "planner/partition/verify_local.h"
#include "planner/pipeline/attach_sources.h"
#include "planner/pipeline/attention_ways.h"
#include "planner/pipeline/few_layers.h"
#include "planner/pipeline/follow.h"
#include "planner/pipeline/fsdp_ways.h"
#include "planner/pipeline/inputs_first.h"
#include "planner/pipeline/joint_partition.h"
#include "planner/pipeline/spread_on_few.h"
#include "planner/pipeline/weights_ways.h"
#include "planner/price/judge.h"
#include "planner/price/price.h"
#include "planner/price/unaligned_rows.h"
#include "planner/propagate/check_sizes.h"
#include "planner/propagate/xla_compat.h"
#include "planner/read/checkpoint_names.h"
#include "planner/read/hardware.h"
#include "planner/read/include.h"
#include "planner/read/layout_reader.h"
#include "planner/read/model_reader.h"
#include "planner/read/places.h"
#include "planner/rewrite/group_sums.h"
#include "planner/rewrite/join_moves.h"
#include "planner/rewrite/pad_uneven.h"
#include "planner/rewrite/split_scans.h"
#include "planner/schedule/plan_layers.h"
#include "planner/schedule/plan_padding.h"
#include "planner/seed/lint_microbatches.h"
#include "planner/seed/lint_rules.h"
#include "plans/base/version.h"
#include "plans/plan/plan_check.h"

#include <algorithm>

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

bool is_training(const PlanRequest& request) { return request.mode == "train"; }

// Both files are read before stopping, so one run shows the mistakes of both.
void read(Compilation& c, const PlanRequest& request, Sources& sources) {
    load_includes(sources, request.model_file);
    load_checkpoint_names(sources, request.model_file);
    load_places(sources, request.model_file);
    c.model = read_model(sources, request.model_file, c.diagnostics, is_training(request));
    c.layout = read_layout(sources, request.layout_file, c.diagnostics);
    for (int file : {request.model_file, request.layout_file}) c.allowances.read(sources, file, c.diagnostics);
    for (int file : included_files(sources, request.model_file)) c.allowances.read(sources, file, c.diagnostics);
    if (!c.model || !c.layout) return;
    c.model->most_layers = request.most_layers;
    c.model->without_constraints = request.without_constraints;
    c.written_mesh = c.layout->mesh;
    c.written_missing_axes = c.layout->missing_axes;
    if (request.mesh_override) c.layout = one_device(*c.layout, *request.mesh_override);
    if (is_training(request) && !c.model->train) {
        c.diagnostics.error("E0242", {request.model_file, 1, 1, 1}, "the model does not say how it is trained")
            .help("write train: {loss: ..., optimizer: ...}, or plan its forward pass with --mode forward");
    }
}

// The hardware is looked up here, so that one run shows its mistakes too.
void build(Compilation& c, const PlanRequest& request, Sources& sources) {
    c.graph = is_training(request) ? build_train_graph(*c.model, c.diagnostics, &c.written_mesh)
                                   : build_graph(*c.model, c.diagnostics, &c.written_mesh);
    if (c.graph) warn_of_attention_dims(*c.graph, c.diagnostics);
    c.hardware = load_hardware(c.layout->hardware, c.layout->hardware_span, sources, c.diagnostics,
                               c.layout->mesh.device_count());
}

void unroll(Compilation& c, const PlanRequest& request, Sources&) {
    if (request.mesh_override) c.graph = unroll_regions(*c.graph);
}

// Reverse mode has copied the gradients that modules declare: their patterns go.
void grad(Compilation& c, const PlanRequest& request, Sources&) {
    if (is_training(request)) {
        Builder builder(*c.graph, c.diagnostics);
        if (!add_train_step(builder, *c.model, c.diagnostics)) return;
    }
    remove_patterns(*c.graph);
}

// For the layout's own mesh, also where one device makes them all.
void fold(Compilation& c, const PlanRequest&, Sources&) {
    fold_by_device(*c.graph, c.written_mesh, c.written_missing_axes, c.diagnostics);
}

void seed(Compilation& c, const PlanRequest&, Sources&) {
    if (!check_links(c.layout->mesh, c.layout->mesh_spans, *c.hardware, c.diagnostics)) return;
    c.seeds = seed_shardings(*c.graph, *c.layout, c.diagnostics);
    if (!c.seeds || c.diagnostics.has_error()) return;
    lint_rules(*c.graph, *c.layout, *c.seeds, c.allowances, c.diagnostics);
    lint_microbatches(*c.graph, *c.layout, *c.seeds, c.allowances, c.diagnostics);
}

void pad(Compilation& c, const PlanRequest&, Sources&) { c.padding = pad_uneven(*c.graph, *c.seeds); }

// XLA knows how parameters are stored, and nothing of fsdp.
void fsdp(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner == Partitioner::shardc) gather_or_leave_split(c);
}

void join(Compilation& c, const PlanRequest&, Sources&) { join_moves(*c.graph, *c.seeds); }

void propagate(Compilation& c, const PlanRequest&, Sources&) {
    PropagateOptions options;
    options.products_apart = c.layout->partitioner == Partitioner::xla;
    c.propagation = propagate(*c.graph, c.layout->mesh, *c.seeds, options);
    if (c.model->xla_compat) count_copies_in_bits(*c.graph, c.layout->mesh, *c.propagation, c.diagnostics);
    check_sizes(*c.graph, c.layout->mesh, *c.propagation, c.diagnostics);
}

Pricing pricing_of(Compilation& c) { return {*c.layout, decisions_of(c)}; }

// Each order with what the next passes make of it; those of attention and of sums, which come after that, may make up for
// less than this.
constexpr double gain_of_order = 0.1;
void inputs(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner != Partitioner::shardc) return;
    std::optional<Seeds> first = seed_inputs_first(*c.graph, *c.seeds);
    if (!first) return;
    Propagation drawn = propagate(*c.graph, c.layout->mesh, *first);
    const auto improved = [&](Seeds seeds, Propagation propagation) {
        follow_gradients(*c.graph, seeds, propagation, pricing_of(c));
        follow_readers(*c.graph, seeds, propagation, pricing_of(c));
        return price_alone(*c.graph, propagation, *c.layout, decisions_of(c)).cost;
    };
    if (!costs_less(improved(*first, drawn), improved(*c.seeds, *c.propagation), gain_of_order)) return;
    c.seeds = std::move(first);
    c.propagation = std::move(drawn);
}

// Of many equal layers the kinds that are found on few. A step that does not fit any more is none.
void weights(Compilation& c, const PlanRequest& request, Sources& sources) {
    if (c.layout->partitioner != Partitioner::shardc) return;
    const std::vector<CrossedProduct> crossed = crossed_products(*c.graph, *c.seeds, *c.propagation);
    if (crossed.empty()) return;
    decisions_of(c);
    std::optional<Compilation> few = few_layers_before("weights", c, request, sources);
    Compilation& tried = few ? *few : c;
    const std::set<std::string> kinds = kinds_as_weights(
        *tried.graph, *tried.seeds, *tried.propagation,
        few ? crossed_products(*few->graph, *few->seeds, *few->propagation) : crossed, pricing_of(tried));
    if (kinds.empty()) return;
    Seeds seeds = seed_products_as_weights(*c.graph, *c.seeds, crossed, kinds);
    Propagation propagation = propagate(*c.graph, c.layout->mesh, seeds);
    const auto fits = [&](const Propagation& made) {
        const i64 peak = price_alone(*c.graph, made, *c.layout, decisions_of(c), true).plan.peak_bytes;
        return static_cast<double>(peak) <= c.hardware->memory_bytes;
    };
    if (c.hardware->memory_bytes > 0 && !fits(propagation) && fits(*c.propagation)) return;
    c.seeds = std::move(seeds);
    c.propagation = std::move(propagation);
}

void gradients(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner == Partitioner::shardc)
        follow_gradients(*c.graph, *c.seeds, *c.propagation, pricing_of(c));
}

void reads(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner == Partitioner::shardc) follow_readers(*c.graph, *c.seeds, *c.propagation, pricing_of(c));
}

// XLA gathers, or what the program asks for.
void attention(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner != Partitioner::shardc) return;
    if (split_attentions(*c.graph, c.layout->mesh, c.propagation->values).empty()) return;
    c.before_attention = {*c.graph, *c.seeds, *c.propagation};
    PropagatedGraph made = *c.before_attention;
    c.attention_ways = choose_attention_ways(made, *c.layout, decisions_of(c), c.diagnostics);
    c.graph = std::move(made.graph);
    c.seeds = std::move(made.seeds);
    c.propagation = std::move(made.propagation);
}

// XLA sends in rounds, to neighbours, or gathers.
void scans(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner != Partitioner::shardc) return;
    const std::vector<SplitScan> found = split_scans(*c.graph, c.propagation->values);
    if (found.empty()) return;
    PropagatedGraph made{*c.graph, *c.seeds, {}};
    write_by_blocks(made.graph, made.seeds, found);
    made.propagation = propagate(made.graph, c.layout->mesh, made.seeds);
    const StepCost as_it_is = price_alone(*c.graph, *c.propagation, *c.layout, decisions_of(c)).cost,
                   by_blocks = price_alone(made.graph, made.propagation, *c.layout, decisions_of(c)).cost;
    if (!costs_less(by_blocks, as_it_is, least_gain)) return;
    c.graph = std::move(made.graph);
    c.seeds = std::move(made.seeds);
    c.propagation = std::move(made.propagation);
}

void group(Compilation& c, const PlanRequest&, Sources&) {
    if (c.layout->partitioner == Partitioner::shardc) group_sums(*c.graph, c.propagation->values);
}

void spread(Compilation& c, const PlanRequest& request, Sources& sources) {
    if (!c.layout->sequence_parallel || c.layout->partitioner != Partitioner::shardc) return;
    c.partitioned = spread_as_few(c, request, sources);
    if (!c.partitioned) c.partitioned = spread_jointly(*c.graph, *c.seeds, *c.propagation, *c.layout, decisions_of(c));
}

void partition(Compilation& c, const PlanRequest& request, Sources&) {
    if (!c.partitioned) c.partitioned = partition_jointly(*c.graph, *c.propagation, *c.layout, decisions_of(c));
    c.local = std::move(c.partitioned->local);
    c.local->apart = request.unimproved;
    c.joint = std::move(c.partitioned->joint);
    c.partitioned.reset();
    check_local_sizes(*c.local, c.diagnostics);
    warn_of_full_gathers(*c.local, *c.graph, c.layout->mesh, *c.hardware, c.diagnostics);
}

void offload(Compilation& c, const PlanRequest&, Sources&) { offload(*c.local); }

void optimize(Compilation& c, const PlanRequest&, Sources&) { optimize(*c.local); }

void order(Compilation& c, const PlanRequest&, Sources&) { order_updates(*c.local); }

void overlap(Compilation& c, const PlanRequest&, Sources&) {
    overlap(*c.local, c.layout->mesh, *c.hardware, !c.layout->fsdp || c.layout->fsdp->prefetch);
}

void combine(Compilation& c, const PlanRequest&, Sources&) { combine(*c.local, c.layout->mesh, *c.hardware); }

void land(Compilation& c, const PlanRequest&, Sources&) {
    land_carried(*c.local);
    land_updates(*c.local);
}

void schedule(Compilation& c, const PlanRequest& request, Sources& sources) {
    c.plan = schedule(*c.local, c.layout->mesh, sources, &c.schedule);
    say_what_is_real(*c.plan, *c.graph, c.padding);
    name_layers(*c.plan, *c.graph);
    c.plan->model = c.model->name.text;
    c.plan->mode = request.mode;
    c.plan->tool = tool_text();
}

void price(Compilation& c, const PlanRequest&, Sources& sources) {
    price(*c.plan, *c.graph, *c.local, c.schedule, *c.propagation, *c.hardware, sources, c.padding);
    warn_of_unaligned_rows(*c.plan, *c.local, c.schedule, *c.model, *c.hardware, c.diagnostics);
}

void judge(Compilation& c, const PlanRequest&, Sources&) {
    judge(*c.plan, c.layout->policy, c.diagnostics, c.layout->hardware_span);
    c.diagnostics = c.allowances.apply(c.diagnostics);
}

void attach(Compilation& c, const PlanRequest& request, Sources& sources) {
    std::vector<int> files = {request.model_file, request.layout_file};
    if (const int file = find_hardware(c.layout->hardware, c.layout->hardware_span, sources); file >= 0)
        files.push_back(file);
    const std::vector<int> included = included_files(sources, request.model_file);
    files.insert(files.end(), included.begin(), included.end());
    if (const int names = find_checkpoint_names(sources, request.model_file); names >= 0) files.push_back(names);
    for (const int file : files_of_places(sources, request.model_file))
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    attach_sources(*c.plan, sources, files, c.diagnostics);
}

// From `grad` on: until then the loop over microbatches is open.
void check_graph(const Compilation& c) { verify_graph(*c.graph); }

void check_local(const Compilation& c) { verify_local(*c.local, c.layout->mesh); }

void check_plan(const Compilation& c) {
    const std::vector<PlanProblem> problems = plan_problems(*c.plan);
    if (!problems.empty()) internal_error("made a bad plan: " + problems[0].where + ": " + problems[0].what);
}

constexpr PassDef passes[] = {
    {"read", "model.yaml, layout.yaml -> Model, Layout",
     "Model and Layout are there, each name and number with its file:line:column", read, nullptr},
    {"build", "Model -> Graph: modules and repeats expanded, or kept as loops; composites lowered",
     "the graph has only primitive ops, and every type fits", build, nullptr},
    {"unroll", "on one device, what a manual region does on each of several is written out",
     "planned for one device: no manual region is left", unroll, nullptr},
    {"grad", "the gradients of a loss, microbatches, the optimizer's update",
     "a train step is a graph like others: gradients and updates are ops", grad, check_graph},
    {"fold", "random values that are drawn by device get keys of their own", "no random value depends on the layout",
     fold, check_graph},
    {"seed", "rules, overrides, fsdp, constraints -> initial shardings",
     "inputs, params and constraints have initial shardings that divide, or are to be padded", seed, check_graph},
    {"pad", "padding behind the elements of dims that axes do not divide, and masks where it would be seen",
     "initial shardings divide", pad, check_graph},
    {"fsdp",
     "constraints that make whole what the layout splits for storage alone, where moving what meets it is no less",
     "what is split for storage alone is gathered where ops read it", fsdp, check_graph},
    {"join", "slices, paddings, concatenations of one another -> one op",
     "a move of moves is one op, where nobody else reads what is between", join, check_graph},
    {"propagate", "Graph + seeds -> a sharding for every value, with a decision log",
     "every value has a closed sharding that divides, every axis a cause", propagate, nullptr},
    {"inputs", "what inputs split leads where parameters are split over the same axes, where that is faster",
     "every value has a closed sharding that divides", inputs, check_graph, true},
    {"weights", "products lie as their weights, where what meets them has their axes, where that is faster",
     "every value has a closed sharding that divides", weights, check_graph, true},
    {"gradients", "gradients lie as their values do, where that is faster",
     "every value has a closed sharding that divides", gradients, check_graph, true},
    {"attention",
     "attention whose sequence is split passes keys round a ring, or exchanges heads, where that is cheaper",
     "every value has a closed sharding that divides", attention, check_graph, true},
    {"scans", "a scan along a dim that is split is made by blocks, whose ends alone are gathered, where that is faster",
     "every value has a closed sharding that divides", scans, check_graph, true},
    {"reads", "values lie as the products that they are made for read them, where that is faster",
     "every value has a closed sharding that divides", reads, check_graph, true},
    {"group", "numbers that are added up, first those that devices have parts of over the same axes",
     "every value has a closed sharding that divides", group, check_graph},
    {"spread", "what follows a sum stays split over its axes until an op uses them again, where that is faster",
     "every value has the sharding that it is kept in", spread, nullptr, true},
    {"partition", "Graph + shardings -> the local graph: ops decide alone, or together where that is faster",
     "types are local, collectives are nodes", partition, check_local},
    {"offload", "what waits in the host's memory is copied there and back",
     "the local graph means what it meant, with values on the host", offload, check_local},
    {"optimize", "pointwise steps fused, reshards shared and joined",
     "the local graph means what it meant, in fewer steps", optimize, check_local},
    {"order", "an optimizer's steps move to where their gradients are",
     "the local graph means what it meant, with fewer values alive", order, check_local, true},
    {"overlap", "collectives move away from what waits for them",
     "the local graph means what it meant, with collectives beside what is computed", overlap, check_local, true},
    {"combine", "small reductions that are alike begin together, as one launch",
     "the local graph means what it meant, with fewer launches", combine, check_local, true},
    {"land", "what is replaced gives its bytes to what replaces it",
     "new parameters, states and what loops carry are in the bytes of the old", land, check_local},
    {"schedule", "local graph -> Plan: starts and waits, arena offsets", "order, offsets and the exact peak are final",
     schedule, nullptr},
    {"price", "Plan + hardware -> figures", "FLOPs, bytes and seconds are known; the plan is safe to run", price,
     check_plan},
    {"judge", "policy and budgets -> findings", "every budget that is broken is a finding", judge, nullptr},
    {"attach", "the texts and what was said about them -> Plan",
     "the plan holds the texts it came from, and can be made again of them", attach, nullptr},
};

} // namespace

std::span<const PassDef> all_passes() { return passes; }

const PassDef* find_pass(std::string_view name) {
    const PassDef* const found =
        std::find_if(std::begin(passes), std::end(passes), [name](const PassDef& pass) { return pass.name == name; });
    return found == std::end(passes) ? nullptr : found;
}

} // namespace shard
