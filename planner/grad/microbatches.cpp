#include "planner/grad/microbatches.h"

#include "planner/graph/chain.h"
#include "planner/model/axis_arithmetic.h"
#include "plans/base/index_of.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::string microbatch_axis(const Model& model) {
    if (!model.train->microbatch_axis.empty()) return model.train->microbatch_axis;
    for (const TensorDecl& input : model.inputs)
        if (!input.array.logical.empty()) return input.array.logical[0];
    return "";
}

std::optional<Model> model_of_microbatch(const Model& model, Diagnostics& diagnostics) {
    const TrainDecl& train = *model.train;
    const std::string axis = microbatch_axis(model);
    const AxisDecl* decl = model.find_axis(axis);
    // Without being told, only what all inputs or a target begin with is sure to be the batch.
    const auto begins_with_axis = [&](const TensorDecl& tensor) {
        return !tensor.array.logical.empty() && tensor.array.logical[0] == axis;
    };
    const bool is_sure = !train.microbatch_axis.empty() ||
                         std::any_of(train.targets.begin(), train.targets.end(), begins_with_axis) ||
                         std::all_of(model.inputs.begin(), model.inputs.end(), begins_with_axis);
    if (decl == nullptr || !is_sure) {
        diagnostics.error("E0220", train.microbatches_span, "it is not said which axis the microbatches share")
            .help("name the first dim of an input by a logical axis, or write microbatches: {count: 4, axis: batch}");
        return std::nullopt;
    }
    if (decl->size % train.microbatches != 0) {
        std::string divisors;
        for (i64 n = 2; n <= std::min<i64>(decl->size, 1024); ++n)
            if (decl->size % n == 0) divisors += fmt::format("{}{}", divisors.empty() ? "" : ", ", n);
        diagnostics
            .error("E0220", train.microbatches_span,
                   fmt::format("{} = {} cannot be cut into {} microbatches of one size", axis, decl->size,
                               train.microbatches))
            .label(decl->name.span, "declared here")
            .help(divisors.empty() ? "choose another size of the axis"
                                   : fmt::format("these numbers divide it: {}", divisors));
        return std::nullopt;
    }
    Model part = model;
    YamlMap sizes = *model.axes_yaml.map();
    for (YamlEntry& entry : sizes)
        if (entry.key == axis)
            entry.value = {entry.value.span, YamlScalar{fmt::format("{}", decl->size / train.microbatches), false}};
    const int before = diagnostics.error_count();
    part.axes = read_axes({model.axes_yaml.span, std::move(sizes)}, diagnostics);
    if (diagnostics.error_count() > before) return std::nullopt;
    return part;
}

void open_microbatches(Builder& builder, const TrainDecl& train) {
    GraphLoop header;
    header.trips = train.microbatches;
    header.span = train.microbatches_span;
    builder.set_place({"", "microbatch", train.microbatches_span, {}, {}});
    const LoopBuilder loop(builder, header, {});
    internal_check(loop.loop() == microbatch_loop, "the loop over microbatches is the first");
}

ValueId rows_of_microbatch(Builder& builder, ValueId value, const std::vector<std::string>& logical,
                           const std::string& axis) {
    const size_t dim = index_of(logical, axis);
    if (dim == logical.size()) return value;
    const Value whole = builder.graph().value(value);
    builder.set_place({"", whole.name, whole.span, {}, {}});
    const ValueId rows = LoopBuilder(builder, microbatch_loop).rows(value, dim);
    builder.rename(rows, builder.unique_name(whole.name + ".microbatch", "_"), whole.span);
    return rows;
}

std::vector<ValueId> close_microbatches(Builder& builder, const TrainDecl& train,
                                        const std::vector<ValueId>& gradients) {
    Graph& graph = builder.graph();
    std::vector<ValueId> terms;
    std::vector<std::string> names; // of what the terms become
    for (ValueId output : graph.outputs) {
        const Value part = graph.value(output);
        builder.rename(output, builder.unique_name(part.name + ".microbatch", "_"), part.span);
        names.push_back(part.name);
        const auto is_it = [&](const Graph::Quotient& quotient) { return quotient.value == output; };
        const auto quotient = std::find_if(graph.quotients.begin(), graph.quotients.end(), is_it);
        if (quotient == graph.quotients.end()) {
            terms.push_back(output);
            continue;
        }
        terms.push_back(quotient->sum);
        terms.push_back(quotient->count);
    }
    const size_t measures = terms.size();
    terms.insert(terms.end(), gradients.begin(), gradients.end());
    builder.set_place({"", "microbatches", train.microbatches_span, {}, {}});
    const std::vector<ValueId> sums = LoopBuilder(builder, microbatch_loop).close({}, terms, {}).sums;
    GraphLoop& loop = graph.loops[microbatch_loop];
    for (size_t n = measures; n < loop.sums.size(); ++n) loop.sums[n].reduce = train.reduce;

    Chain chain(builder);
    const auto mean = [&](ValueId sum) {
        const double count = static_cast<double>(train.microbatches);
        return is_floating(chain.type(sum).dtype) ? chain("mul", sum, 1.0 / count) : chain("trunc_div", sum, count);
    };
    size_t next = 0;
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
        ValueId& output = graph.outputs[o];
        const auto is_it = [&](const Graph::Quotient& quotient) { return quotient.value == output; };
        const bool divided = std::any_of(graph.quotients.begin(), graph.quotients.end(), is_it);
        builder.set_place({"", names[o], graph.value(output).span, {}, {}});
        const ValueId whole = divided ? chain("div", {sums[next], sums[next + 1]}) : mean(sums[next]);
        next += divided ? 2 : 1;
        builder.rename(whole, names[o], graph.value(output).span);
        if (output == graph.loss) graph.loss = whole;
        for (Update& update : graph.updates) // a variable holds the mean of what the microbatches make of it
            if (update.output == output) update.output = whole;
        output = whole;
    }
    std::vector<ValueId> means;
    for (size_t n = 0; n < gradients.size(); ++n) {
        const Value part = graph.value(gradients[n]);
        const std::string name = part.name.substr(0, part.name.rfind(".microbatch"));
        builder.rename(sums[measures + n], builder.unique_name(name + ".sum", "_"), part.span);
        builder.set_place({"", part.name, part.span, {}, {}});
        means.push_back(mean(sums[measures + n]));
        graph.loops[microbatch_loop].sums[measures + n].becomes = means.back();
    }
    internal_check(chain.ok(), "a mean over microbatches was refused");
    for (ValueId id : graph.outputs) builder.mark_used(id);
    return means;
}

} // namespace shard
