#include "planner/build/model_builder.h"

#include "planner/build/build_attributes.h"
#include "planner/build/build_calls.h"
#include "planner/build/build_gradient.h"
#include "planner/build/build_manual.h"
#include "planner/build/build_operands.h"
#include "planner/build/build_training.h"
#include "planner/grad/microbatches.h"
#include "planner/model/type_limits.h"
#include "plans/base/saturating.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 most_entries = 1'000'000; // of a stack of layers: each has a key

} // namespace

std::optional<Graph> ModelBuilder::build(bool training) {
    if (!check_recursion(model_, diagnostics_)) return std::nullopt;
    builder_.set_random({key_from_seed(model_.seed), model_.keys,
                         model_.partitionable ? BitLayout::partitionable : BitLayout::legacy, training});
    Scope scope("", model_.graph);
    if (training && model_.train->microbatches > 1) {
        microbatch_ = model_of_microbatch(model_, diagnostics_);
        if (!microbatch_) return std::nullopt;
        open_microbatches(builder_, *model_.train);
    }
    bool ok = true;
    const DType compute = model_.precision.compute;
    for (const TensorDecl& decl : model_.inputs) ok = declare(scope, decl, Role::input, {}, compute) && ok;
    for (const TensorDecl& decl : model_.params) ok = declare(scope, decl, Role::param, {}, compute) && ok;
    for (const TensorDecl& decl : model_.variables) ok = declare(scope, decl, Role::variable, {}, compute) && ok;
    ok = run(scope, model_.graph, {}) && ok;
    const BuiltValues outputs = scope.find_all(model_.outputs, graph_, diagnostics_);
    ok = ok && outputs;
    if (outputs) graph_.outputs = *outputs;
    for (ValueId id : graph_.outputs) builder_.mark_used(id);
    for (const Name& output : model_.outputs) graph_.output_names.push_back(output.text);
    ok = ok && note_updates(scope, model_.updates);
    if (model_.train)
        ok = (training ? run_training(scope)
                       : mark_read_in_training(builder_, *model_.train, scope) &&
                             knows_training_arguments(model_, diagnostics_)) &&
             ok;
    if (ok) return_updates();
    ok = attach_initializers(graph_, model_, owners_, diagnostics_) && ok;
    if (!ok) return std::nullopt;
    warn_unused(builder_, named_, read_as_);
    return std::move(graph_);
}

// The outputs of a step are the loss and the metrics.
bool ModelBuilder::run_training(Scope& scope) {
    const TrainDecl& train = *model_.train;
    bool ok = true;
    for (const TensorDecl& target : train.targets) ok = declare(scope, target, Role::input, {}, DType::f32) && ok;
    graph_.outputs.clear();
    graph_.output_names.clear();
    const auto measure = [&](const Entry& entry, auto value_of) {
        Scope whole = scope;
        for (const Name& operand : entry.operands)
            if (const std::optional<ValueId> read = scope.find(operand.text, graph_);
                read && *read != poisoned && model_.precision.compute != DType::f32)
                whole.bind(operand.text, with_type(builder_, *read, DType::f32));
        const BuiltValues results =
            entry.op.text.empty() ? whole.find_all(entry.operands, graph_, diagnostics_) : run_entry(whole, entry, {});
        const std::optional<ValueId> value = results ? value_of(builder_, entry, *results) : std::nullopt;
        ok = ok && value;
        if (!value) return poisoned;
        for (ValueId id : *results) builder_.mark_used(id);
        builder_.mark_used(*value);
        graph_.outputs.push_back(*value);
        graph_.output_names.push_back(entry.results[0].text);
        return *value;
    };
    graph_.loss = measure(train.loss, loss_of);
    for (const Entry& metric : train.metrics) measure(metric, metric_of);
    return ok;
}

