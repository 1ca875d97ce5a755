#include "planner/graph_text/graph_text.h"

#include "planner/graph/op_def.h"
#include "planner/graph_text/collective_words.h"
#include "planner/graph_text/op_kernel.h"
#include "plans/file/plan_json_kernel.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/file/plan_json_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

// "~" stands for a name that is not there.
std::string names_text(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + (name.empty() ? "~" : name);
    return fmt::format("[{}]", text);
}

std::string attribute_text(const AttributeValue& value) {
    const auto listed = [](const auto& values) { return fmt::format("[{}]", fmt::join(values, ", ")); };
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const i64* integer = std::get_if<i64>(&value)) return fmt::format("{}", *integer);
    if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const std::string* text = std::get_if<std::string>(&value)) return json_string(*text);
    if (const std::vector<i64>* integers = std::get_if<std::vector<i64>>(&value)) return listed(*integers);
    if (const std::vector<double>* numbers = std::get_if<std::vector<double>>(&value)) return listed(*numbers);
    return names_text(std::get<std::vector<std::string>>(value));
}

// As plans/sharding/sharding.h has it, of what is not resolved yet.
std::string spec_words(const ShardingSpec& spec) {
    std::vector<std::string> dims;
    for (const DimSpec& dim : spec.dims) {
        std::string text = fmt::format("{}{}", fmt::join(dim.axes, ","), dim.open ? "?" : "");
        if (dim.priority != 0) text += fmt::format("@{}", dim.priority);
        dims.push_back(text.empty() ? "-" : text);
    }
    const std::string replicated =
        spec.replicated.empty() ? "" : fmt::format(" R{{{}}}", fmt::join(spec.replicated, ","));
    return fmt::format("[{}]{}", fmt::join(dims, " | "), replicated);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view reduce_name(GradientReduce reduce) { return reduce == GradientReduce::each ? "each" : "end"; }

std::string mesh_words(const Mesh& mesh) {
    std::string text;
    for (const MeshAxis& axis : mesh.axes)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", axis.name, axis.size);
    return fmt::format("{{{}}}", text);
}

class GraphWriter {
public:
    GraphWriter(const GraphState& state, const GraphTextOptions& options)
        : state_(state), graph_(state.graph), options_(options) {
        if (!options.details) return;
        kept_.resize(graph_.values.size());
        for (ValueId id : state.value_of)
            if (id >= 0) kept_[id] = true;
    }

    std::string write() {
        const std::vector<MeshAxis>& axes = state_.mesh.axes;
        const bool has_links =
            std::any_of(axes.begin(), axes.end(), [](const MeshAxis& axis) { return !axis.link.empty(); });
        JsonObject mesh;
        if (has_links || !state_.mesh.device_ids.empty()) mesh.raw("mesh", print_mesh(state_.mesh));
        line(fmt::format("{}graph on {}", state_.is_local ? "local " : "", mesh_words(state_.mesh)), {}, mesh);
        for (size_t r = 0; r < graph_.regions.size(); ++r) region(r);
        for (ValueId id : graph_.inputs) input(id);
        for (size_t n = 0; n < graph_.nodes.size(); ++n) node(n);
        for (size_t o = 0; o < graph_.outputs.size(); ++o) output(o);
        if (graph_.loss >= 0) line(fmt::format("loss    {}", name(graph_.loss)), {});
        for (const Update& update : graph_.updates)
            line(fmt::format("update  {} = {}", name(update.input), name(update.output)), {});
        return std::move(out_);
    }

private:
    const std::string& name(ValueId id) const { return graph_.value(id).name; }

    std::string names(const std::vector<ValueId>& ids) const {
        std::string text;
        for (ValueId id : ids) text += (text.empty() ? "" : ", ") + name(id);
        return text;
    }

    std::string source_text(const Span& span) const {
        if (options_.sources == nullptr || !span.known()) return "";
        return fmt::format("{}:{}", file_name(options_.sources->name(span.file)), span.line);
    }

    void line(const std::string& text, const Span& span, const JsonObject& details = {}) {
        out_.append(2 * depth_, ' ') += text;
        if (const std::string source = source_text(span); !source.empty()) out_ += "  # " + source;
        out_ += '\n';
        if (options_.details && details.text() != "{}")
            out_.append(2 * depth_ + 2, ' ') += "| " + details.text() + "\n";
    }

    std::string placed(std::string_view word, const std::vector<std::optional<Sharding>>& shardings, size_t at) const {
        return at < shardings.size() && shardings[at] ? fmt::format("{}{}", word, text(state_.mesh, *shardings[at]))
                                                      : "";
    }

    std::string sharding_text(ValueId id) const {
        if (!state_.is_local) return placed(" ", state_.shardings, id);
        const Sharding& sharding = graph_.value(id).part->sharding;
        return sharding.dims.empty() && sharding.partial.empty() ? "" : " " + text(state_.mesh, sharding);
    }

    // "w: f32 (embed: 4, hidden: 2) of (4, 8) [- | model]"
    std::string typed(ValueId id) const {
        const Value& value = graph_.value(id);
        std::string dims;
        for (size_t d = 0; d < value.type.shape.size(); ++d) {
            const std::string label = d < value.type.logical.size() ? value.type.logical[d] : "";
            dims += fmt::format("{}{}{}{}", d > 0 ? ", " : "", label, label.empty() ? "" : ": ", value.type.shape[d]);
        }
        std::string whole;
        if (state_.is_local && value.part->global_shape != value.type.shape)
            whole = " of " + shape_text(value.part->global_shape);
        std::string varying;
        // Of a region a local graph knows nothing any more.
        for (int axis : state_.is_local ? std::vector<int>() : value.varying)
            varying += (varying.empty() ? " varying over " : ", ") + state_.mesh.axes[axis].name;
        return fmt::format("{}: {} ({}){}{}{}", value.name, shard::name(value.type.dtype), dims, whole,
                           sharding_text(id), varying);
    }

    JsonObject value_details(ValueId id) const {
        const Value& value = graph_.value(id);
        JsonObject object;
        if (value.producer >= 0 && value.role != Role::value) object.string("role", shard::name(value.role));
        if (value.producer >= 0 && value.of >= 0) object.string("of", name(value.of));
        object.integer_unless(0, "stacked", value.stacked);
        if (!state_.is_local) object.integer_unless(-1, "region", value.region);
        return object.flag_if("kept", !kept_.empty() && kept_[id]).flag_if("on_host", value.on_host);
    }

    void region(size_t r) {
        const GraphRegion& region = graph_.regions[r];
        JsonObject details;
        if (!region.scope.empty()) details.string("scope", region.scope);
        line(fmt::format("region {}: manual over {}{}", r, fmt::join(region.names, ", "),
                         region.check ? "" : "; unchecked"),
             region.span, details);
    }

    void input(ValueId id) {
        const Value& value = graph_.value(id);
        std::string init;
        JsonObject details = value_details(id);
        if (value.init) {
            if (const Fill* fill = std::get_if<Fill>(&value.init->source))
                init = fmt::format(" = {}", fill->value.value);
            else
                details.raw("init", print_generate(state_.mesh, *value.init));
            if (const Random* random = std::get_if<Random>(&value.init->source))
                init = " = " + to_text(random->distribution);
            if (std::holds_alternative<Literal>(value.init->source)) init = " = values";
            if (const Iota* iota = std::get_if<Iota>(&value.init->source))
                init = fmt::format(" = iota over dim {}", iota->dim);
        }
        const std::string of = value.of >= 0 ? fmt::format(", of {}", name(value.of)) : "";
        line(fmt::format("{:<7} {}{}{}", shard::name(value.role), typed(id), init, of), value.span, details);
    }

    void output(size_t o) {
        const ValueId id = graph_.outputs[o];
        const std::string& called = graph_.output_names[o];
        // Where it is returned as it is made, that goes without saying.
        const bool as_made = o < state_.outputs.size() && static_cast<size_t>(id) < state_.shardings.size() &&
                             state_.outputs[o] == state_.shardings[id];
        line(fmt::format("output  {}{}{}", called, called == name(id) ? "" : " = " + name(id),
                         as_made ? "" : placed(" as ", state_.outputs, o)),
             {});
    }

    void node(size_t n) {
        const Node& node = graph_.nodes[n];
        if (node.opens() >= 0) return open(node);
        if (node.closes() >= 0) return close(node);
        const ValueId made = node.outputs.at(0);
        JsonObject details = value_details(made);
        std::string text = fmt::format("{} = {}", typed(made), does(node, details));
        text += arguments(node) + placed(" as ", state_.constraints, n) + notes(node);
        place_details(node, details);
        const std::string named = source_text(graph_.value(made).span);
        if (named != source_text(node.span)) details.string("named", named);
        if (node.reshard() != nullptr && !node.reshard()->reason.remedy.empty())
            details.string("remedy", node.reshard()->reason.remedy);
        line(text, node.span, details);
    }

    static void place_details(const Node& node, JsonObject& details) {
        if (!node.scope.empty()) details.string("scope", node.scope);
        details.integer_unless(-1, "origin", node.origin);
    }

    std::string does(const Node& node, JsonObject& details) const {
        const std::string operands = node.inputs.empty() ? "" : " " + names(node.inputs);
        if (const Collective* const collective = node.collective()) {
            const std::string words = shard::text(state_.mesh, *collective);
            if (parse_collective(state_.mesh, words) != *collective)
                details.raw("exchange", print_collective(state_.mesh, *collective));
            return words + " of" + operands;
        }
        const Value& result = graph_.value(node.outputs[0]);
        const std::optional<Kernel> follows =
            !state_.is_local ? std::nullopt
            : node.op() == nullptr
                ? move_kernel(graph_.value(node.inputs[0]), result)
                : op_kernel(graph_, state_.mesh, *node.op(), node.attributes(), node.inputs, node.outputs[0]);
        const bool is_usual = node.kernel() == nullptr || (follows && *follows == *node.kernel());
        if (!is_usual) details.raw("kernel", print_kernel(state_.mesh, *node.kernel()));
        if (node.op() == nullptr)
            return (graph_.value(node.inputs[0]).type == result.type ? "copy of" : "block of") + operands;
        const Pointwise* const program = is_usual ? nullptr : program_of(*node.kernel());
        std::vector<std::string> steps, constants;
        for (const ScalarStep& step : program == nullptr ? std::vector<ScalarStep>() : program->steps) {
            if (step.op == ScalarOp::input) continue;
            const bool is_constant = step.op == ScalarOp::constant;
            (is_constant ? constants : steps)
                .push_back(is_constant ? fmt::format("{}", step.value.value) : std::string(shard::name(step.op)));
        }
        if (program != nullptr && std::holds_alternative<Reduce>(*node.kernel())) steps.emplace_back(node.op()->name);
        const bool is_fused = steps.size() > 1;
        if (is_fused) details.string("op", node.op()->name);
        return fmt::format("{}{}{}{}", is_fused ? fmt::format("fused {}", fmt::join(steps, "+")) : node.op()->name,
                           operands, constants.empty() ? "" : " with ", fmt::join(constants, ", "));
    }

    static std::string arguments(const Node& node) {
        std::vector<std::string> parts;
        if (node.reshard() != nullptr && node.reshard()->gather_phase)
            parts.push_back("gather: " + json_string(shard::name(*node.reshard()->gather_phase)));
        for (const auto& [key, value] : node.attributes().entries())
            parts.push_back(fmt::format("{}: {}", key, attribute_text(value)));
        const Asked& asked = node.asked();
        if (!asked.logical.empty()) parts.push_back("to: " + names_text(asked.logical));
        if (asked.mesh) parts.push_back("sharding: " + spec_words(*asked.mesh));
        if (asked.border) parts.push_back("border: " + spec_words(*asked.border));
        return parts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(parts, ", "));
    }

    static std::string notes(const Node& node) {
        std::string text;
        if (!node.gradient_of.empty()) text += fmt::format("; gradient of {}", node.gradient_of);
        if (node.pattern) text += "; pattern";
        if (node.remat >= 0) text += fmt::format("; remat {}", node.remat);
        if (node.reshard() != nullptr && !node.reshard()->reason.cause.empty())
            text += fmt::format("; because {}", node.reshard()->reason.cause);
        return text;
    }

    static std::string loop_name(const GraphLoop& loop) { return loop.scope.empty() ? "microbatches" : loop.scope; }

    void open(const Node& node) {
        const GraphLoop& loop = graph_.loops[node.opens()];
        JsonObject details;
        place_details(node, details);
        line(fmt::format("loop {}: {}, {} trips{}", node.opens(), loop_name(loop), loop.trips,
                         loop.reverse ? ", reverse" : ""),
             loop.span, details);
        ++depth_;
        for (const GraphLoop::Carried& carried : loop.carried)
            line(fmt::format("carry {} = {}", typed(carried.argument), name(carried.init)),
                 graph_.value(carried.argument).span, value_details(carried.argument));
    }

    void close(const Node& node) {
        const GraphLoop& loop = graph_.loops[node.closes()];
        --depth_;
        JsonObject details;
        place_details(node, details);
        line(fmt::format("end {}", loop_name(loop)), node.span, details);
        ++depth_;
        for (const GraphLoop::Carried& carried : loop.carried)
            line(fmt::format("{} = yield {}", typed(carried.result), name(carried.yield)),
                 graph_.value(carried.result).span, value_details(carried.result));
        for (const GraphLoop::Sum& sum : loop.sums) {
            JsonObject of_sum = value_details(sum.result);
            if (sum.reduce != GradientReduce::automatic) of_sum.string("reduce", reduce_name(sum.reduce));
            if (sum.becomes >= 0) of_sum.string("becomes", name(sum.becomes));
            line(fmt::format("{} = sum {}", typed(sum.result), name(sum.term)), graph_.value(sum.result).span, of_sum);
        }
        for (const GraphLoop::Stack& stack : loop.stacks)
            line(fmt::format("{} = stack {}", typed(stack.result), name(stack.slice)), graph_.value(stack.result).span,
                 value_details(stack.result));
        --depth_;
    }

    const GraphState& state_;
    const Graph& graph_;
    const GraphTextOptions& options_;
    std::vector<bool> kept_; // local values that stand for global ones
    std::string out_;
    size_t depth_ = 0;
};

} // namespace

std::string graph_text(const GraphState& state, const GraphTextOptions& options) {
    return GraphWriter(state, options).write();
}

} // namespace shard
