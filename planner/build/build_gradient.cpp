#include "planner/build/build_gradient.h"

#include "planner/grad/gradient_pattern.h"
#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

std::string type_text(const TensorType& type) { return fmt::format("{} {}", name(type.dtype), shape_text(type.shape)); }

class GradientBuilder {
public:
    GradientBuilder(const DeclaredGradient& build, std::vector<ValueId> outputs)
        : build_(build), decl_(*build.module.gradient), builder_(build.builder), graph_(build.builder.graph()),
          diagnostics_(build.builder.diagnostics()) {
        call_.operands = build.operands;
        call_.results = std::move(outputs);
        call_.first = build.first;
    }

    BuiltValues run() {
        if (!check_parameters()) return std::nullopt;
        own_results();
        call_.last = static_cast<NodeId>(graph_.nodes.size());
        const size_t aliases = graph_.aliases.size();
        builder_.set_pattern(true);
        Scope scope(build_.scope, "grad", decl_.graph);
        const bool good = bind_given(scope) && build_.run(scope, decl_.graph) && take_gives(scope);
        builder_.set_pattern(false);
        // Nobody but copies of the pattern has these names.
        call_.names.insert(call_.names.end(), graph_.aliases.begin() + static_cast<std::ptrdiff_t>(aliases),
                           graph_.aliases.end());
        graph_.aliases.resize(aliases);
        if (!good) return std::nullopt;
        graph_.calls.push_back(call_);
        return call_.results;
    }

private:
    // Parameters of modules within could never be trained: they are none of the operands.
    bool check_parameters() {
        for (size_t n = build_.inputs; n < graph_.inputs.size(); ++n) {
            const Value& parameter = graph_.value(graph_.inputs[n]);
            if (!is_floating(parameter.type.dtype)) continue;
            diagnostics_
                .error(
                    "E0244", decl_.span,
                    fmt::format("the gradient of module '{}' cannot give that of '{}', a parameter of a module within",
                                build_.module.name.text, parameter.name))
                .label(parameter.span, "the parameter")
                .help(fmt::format("declare it in '{}', and let the inner module take it as an input",
                                  build_.module.name.text));
            return false;
        }
        return true;
    }

    // The gradient of a result reaches the call and nothing else, so no value of somebody else is one, nor one of which
    // its readers have copies, nor, in a manual region, one that is written out once for several devices.
    void own_results() {
        std::set<ValueId> seen;
        for (size_t n = 0; n < call_.results.size(); ++n) {
            ValueId& result = call_.results[n];
            const Value value = graph_.value(result);
            const bool made_here = value.producer >= call_.first && seen.insert(result).second;
            const OpDef* op = made_here ? graph_.node(value.producer).op() : nullptr;
            if (made_here && value.region < 0 && !(op != nullptr && op->duplicate_per_use)) continue;
            const Name& output = build_.module.outputs[n];
            result = copy_of(result, build_.scope, output);
            builder_.rename(result, builder_.unique_name(build_.scope.full(output.text), "#"), output.span);
        }
    }

    ValueId copy_of(ValueId id, const Scope& scope, const Name& name) {
        const TensorType type = builder_.type(id);
        builder_.set_place({scope.path(), scope.full(name.text), name.span, {}, {}});
        const std::optional<ValueId> copy = builder_.emit("reshape", {id}, shape_of(type.shape, type.logical));
        internal_check(copy.has_value(), "a copy was refused");
        return *copy;
    }

    const GradientDecl::Pair* given_for(const Name& output) const {
        for (const GradientDecl::Pair& pair : decl_.given)
            if (pair.of.text == output.text) return &pair;
        return nullptr;
    }

    bool bind_given(Scope& scope) {
        bool good = true;
        for (size_t n = 0; n < call_.results.size(); ++n) {
            const Name& output = build_.module.outputs[n];
            const GradientDecl::Pair* pair = given_for(output);
            const ValueId result = call_.results[n];
            const bool floating = is_floating(builder_.type(result).dtype);
            if (floating && pair != nullptr) {
                const bool used = builder_.is_used(result);
                builder_.set_place({scope.path(), scope.full(pair->value.text), pair->value.span, {}, {}});
                const std::optional<ValueId> given = builder_.emit("stop_gradient", {result});
                internal_check(given.has_value(), "a gradient could not be given");
                builder_.mark_used(result, used); // only by others
                builder_.rename(*given, builder_.unique_name(scope.full(pair->value.text), "#"), pair->value.span);
                scope.bind(pair->value.text, *given);
                call_.given.push_back(*given);
                continue;
            }
            call_.given.push_back(-1);
            good = good && !floating && pair == nullptr;
            if (floating)
                diagnostics_
                    .error("E0244", decl_.span,
                           fmt::format("given: the output '{}' of module '{}' is missing", output.text,
                                       build_.module.name.text))
                    .label(output.span, "the output")
                    .help(fmt::format("write given: {{{}: NAME}}, also if the name is not used", output.text));
            else if (pair != nullptr)
                diagnostics_
                    .error("E0244", pair->of.span,
                           fmt::format("'{}' is {}: only floating-point values have gradients", output.text,
                                       type_text(builder_.type(result))))
                    .help("leave it out of `given`");
        }
        return good;
    }