// `seen_as`: the element type in which the graph has it, if it is f32.
bool ModelBuilder::declare(Scope& scope, TensorDecl decl, Role role, const ModulePath& around, DType seen_as) {
    if (builder_.pattern()) scope.bind(decl.array.name.text, poisoned);
    if (builder_.pattern()) return refuse_in_gradient("a parameter", decl.array.name.span, diagnostics_);
    Value value;
    value.name = builder_.unique_name(scope.full(decl.array.name.text), "#");
    if (value.name != scope.full(decl.array.name.text)) {
        diagnostics_.error("E0234", decl.array.name.span, fmt::format("'{}' is declared twice", decl.array.name.text))
            .help("no input, parameter or target has the name of another value");
        return false;
    }
    // `precision` is for what is not written otherwise; what steps add up is kept as it is.
    const bool follows = decl.array.dtype == DType::f32 && role != Role::variable;
    if (role == Role::param && follows) decl.array.dtype = model_.precision.params;
    i64 entries = 1;
    for (const OpenScan& scan : open_scans_) entries = multiply_saturating(entries, scan.stack.layers);
    if (entries > most_entries) {
        diagnostics_.error("E0227", decl.array.name.span,
                           fmt::format("'{}' would be a stack of {} layers, more than {}", decl.array.name.text,
                                       entries, most_entries));
        scope.bind(decl.array.name.text, poisoned);
        return false;
    }
    const TensorDecl of_layer = decl;
    for (size_t s = open_scans_.size(); s-- > 0;) stack(decl, open_scans_[s]);
    value.type = {decl.array.dtype, decl.array.shape, decl.array.logical};
    value.type.logical.resize(decl.array.shape.size());
    if (const std::string_view problem = size_problem(decl.array.dtype, decl.array.shape); !problem.empty()) {
        diagnostics_.error(
            "E0227", decl.array.name.span,
            fmt::format("'{}' has shape {}: {}", decl.array.name.text, shape_text(decl.array.shape), problem));
        return false;
    }
    value.role = role;
    value.span = decl.at.known() ? decl.at : decl.array.name.span;
    value.decl = static_cast<int>(graph_.declared.size());
    graph_.declared.push_back(decl.array);
    graph_.declared.back().name.text = value.name;
    owners_.push_back({around, {}, decl.init});
    const ValueId id = builder_.add_input(std::move(value));
    ValueId bound = open_scans_.empty() ? id : entry_of_stack(id, decl, scope);
    if (region_ >= 0) {
        builder_.set_place({scope.path(), graph_.value(id).name, decl.array.name.span, {}, {}, region_});
        const std::optional<ValueId> local = enter_declared(builder_, *mesh_, region_, bound, of_layer);
        scope.bind(decl.array.name.text, local.value_or(poisoned));
        if (!local) return false;
        bound = *local;
    }
    if (microbatch_ && role == Role::input)
        bound = rows_of_microbatch(builder_, id, decl.array.logical, microbatch_axis(model_));
    if (follows) bound = with_type(builder_, bound, seen_as);
    if (role == Role::param) read_as_[id] = bound;
    scope.bind(decl.array.name.text, bound);
    return true;
}

// A parameter of a scanned block, as it is declared: all layers of it.
void ModelBuilder::stack(TensorDecl& decl, const OpenScan& scan) {
    decl.array.logical.resize(decl.array.shape.size());
    decl.array.shape.insert(decl.array.shape.begin(), scan.stack.layers);
    decl.array.logical.insert(decl.array.logical.begin(), scan.axis);
    if (decl.array.mesh)
        decl.array.mesh->dims.insert(decl.array.mesh->dims.begin(), DimSpec{{}, false, 0, decl.array.mesh->span});
}

// What the body calls by the parameter's name: that of the running layer. What an outer scan's trip takes is taken
// before the inner loop begins.
ValueId ModelBuilder::entry_of_stack(ValueId entry, const TensorDecl& decl, const Scope& scope) {
    graph_.value(entry).stacked = static_cast<int>(open_scans_.size());
    builder_.set_place({scope.path(), scope.full(decl.array.name.text), decl.array.name.span, {}, {}});
    for (size_t s = 0; s < open_scans_.size(); ++s) {
        open_scans_[s].stacks_any = true;
        owners_.back().stacks.push_back(open_scans_[s].stack);
        const auto take = [&] { entry = open_scans_[s].loop->entry(entry); };
        if (s + 1 < open_scans_.size())
            open_scans_[s + 1].loop->in_front(take);
        else
            take();
    }
    builder_.rename(entry, builder_.unique_name(scope.full(decl.array.name.text) + ".layer", "_"),
                    decl.array.name.span);
    return entry;
}

// All entries of one graph.
bool ModelBuilder::run(Scope& scope, const std::vector<Entry>& entries, const ModulePath& around) {
    bool ok = true;
    for (const Entry& entry : entries) {
        if (graph_.nodes.size() > most_nodes) {
            diagnostics_.error(
                "E0227", entry.op.span,
                fmt::format("the model has more than {} ops when modules and repeats are written out", most_nodes));
            return false;
        }
        const BuiltValues results = run_entry(scope, entry, around);
        ok = ok && results;
        if (results && results->size() != entry.results.size()) {
            diagnostics_
                .error("E0231", entry.span,
                       fmt::format("'{}' has {} results, but {} given", entry.op.text, results->size(),
                                   entry.results.size() == 1 ? std::string("one name is")
                                                             : fmt::format("{} names are", entry.results.size())))
                .help("several results are named with commas: `- q, k: {...}`");
            ok = false;
        }
        for (size_t n = 0; n < entry.results.size(); ++n) {
            const bool good = results && results->size() == entry.results.size();
            scope.bind(entry.results[n].text, good ? (*results)[n] : poisoned);
        }
    }
    return ok;
}

