// `updates` of a model and of its modules: what of the inputs a step leaves otherwise, without a gradient.
#include "planner/build/model_builder.h"
#include "planner/graph/chain.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

bool ModelBuilder::note_updates(const Scope& scope, const std::vector<UpdateDecl>& updates) {
    const auto refuse = [&](Span span, std::string message, std::string help) {
        diagnostics_.error("E0247", span, std::move(message)).help(std::move(help));
        return false;
    };
    bool ok = true;
    for (const UpdateDecl& update : updates) {
        const BuiltValues value = scope.find_all({update.value}, graph_, diagnostics_);
        ok = ok && value;
        if (!value) continue;
        if (region_ >= 0 || builder_.pattern())
            return refuse(update.input.span,
                          fmt::format("'{}' is updated in a manual region, or in a gradient", update.input.text),
                          "what a module updates is a value of the whole mesh: call it outside");
        const std::string name = scope.full(update.input.text);
        const std::vector<ValueId>::const_iterator input = std::find_if(
            graph_.inputs.begin(), graph_.inputs.end(), [&](ValueId id) { return graph_.value(id).name == name; });
        if (input == graph_.inputs.end()) {
            ok = refuse(update.input.span, fmt::format("there is no input '{}' to update", update.input.text),
                        "an update is `input: value`, the value that the input, variable or parameter holds after a "
                        "step; a module updates its own");
            continue;
        }
        TensorType before = builder_.type(*input);
        before.shape.erase(before.shape.begin(),
                           before.shape.begin() + static_cast<std::ptrdiff_t>(open_scans_.size())); // of a layer
        const TensorType& after = builder_.type(value->front());
        if (before.dtype != after.dtype || before.shape != after.shape) {
            ok = refuse(update.value.span,
                        fmt::format("'{}' is {} {}, and '{}' is {} {}", update.value.text, shard::name(after.dtype),
                                    shape_text(after.shape), update.input.text, shard::name(before.dtype),
                                    shape_text(before.shape)),
                        "an update keeps the type of what it updates");
            continue;
        }
        const auto is_same = [&](const NotedUpdate& other) { return other.updated == *input; };
        if (std::find(graph_.output_names.begin(), graph_.output_names.end(), name) != graph_.output_names.end() ||
            std::any_of(updates_.begin(), updates_.end(), is_same)) {
            ok = refuse(update.input.span, fmt::format("'{}' is an output too, or is updated twice", update.input.text),
                        "what is updated is returned under its name; give the output another");
            continue;
        }
        // Each lands in the bytes of its own input, and is of the layer that is built.
        ValueId made = value->front();
        const bool is_taken =
            std::any_of(updates_.begin(), updates_.end(), [&](const NotedUpdate& other) { return other.made == made; });
        if (is_taken || graph_.value(made).producer < 0 || graph_.value(made).loop != builder_.loop()) {
            builder_.set_place({"", builder_.unique_name(name + ".new", "#"), update.value.span, {}, {}});
            const BuiltValues copy = builder_.emit_all("reshape", {made}, attributes_of({{"shape", before.shape}}));
            if (!copy) return false;
            made = copy->front();
        }
        builder_.mark_used(made);
        updates_.push_back({update.input, *input, made});
    }
    return ok;
}

// A step returns what its inputs hold next under their names, behind all else.
void ModelBuilder::return_updates() {
    for (const NotedUpdate& update : updates_) {
        graph_.updates.push_back({update.updated, update.made});
        graph_.outputs.push_back(update.made);
        graph_.output_names.push_back(graph_.value(update.updated).name);
    }
}

} // namespace shard
