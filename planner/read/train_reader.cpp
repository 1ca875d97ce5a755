#include "planner/read/train_reader.h"

#include "planner/graph/optimizer.h"
#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/read/entry_reader.h"
#include "planner/read/tensor_reader.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view optimizer_help = "write optimizer: {adam: {learning_rate: 1.0e-3}}";

class TrainReader {
public:
    TrainReader(const Yaml& yaml, const EntryContext& context, Diagnostics& diagnostics)
        : yaml_(&yaml), context_(&context), diagnostics_(&diagnostics) {}

    std::optional<TrainDecl> read() {
        const int before = diagnostics_->error_count();
        if (!check_keys(*yaml_, {"targets", "loss", "metrics", "optimizer", "clip", "microbatches", "reduce"}, "train",
                        *diagnostics_))
            return std::nullopt;
        train_.span = yaml_->span;
        for (std::string_view key : {"loss", "optimizer"})
            if (yaml_->find(key) == nullptr)
                diagnostics_->error("E0116", yaml_->span, fmt::format("train has no '{}'", key));
        for (const YamlEntry& entry : *yaml_->map()) read_part(entry);
        if (diagnostics_->error_count() > before) return std::nullopt;
        return std::move(train_);
    }

private:
    void read_part(const YamlEntry& entry) {
        if (entry.key == "targets")
            read_tensors(entry.value, TensorRole::target, *context_, train_.targets, *diagnostics_);
        else if (entry.key == "loss")
            train_.loss = read_measure(entry).value_or(Entry{});
        else if (entry.key == "metrics")
            read_metrics(entry.value);
        else if (entry.key == "optimizer")
            read_optimizer(entry);
        else if (entry.key == "clip")
            read_clip(entry);
        else if (entry.key == "microbatches")
            read_microbatches(entry);
        else if (entry.key == "reduce")
            read_reduce(entry.value);
    }

    // `loss: {mse: [z, label]}`, or `loss: l`, a value of the graph.
    std::optional<Entry> read_measure(const YamlEntry& named) {
        if (named.value.scalar() == nullptr || named.value.is_null())
            return read_entry(named, *context_, *diagnostics_);
        std::optional<std::vector<Name>> value = read_value_names(named.value, named.key, *diagnostics_);
        if (!value) return std::nullopt;
        return Entry{{{named.key, named.key_span}}, {"", named.value.span}, std::move(*value), {}, named.key_span};
    }

    void read_metrics(const Yaml& yaml) {
        if (yaml.map() == nullptr) {
            diagnostics_->error("E0113", yaml.span, fmt::format("metrics: expected a map, found {}", yaml.kind()))
                .help("write metrics: {accuracy: {accuracy: [logits, label]}}");
            return;
        }
        for (const YamlEntry& metric : *yaml.map()) {
            if (!check_name(metric.key, metric.key_span, "a metric", *diagnostics_)) continue;
            if (metric.key == "loss") {
                diagnostics_->error("E0214", metric.key_span, "a metric is called 'loss', as the loss is");
                continue;
            }
            std::optional<Entry> entry = read_measure(metric);
            if (entry) train_.metrics.push_back(std::move(*entry));
        }
    }

    void read_optimizer(const YamlEntry& entry) {
        const YamlMap* map = entry.value.map();
        if (map == nullptr || map->size() != 1) {
            diagnostics_
                ->error(
                    "E0113", entry.value.span,
                    fmt::format("optimizer: expected one optimizer with its arguments, found {}",
                                map == nullptr ? std::string(entry.value.kind()) : fmt::format("{} keys", map->size())))
                .help(std::string(optimizer_help));
            return;
        }
        const YamlEntry& chosen = map->front();
        if (find_optimizer(chosen.key) == nullptr) {
            std::vector<std::string_view> names;
            for (const OptimizerDef* def : all_optimizers()) names.push_back(def->composite.name);
            DiagnosticBuilder error =
                diagnostics_->error("E0217", chosen.key_span, fmt::format("unknown optimizer '{}'", chosen.key));
            error.help(fmt::format("there are {}", fmt::join(names, ", ")));
            suggest(error, chosen.key, names);
            return;
        }
        train_.optimizer.op = {chosen.key, chosen.key_span};
        train_.optimizer.span = entry.key_span;
        if (chosen.value.is_null()) return;
        if (chosen.value.map() == nullptr) {
            diagnostics_
                ->error("E0113", chosen.value.span,
                        fmt::format("the arguments of '{}': expected a map, found {}", chosen.key, chosen.value.kind()))
                .help(std::string(optimizer_help));
            return;
        }
        for (const YamlEntry& argument : *chosen.value.map())
            if (argument.key == "offload")
                train_.states_on_host = read_bool(argument.value, "offload", *diagnostics_).value_or(false);
            else
                train_.optimizer.arguments.push_back(argument);
    }

