#include "planner/graph/graph_text.h"

#include "planner/graph/op_def.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

std::string attribute_text(const AttributeValue& value) {
    const auto listed = [](const auto& values) { return fmt::format("[{}]", fmt::join(values, ", ")); };
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const i64* integer = std::get_if<i64>(&value)) return fmt::format("{}", *integer);
    if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const std::string* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
    if (const std::vector<i64>* integers = std::get_if<std::vector<i64>>(&value)) return listed(*integers);
    if (const std::vector<double>* numbers = std::get_if<std::vector<double>>(&value)) return listed(*numbers);
    return listed(std::get<std::vector<std::string>>(value));
}

std::string axes_words(const std::vector<std::string>& axes) {
    return axes.size() == 1 ? axes[0] : fmt::format("[{}]", fmt::join(axes, ", "));
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class GraphWriter {
public:
    GraphWriter(const Graph& graph, const GraphTextOptions& options) : graph_(graph), options_(options) {}

    std::string write() {
        for (size_t r = 0; r < graph_.regions.size(); ++r) {
            const GraphRegion& region = graph_.regions[r];
            line(fmt::format("region {}: manual over {}{}", r, axes_words(region.names),
                             region.check ? "" : ", unchecked"),
                 region.span);
        }
        for (ValueId id : graph_.inputs) input(id);
        for (const Node& node : graph_.nodes) this->node(node);
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

    void line(const std::string& text, const Span& span) {
        out_.append(2 * depth_, ' ') += text;
        if (options_.sources != nullptr && span.known())
            out_ += fmt::format("  # {}:{}", file_name(options_.sources->name(span.file)), span.line);
        out_ += '\n';
    }

    std::string sharding_text(ValueId id) const {
        const Value& value = graph_.value(id);
        if (options_.mesh == nullptr) return "";
        if (!value.part.sharding.dims.empty() || !value.part.sharding.partial.empty())
            return " " + text(*options_.mesh, value.part.sharding);
        if (options_.shardings == nullptr || static_cast<size_t>(id) >= options_.shardings->size()) return "";
        const std::optional<Sharding>& sharding = (*options_.shardings)[id];
        return sharding ? " " + text(*options_.mesh, *sharding) : "";
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
        if (!value.part.global_shape.empty() && value.part.global_shape != value.type.shape)
            whole = " of " + shape_text(value.part.global_shape);
        std::string varying;
        if (!value.varying.empty() && value.region >= 0) {
            for (int axis : value.varying)
                varying += (varying.empty() ? "" : ", ") +
                           (options_.mesh != nullptr ? options_.mesh->axes[axis].name : fmt::format("{}", axis));
            varying = fmt::format(" varying over {}", varying);
        }
        return fmt::format("{}: {} ({}){}{}{}", value.name, shard::name(value.type.dtype), dims, whole,
                           sharding_text(id), varying);
    }

    void input(ValueId id) {
        const Value& value = graph_.value(id);
        std::string init;
        if (value.init) {
            if (const Fill* fill = std::get_if<Fill>(&value.init->source)) init = fmt::format(" = {}", fill->value);
            if (const Random* random = std::get_if<Random>(&value.init->source))
                init = " = " + to_text(random->distribution);
            if (std::holds_alternative<Literal>(value.init->source)) init = " = values";
            if (const Iota* iota = std::get_if<Iota>(&value.init->source))
                init = fmt::format(" = iota over dim {}", iota->dim);
        }
        const std::string of = value.of >= 0 ? fmt::format(", of {}", name(value.of)) : "";
        line(fmt::format("{:<8}{}{}{}", shard::name(value.role), typed(id), init, of), value.span);
    }

    void output(size_t o) {
        const ValueId id = graph_.outputs[o];
        const std::string called = o < graph_.output_names.size() ? graph_.output_names[o] : name(id);
        line(called == name(id) ? fmt::format("output  {}", called) : fmt::format("output  {} = {}", called, name(id)),
             {});
    }

    void node(const Node& node) {
        if (node.opens() >= 0) return open(node);
        if (node.closes() >= 0) return close(node);
        std::string results;
        for (ValueId id : node.outputs) results += (results.empty() ? "" : ", ") + typed(id);
        std::string text = fmt::format("{} = {}", results, does(node));
        if (!node.inputs.empty()) text += " " + names(node.inputs);
        text += arguments(node) + notes(node);
        line(text, node.span);
    }

    std::string does(const Node& node) const {
        if (node.collective()) {
            const std::string words = options_.mesh != nullptr ? shard::text(*options_.mesh, *node.collective())
                                                               : std::string(node.collective()->def->name);
            return words + " of";
        }
        if (node.op() == nullptr)
            return graph_.value(node.inputs[0]).type == graph_.value(node.outputs[0]).type ? "copy" : "slice";
        const Pointwise* const pointwise = node.kernel() ? std::get_if<Pointwise>(node.kernel()) : nullptr;
        if (pointwise == nullptr) return std::string(node.op()->name);
        std::vector<std::string_view> steps;
        for (const ScalarStep& step : pointwise->steps)
            if (step.op != ScalarOp::input && step.op != ScalarOp::constant) steps.push_back(shard::name(step.op));
        return steps.size() < 2 ? std::string(node.op()->name) : fmt::format("fused {}", fmt::join(steps, "+"));
    }

    std::string arguments(const Node& node) const {
        std::string text;
        if (node.reshard() != nullptr && !node.reshard()->gather_pass.empty())
            text = fmt::format("gather: \"{}\"", node.reshard()->gather_pass);
        for (const auto& [key, value] : node.attributes().entries)
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, attribute_text(value));
        if (!node.asked().logical.empty())
            text += fmt::format("{}to: [{}]", text.empty() ? "" : ", ", fmt::join(node.asked().logical, ", "));
        if (node.asked().mesh) text += (text.empty() ? "mesh: " : ", mesh: ") + spec_words(*node.asked().mesh);
        if (node.asked().border)
            text += (text.empty() ? "border: " : ", border: ") + spec_words(*node.asked().border);
        return text.empty() ? "" : fmt::format(" {{{}}}", text);
    }

    static std::string spec_words(const ShardingSpec& spec) {
        std::string text;
        for (const DimSpec& dim : spec.dims)
            text += (text.empty() ? "" : ", ") + (dim.axes.empty() ? (dim.open ? "\"?\"" : "~") : axes_words(dim.axes));
        return fmt::format("[{}]", text);
    }

    std::string notes(const Node& node) const {
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
        line(fmt::format("loop {}, {} trips{}", loop_name(loop), loop.trips, loop.reverse ? ", reverse" : ""),
             loop.span);
        ++depth_;
        for (const GraphLoop::Carried& carried : loop.carried)
            line(fmt::format("carry {} = {}", typed(carried.argument), name(carried.init)), {});
    }

    void close(const Node& node) {
        const GraphLoop& loop = graph_.loops[node.closes()];
        --depth_;
        line(fmt::format("end {}", loop_name(loop)), {});
        ++depth_;
        for (const GraphLoop::Carried& carried : loop.carried)
            line(fmt::format("{} = yield {}", typed(carried.result), name(carried.yield)), {});
        for (const GraphLoop::Sum& sum : loop.sums)
            line(fmt::format("{} = sum {}", typed(sum.result), name(sum.term)), {});
        for (const GraphLoop::Stack& stack : loop.stacks)
            line(fmt::format("{} = stack {}", typed(stack.result), name(stack.slice)), {});
        --depth_;
    }

    const Graph& graph_;
    const GraphTextOptions& options_;
    std::string out_;
    size_t depth_ = 0;
};

} // namespace

std::string graph_text(const Graph& graph, const GraphTextOptions& options) {
    return GraphWriter(graph, options).write();
}

} // namespace shard