BuiltValues ModelBuilder::run_entry(Scope& scope, const Entry& entry, const ModulePath& around) {
    if (const FormDef* form = find_form(entry.op.text)) return form->build(*this, scope, entry, around);
    if (model_.find_module(entry.op.text)) return call(scope, entry, around);
    const OpDef* op = find_op(entry.op.text);
    const CompositeDef* composite = find_composite(entry.op.text);
    if (!op && !composite) {
        report_unknown_op(model_, entry, diagnostics_);
        return std::nullopt;
    }
    return run_op(scope, entry, op, composite);
}

bool ModelBuilder::run_in_region(Scope& body, const std::vector<Entry>& entries, const ModulePath& around, int region) {
    region_ = region;
    const bool ok = run(body, entries, around);
    region_ = -1;
    return ok;
}

// The value itself, which has the constraint's name too: a constraint that is taken as not written.
BuiltValues ModelBuilder::without_constraint(Scope& scope, const Entry& entry) {
    const BuiltValues operands = resolve_operands(builder_, scope, entry.operands, model_.axes);
    if (operands && operands->size() == 1 && entry.results[0].text != entry.operands[0].text)
        graph_.aliases.emplace_back(builder_.unique_name(scope.full(entry.results[0].text), "#"), operands->front());
    return operands;
}

BuiltValues ModelBuilder::run_op(Scope& scope, const Entry& entry, const OpDef* op, const CompositeDef* composite) {
    const std::vector<Span>& without = model_.without_constraints;
    const Span& said_at = entry.at.known() ? entry.at : entry.op.span;
    if (std::find(without.begin(), without.end(), said_at) != without.end() && op != nullptr && asks_for_sharding(*op))
        return without_constraint(scope, entry);
    std::vector<std::string> paths;
    for (const Name& name : entry.results) paths.push_back(builder_.unique_name(scope.full(name.text), "#"));
    Builder::Place place{scope.path(), paths[0], entry.op.span, {}, {}, region_};
    for (const Name& name : entry.operands) {
        place.operand_spans.push_back(name.span);
        place.operand_names.push_back(name.text);
    }
    builder_.set_place(std::move(place));
    const BuiltValues operands = resolve_operands(builder_, scope, entry.operands, model_.axes, op);
    if (!operands) return std::nullopt;
    const OpDef::Arity arity = op ? op->operands : composite->operands;
    const int count = static_cast<int>(operands->size());
    std::vector<TensorType> types;
    for (ValueId id : *operands) types.push_back(builder_.type(id));
    const ArgumentContext context{sizes(),       entry.op.text, op ? op->attributes : composite->attributes,     types,
                                  entry.op.span, diagnostics_,  region_ < 0 ? nullptr : &graph_.regions[region_]};
    if (count < arity.min || (arity.max >= 0 && count > arity.max)) {
        knows_arguments(context, entry.arguments);          // an operand may stand behind a name that is none
        return builder_.emit_all(entry.op.text, *operands); // reports
    }
    const std::optional<ReadArguments> read = read_arguments(context, entry.arguments);
    if (!read) return std::nullopt;
    const size_t values_before = graph_.values.size(), nodes_before = graph_.nodes.size();
    BuiltValues results = builder_.emit_all(entry.op.text, *operands, read->attributes);
    if (!results) return std::nullopt;
    for (size_t n = 0; n < results->size() && n < paths.size(); ++n)
        name_result((*results)[n], values_before, paths[n], entry.results[n].span);
    if (op) keep_constraint(graph_, *op, *read, results->front());
    if (entry.at.known()) { // what is said from now on is said of the program's line
        for (size_t v = values_before; v < graph_.values.size(); ++v) graph_.values[v].span = entry.at;
        for (size_t n = nodes_before; n < graph_.nodes.size(); ++n) graph_.nodes[n].span = entry.at;
    }
    return results;
}

void ModelBuilder::name_result(ValueId result, size_t values_before, const std::string& path, Span span) {
    if (static_cast<size_t>(result) >= values_before)
        builder_.rename(result, path, span);
    else
        graph_.aliases.emplace_back(path, result);
    named_.push_back(result);
}

} // namespace shard