    void read_clip(const YamlEntry& entry) {
        if (entry.value.map() == nullptr) {
            const bool is_number = entry.value.kind() == "a number";
            diagnostics_
                ->error("E0113", entry.value.span, fmt::format("clip: expected a map, found {}", entry.value.kind()))
                .help(fmt::format("write clip: {{global_norm: {}}}", is_number ? entry.value.scalar()->text : "1.0"));
            return;
        }
        if (!check_keys(entry.value, {"global_norm"}, "clip", *diagnostics_)) return;
        const Yaml* norm = entry.value.find("global_norm");
        if (norm == nullptr) {
            diagnostics_->error("E0116", entry.key_span, "clip has no 'global_norm'")
                .help("write clip: {global_norm: 1.0}");
            return;
        }
        train_.clip_by_global_norm = read_double(*norm, "clip.global_norm", *diagnostics_);
        if (train_.clip_by_global_norm && !(*train_.clip_by_global_norm > 0))
            diagnostics_->error(
                "E0218", norm->span,
                fmt::format("clip.global_norm: must be positive, it is {}", *train_.clip_by_global_norm));
    }

    void read_microbatches(const YamlEntry& entry) {
        const bool is_map = entry.value.map() != nullptr;
        if (is_map && !check_keys(entry.value, {"count", "axis", "dtype"}, "microbatches", *diagnostics_)) return;
        const Yaml* number = is_map ? entry.value.find("count") : &entry.value;
        if (number == nullptr) {
            diagnostics_->error("E0116", entry.value.span, "microbatches has no 'count'")
                .help("write microbatches: {count: 4, axis: batch}");
            return;
        }
        if (const Yaml* axis = is_map ? entry.value.find("axis") : nullptr) {
            const std::optional<std::string> name = read_string(*axis, "axis", *diagnostics_);
            if (name) read_axis(*name, axis->span);
        }
        if (const Yaml* dtype = is_map ? entry.value.find("dtype") : nullptr) read_sums(*dtype);
        const std::optional<i64> count = read_size(*number, "microbatches", context_->axes, *diagnostics_);
        if (!count) return;
        train_.microbatches = *count;
        train_.microbatches_span = number->span;
    }

    void read_sums(const Yaml& yaml) {
        const std::optional<std::string> text = read_string(yaml, "microbatches.dtype", *diagnostics_);
        if (!text) return;
        train_.microbatch_sums = parse_dtype(*text);
        if (!train_.microbatch_sums)
            suggest_dtype(diagnostics_->error("E0210", yaml.span, fmt::format("unknown dtype '{}'", *text)), *text);
        else if (!is_floating(*train_.microbatch_sums) || byte_size(*train_.microbatch_sums) < 2)
            diagnostics_->error("E0220", yaml.span, fmt::format("gradients cannot be added up as {}", *text))
                .help("`dtype` is a floating-point type of 16 bits or more: f32");
    }

    void read_axis(const std::string& name, Span span) {
        std::vector<std::string_view> names;
        for (const AxisDecl& axis : context_->axes) names.push_back(axis.name.text);
        train_.microbatch_axis = name;
        if (std::find(names.begin(), names.end(), name) != names.end()) return;
        diagnostics_->error("E0202", span, fmt::format("unknown axis '{}'", name))
            .help(did_you_mean(name, names, fmt::format("axes of the model: {}", fmt::join(names, ", "))));
    }

    void read_reduce(const Yaml& yaml) {
        const std::optional<std::string> text = read_string(yaml, "reduce", *diagnostics_);
        if (!text) return;
        if (*text == "each") {
            train_.reduce = GradientReduce::each;
        } else if (*text == "end") {
            train_.reduce = GradientReduce::end;
        } else {
            DiagnosticBuilder error =
                diagnostics_->error("E0118", yaml.span, fmt::format("reduce: unknown choice '{}'", *text));
            error.help("choices: each, end");
        }
    }

    const Yaml* yaml_;
    const EntryContext* context_;
    Diagnostics* diagnostics_;
    TrainDecl train_;
};

} // namespace

std::optional<TrainDecl> read_train(const Yaml& yaml, const EntryContext& context, Diagnostics& diagnostics) {
    return TrainReader(yaml, context, diagnostics).read();
}

} // namespace shard