    // The operand's position, or none: the reader has reported it.
    std::optional<size_t> operand_of(const Name& name) const {
        size_t n = 0;
        for (const Name& input : build_.module.inputs) {
            if (input.text == name.text) return n;
            ++n;
        }
        for (const TensorDecl& param : build_.module.params) {
            if (param.array.name.text == name.text) return n;
            ++n;
        }
        return std::nullopt;
    }

    bool take_gives(const Scope& scope) {
        call_.gives.assign(call_.operands.size(), -1);
        bool good = true;
        for (const GradientDecl::Pair& pair : decl_.gives) {
            const std::optional<size_t> operand = operand_of(pair.of);
            internal_check(operand.has_value(), "a gradient of nothing");
            const ValueId gradient = take(scope, pair, call_.operands[*operand]).value_or(poisoned);
            good = good && gradient != poisoned;
            call_.gives[*operand] = gradient;
        }
        return good;
    }

    std::optional<ValueId> take(const Scope& scope, const GradientDecl::Pair& pair, ValueId operand) {
        const std::optional<ValueId> found = scope.find(pair.value.text, graph_);
        if (!found) scope.report_unknown(pair.value, graph_, diagnostics_);
        if (!found || *found == poisoned) return std::nullopt;
        const TensorType of = builder_.type(operand), type = builder_.type(*found);
        if (!is_floating(of.dtype)) {
            diagnostics_
                .error(
                    "E0244", pair.of.span,
                    fmt::format("'{}' is {}: only floating-point values have gradients", pair.of.text, type_text(of)))
                .label(graph_.value(operand).span, "what it is here")
                .help("leave it out of `gives`");
            return std::nullopt;
        }
        if (of.dtype != type.dtype || of.shape != type.shape) {
            diagnostics_
                .error("E0244", pair.value.span,
                       fmt::format("'{}' is {}, and '{}', whose gradient it is to be, is {}", pair.value.text,
                                   type_text(type), pair.of.text, type_text(of)))
                .label(graph_.value(operand).span, fmt::format("'{}' here", pair.of.text))
                .help("a gradient has the shape and the element type of what it is the gradient of; sum what was "
                      "broadcast, and cast");
            return std::nullopt;
        }
        // A copy has names of its own, and a value of the forward pass keeps its.
        const ValueId own = is_of_pattern(graph_, *found) ? *found : copy_of(*found, scope, pair.value);
        builder_.mark_used(own);
        call_.names.emplace_back(graph_.value(own).name, own);
        builder_.set_place({scope.path(), scope.full(pair.value.text), pair.value.span, {}, {}});
        return varying_like(builder_, own, operand);
    }

    const DeclaredGradient& build_;
    const GradientDecl& decl_;
    Builder& builder_;
    Graph& graph_;
    Diagnostics& diagnostics_;
    Call call_;
};

} // namespace

DeclaredGradient::DeclaredGradient(Builder& made_by, const ModuleDecl& called, const Scope& seen)
    : builder(made_by), module(called), scope(seen), first(static_cast<NodeId>(made_by.graph().nodes.size())),
      inputs(made_by.graph().inputs.size()) {
    const auto bound = [&](const Name& name) { return scope.find(name.text, builder.graph()).value_or(poisoned); };
    for (const Name& input : module.inputs) operands.push_back(bound(input));
    for (const TensorDecl& param : module.params) operands.push_back(bound(param.array.name));
}

BuiltValues declare_gradient(const DeclaredGradient& build, std::vector<ValueId> outputs) {
    return GradientBuilder(build, std::move(outputs)).run();
}

bool refuse_in_gradient(const std::string& what, Span span, Diagnostics& diagnostics) {
    diagnostics.error("E0245", span, fmt::format("{} in the gradient that a module declares", what))
        .help("there, modules without parameters and without a gradient of their own can be called, and repeated "
              "without `scan`");
    return false;
}

} // namespace shard
