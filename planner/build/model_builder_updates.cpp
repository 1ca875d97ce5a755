// `updates` of a model: a step that is written by hand.
#include "planner/build/model_builder.h"
#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

// A step by hand returns what its inputs hold next under their names, as one of `train` does.
bool ModelBuilder::run_updates(Scope& scope, bool training) {
    const auto refuse = [&](Span span, std::string message, std::string help) {
        diagnostics_.error("E0247", span, std::move(message)).help(std::move(help));
        return false;
    };
    bool ok = true;
    for (const UpdateDecl& update : model_.updates) {
        if (training)
            return refuse(update.input.span, "`updates` are a step by hand, and --mode train makes its own",
                          "plan it with --mode forward, or remove the updates");
        const BuiltValues value = scope.find_all({update.value}, graph_, diagnostics_);
        ok = ok && value;
        if (!value) continue;
        const std::vector<ValueId>::const_iterator input =
            std::find_if(graph_.inputs.begin(), graph_.inputs.end(),
                         [&](ValueId id) { return graph_.value(id).name == update.input.text; });
        if (input == graph_.inputs.end()) {
            ok = refuse(update.input.span, fmt::format("there is no input '{}' to update", update.input.text),
                        "an update is `input: value`, the value that the input holds after a step");
            continue;
        }
        const TensorType &before = builder_.type(*input), &after = builder_.type(value->front());
        if (before.dtype != after.dtype || before.shape != after.shape) {
            ok = refuse(update.value.span,
                        fmt::format("'{}' is {} {}, and '{}' is {} {}", update.value.text, name(after.dtype),
                                    shape_text(after.shape), update.input.text, name(before.dtype),
                                    shape_text(before.shape)),
                        "an update keeps the type of what it updates");
            continue;
        }
        if (std::find(graph_.output_names.begin(), graph_.output_names.end(), update.input.text) !=
            graph_.output_names.end()) {
            ok = refuse(update.input.span, fmt::format("'{}' is an output too", update.input.text),
                        "what is updated is returned under its name; give the output another");
            continue;
        }
        // Each lands in the bytes of its own input.
        ValueId made = value->front();
        const bool is_taken = std::any_of(graph_.updates.begin(), graph_.updates.end(),
                                          [&](const Update& other) { return other.output == made; });
        if (is_taken || graph_.value(made).producer < 0) {
            builder_.set_place({"", builder_.unique_name(update.input.text + ".new", "#"), update.value.span, {}, {}});
            const BuiltValues copy = builder_.emit_all("reshape", {made}, attributes_of({{"shape", before.shape}}));
            if (!copy) return false;
            made = copy->front();
        }
        builder_.mark_used(made);
        graph_.updates.push_back({*input, made});
        graph_.outputs.push_back(made);
        graph_.output_names.push_back(update.input.text);
    }
    return ok;
}

} // namespace shard
