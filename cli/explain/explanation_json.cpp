#include "cli/explain/explanation_json.h"

#include "planner/redistribute/redistribute.h"
#include "plans/base/printable.h"
#include "plans/base/version.h"
#include "plans/file/plan_json.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/file/report_json.h"
#include "plans/json/json_text.h"

namespace shard {

namespace {

std::string_view cause_name(Decision::Cause cause) {
    switch (cause) {
    case Decision::Cause::rule:
        return "rule";
    case Decision::Cause::override_:
        return "override";
    case Decision::Cause::mesh_spec:
        return "mesh";
    case Decision::Cause::constraint:
        return "constraint";
    case Decision::Cause::output:
        return "output";
    case Decision::Cause::fsdp:
        return "fsdp";
    case Decision::Cause::attention:
        return "attention";
    case Decision::Cause::spread:
        return "spread";
    case Decision::Cause::read:
        return "read";
    case Decision::Cause::weight:
        return "weight";
    case Decision::Cause::parameter:
        return "parameter";
    case Decision::Cause::propagation:
        return "propagation";
    }
    internal_error("cause without a name");
}

std::string because_json(const Because& step) {
    JsonObject object;
    object.string("cause", cause_name(step.cause)).string("text", step.words);
    if (step.cause == Decision::Cause::propagation) object.string("from", step.from).string("through", step.through);
    object.raw("source", print_source(step.source));
    if (!step.excerpt.empty()) object.string("excerpt", printable(step.excerpt));
    return object.text();
}

std::string dim_json(const Mesh& mesh, const DimReason& dim, size_t index) {
    std::vector<std::string> axes;
    for (const AxisReason& axis : dim.axes) {
        std::vector<std::string> chain;
        for (const Because& step : axis.chain) chain.push_back(because_json(step));
        axes.push_back(JsonObject().string("axis", text(mesh, axis.axis)).raw("because", json_array(chain)).text());
    }
    return JsonObject()
        .integer("dim", static_cast<i64>(index))
        .raw("axes", json_array(axes))
        .raw("whole", dim.whole.empty() ? "null" : json_string(dim.whole))
        .raw("lost", json_strings(dim.lost))
        .text();
}

std::string ways_json(const Mesh& mesh, const WaysThere& ways) {
    std::vector<std::string> choices;
    for (const Redistribution& way : ways.ways)
        choices.push_back(JsonObject()
                              .raw("steps", json_strings(step_words(mesh, way)))
                              .integer("wire_bytes_total", way.wire_bytes_total)
                              .number("seconds", way.seconds)
                              .text());
    return JsonObject()
        .string("from", text(mesh, ways.from))
        .string("to", text(mesh, ways.to))
        .raw("choices", json_array(choices))
        .text();
}

std::string way_json(const Mesh& mesh, const ComputeWay& way) {
    std::vector<std::string> operands;
    for (const auto& [operand, sharding] : way.operands)
        operands.push_back(JsonObject().string("tensor", operand).string("sharding", text(mesh, sharding)).text());
    return JsonObject()
        .string("is", way.is)
        .raw("operands", json_array(operands))
        .string("makes", text(mesh, way.makes))
        .integer("wire_bytes_total", way.wire_bytes_total)
        .integer("flops_per_device", way.flops_per_device)
        .number("seconds", way.seconds)
        .text();
}

std::string figures_json(const Experiment& experiment, const Experiment& base) {
    JsonObject kinds;
    for (const auto& [kind, change] : kind_changes(experiment, base)) kinds.integer(kind, change);
    return JsonObject()
        .string("change", experiment.change)
        .integer("collectives", experiment.collectives)
        .integer("for_it", experiment.touching)
        .integer("wire_bytes_per_device", experiment.wire_bytes_per_device)
        .number("step_seconds", experiment.step_seconds)
        .integer("peak_bytes", experiment.peak)
        .integer("peak", experiment.peak) // as earlier programs called it
        .raw("difference", kinds.text())
        .text();
}

std::string attention_json(const Explanation& explanation) {
    std::vector<std::string> ways;
    for (const AttentionWays::Way& way : explanation.attention) {
        JsonObject made =
            JsonObject().string("way", name(way.way)).flag("chosen", way.way == explanation.attention_goes);
        if (!way.problem.empty())
            made.string("problem", way.problem);
        else
            made.number("step_seconds", way.seconds)
                .integer("wire_bytes_total", way.wire_bytes)
                .integer("peak_bytes", way.peak_bytes);
        ways.push_back(made.text());
    }
    return json_array(ways);
}

std::string tensor_json(const Mesh& mesh, const Explanation& explanation) {
    std::vector<std::string> dims, computed, collectives, ways, remedies;
    for (const ComputeWay& way : explanation.computed) computed.push_back(way_json(mesh, way));
    for (size_t d = 0; d < explanation.dims.size(); ++d) dims.push_back(dim_json(mesh, explanation.dims[d], d));
    for (const CollectiveReport& collective : explanation.collectives)
        collectives.push_back(print_collective(mesh, collective));
    for (const WaysThere& each : explanation.ways) ways.push_back(ways_json(mesh, each));
    for (const Experiment& remedy : explanation.remedies)
        remedies.push_back(figures_json(remedy, explanation.as_it_is));
    std::vector<std::string> alike;
    for (const TensorReport* each : explanation.alike) alike.push_back(each->name);
    return JsonObject()
        .raw("tensor", print_tensor(mesh, *explanation.tensor))
        .raw("alike", json_strings(alike))
        .raw("dims", json_array(dims))
        .string("rules_not_used", explanation.rules_not_used)
        .string("op", explanation.op)
        .raw("computed", json_array(computed))
        .raw("attention", attention_json(explanation))
        .raw("collectives", json_array(collectives))
        .raw("for_operands", json_strings(explanation.for_operands))
        .raw("for_made_of_it", json_strings(explanation.for_made_of_it))
        .raw("ways", json_array(ways))
        .raw("as_it_is", figures_json(explanation.as_it_is, explanation.as_it_is))
        .raw("remedies", json_array(remedies))
        .text();
}

} // namespace

std::string explanations_json(const Plan& plan, const std::vector<Explanation>& explanations) {
    std::vector<std::string> tensors;
    for (const Explanation& explanation : explanations) tensors.push_back(tensor_json(plan.mesh, explanation));
    return JsonObject()
               .integer("format_version", 1)
               .string("tool", tool_text())
               .string("model", plan.model)
               .string("mode", plan.mode)
               .raw("mesh", print_mesh(plan.mesh))
               .raw("tensors", json_lines(tensors, 2))
               .text() +
           "\n";
}

} // namespace shard
