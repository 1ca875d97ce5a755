#include "planner/build/train.h"

#include "planner/build/build_attributes.h"
#include "planner/build/microbatch_draws.h"
#include "planner/grad/differentiate.h"
#include "planner/grad/microbatches.h"
#include "planner/graph/optimizer.h"
#include "planner/graph/step_count.h"
#include "planner/text/glob.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

std::vector<std::string_view> schedules() {
    std::vector<std::string_view> names;
    for (const CompositeDef* def : all_composites())
        if (def->is_schedule) names.push_back(def->name);
    return names;
}

class TrainStep {
public:
    TrainStep(Builder& builder, const Model& model, Diagnostics& diagnostics)
        : builder_(builder), graph_(builder.graph()), model_(model), train_(*model.train), diagnostics_(diagnostics),
          optimizer_(*find_optimizer(train_.optimizer.op.text)), chain_(builder) {}

    bool add() {
        for (ValueId id : graph_.inputs)
            if (graph_.value(id).role == Role::param && is_floating(graph_.value(id).type.dtype) && !is_updated(id))
                parameters_.push_back(id);
        if (!check()) return false;
        const std::optional<Attributes> attributes = read_optimizer();
        if (!attributes) return false;
        if (!make_gradients()) return false;
        if (!make_shared(*attributes)) return false;
        for (size_t n = 0; n < parameters_.size(); ++n)
            if (!update(parameters_[n], gradients_[n], *attributes)) return false;
        if (count_ >= 0) replace(count_, next_count_);
        return true;
    }

private:
    // By hand, before the optimizer's updates are there.
    bool is_updated(ValueId id) const {
        return std::any_of(graph_.updates.begin(), graph_.updates.end(),
                           [id](const Update& update) { return update.input == id; });
    }

    bool check() {
        if (!parameters_.empty()) return true;
        diagnostics_.error("E0243", train_.loss.op.span, "the model has no floating-point parameter to train")
            .help("declare what is learned under `params`");
        return false;
    }

    // The arguments of the optimizer. A learning rate that follows a schedule is not among them.
    std::optional<Attributes> read_optimizer() {
        YamlMap arguments = train_.optimizer.arguments;
        if (!take_lists(arguments)) return std::nullopt;
        const YamlMap::iterator rate = std::find_if(arguments.begin(), arguments.end(), [](const YamlEntry& argument) {
            return argument.key == "learning_rate";
        });
        const Name& op = train_.optimizer.op;
        ArgumentContext context{model_, op.text, optimizer_.composite.attributes, {}, op.span, diagnostics_};
        for (const ParameterList& list : optimizer_.lists) context.taken.push_back(list.name);
        if (rate == arguments.end()) {
            knows_arguments(context, arguments); // {lr: 0.1}
            diagnostics_.error("E0225", op.span, fmt::format("'{}' needs the argument 'learning_rate'", op.text))
                .help("a number, or a schedule: {warmup_cosine: {peak: 1.0e-3, warmup_steps: 100, decay_steps: 1000}}");
            return std::nullopt;
        }
        const bool knows_adam_rate =
            std::any_of(optimizer_.composite.attributes.begin(), optimizer_.composite.attributes.end(),
                        [](const AttributeDef& attribute) { return attribute.name == "adam_learning_rate"; });
        schedule_ = take_schedule(arguments, "learning_rate");
        if (knows_adam_rate) adam_schedule_ = take_schedule(arguments, "adam_learning_rate");
        std::optional<ReadArguments> read = read_arguments(context, arguments);
        if (!read || !update_arguments_fit(read->attributes, op.span, diagnostics_)) return std::nullopt;
        return std::move(read->attributes);
    }

    // What is no number.
    static std::optional<Yaml> take_schedule(YamlMap& arguments, std::string_view key) {
        const YamlMap::iterator rate =
            std::find_if(arguments.begin(), arguments.end(),
                         [key](const YamlEntry& argument) { return argument.key == key && argument.value.map(); });
        if (rate == arguments.end()) return std::nullopt;
        Yaml schedule = rate->value;
        arguments.erase(rate);
        return schedule;
    }

    void place(const std::string& prefix) { builder_.set_place({"", prefix, train_.optimizer.op.span, {}, {}}); }

    // What enters the optimizer is called "w.grad".
    bool make_gradients() {
        if (train_.microbatches > 1) {
            warn_of_draws_alike(builder_);
            builder_.set_loop(microbatch_loop);
        }
        gradients_ = differentiate(builder_, graph_.loss, parameters_);
        if (train_.microbatches > 1) {
            name_gradients(".grad.microbatch");
            if (train_.microbatch_sums) widen_gradients(*train_.microbatch_sums);
            gradients_ = close_microbatches(builder_, train_, gradients_);
        }
        if (train_.clip_by_global_norm) {
            name_gradients(".grad.unclipped");
            place("clip");
            const Attributes limit = attributes_of({{"max_norm", *train_.clip_by_global_norm}});
            const BuiltValues clipped = builder_.emit_all("clip_by_global_norm", gradients_, limit);
            if (!clipped) return false;
            gradients_ = *clipped;
        }
        name_gradients(".grad");
        return true;
    }

    // As they are added up.
    void widen_gradients(DType dtype) {
        for (ValueId& gradient : gradients_) {
            place(graph_.value(gradient).name);
            gradient = chain_.cast(gradient, dtype);
        }
    }

    void name_gradients(const std::string& suffix) {
        for (size_t n = 0; n < parameters_.size(); ++n) {
            const Value& parameter = graph_.value(parameters_[n]);
            const std::vector<std::string> logical = parameter.type.logical;
            builder_.rename(gradients_[n], builder_.unique_name(parameter.name + suffix, "#"), parameter.span);
            Value& gradient = graph_.value(gradients_[n]);
            if (gradient.loop >= 0) continue; // of one microbatch
            gradient.role = Role::gradient;
            gradient.of = parameters_[n];
            gradient.type.logical = logical;
        }
    }

    // Patterns of parameters whose update has another attribute than the others: `no_decay`.
    bool take_lists(YamlMap& arguments) {
        for (const ParameterList& list : optimizer_.lists)
            if (!take_list(list, arguments)) return false;
        const YamlMap::iterator written = std::find_if(
            arguments.begin(), arguments.end(), [](const YamlEntry& argument) { return argument.key == "no_decay"; });
        if (written == arguments.end()) return true;
        diagnostics_
            .error("E0226", written->key_span, fmt::format("'{}' has no weight decay", train_.optimizer.op.text))
            .help("leave out `no_decay`, or use adamw");
        return false;
    }

    bool take_list(const ParameterList& list, YamlMap& arguments) {
        const YamlMap::iterator written = std::find_if(
            arguments.begin(), arguments.end(), [&](const YamlEntry& argument) { return argument.key == list.name; });
        if (written == arguments.end()) return true;
        const auto refuse = [&](Span span, std::string message, std::string help) {
            diagnostics_.error("E0226", span, std::move(message)).help(std::move(help));
            return false;
        };
        if (written->value.list() == nullptr)
            return refuse(written->value.span, fmt::format("`{}` is a list of parameters", list.name),
                          fmt::format("name them by their paths: {}", list.example));
        for (const Yaml& item : *written->value.list()) {
            const std::optional<std::string> pattern = read_string(item, list.name, diagnostics_);
            if (!pattern) return false;
            bool matches = false;
            for (ValueId id : parameters_) {
                if (!glob_matches(*pattern, graph_.value(id).name)) continue;
                listed_[id].push_back(&list);
                matches = true;
            }
            if (!matches)
                return refuse(item.span,
                              fmt::format("`{}` names '{}', which no parameter is called", list.name, *pattern),
                              "`*` stops at dots, `**` does not; `shardc plan` lists the parameters");
        }
        arguments.erase(written);
        return true;
    }

    // What all updates share: the count of steps, and numbers that follow from it.
    bool make_shared(const Attributes& attributes) {
        place("step");
        if (optimizer_.counts || schedule_ || adam_schedule_ || find_step_count(graph_)) {
            count_ = step_count(builder_);
            next_count_ = chain_("add", count_, 1);
        }
        if (schedule_) {
            const std::optional<ValueId> rate = scheduled_rate(*schedule_);
            if (!rate) return false;
            rate_ = chain_("neg", {*rate});
        } else {
            rate_ = chain_.scalar(-attributes.number("learning_rate"), DType::f32);
        }
        if (adam_schedule_) {
            const std::optional<ValueId> rate = scheduled_rate(*adam_schedule_);
            if (!rate) return false;
            adam_rate_ = chain_("neg", {*rate});
        }
        if (optimizer_.shared) shared_ = optimizer_.shared(chain_, chain_.cast(next_count_, DType::f32), attributes);
        return chain_.ok();
    }

    // As optax, a schedule is asked with the count before the step.
    std::optional<ValueId> scheduled_rate(const Yaml& schedule) {
        const YamlMap& map = *schedule.map();
        const auto refuse = [&](Span span, std::string message) {
            diagnostics_.error("E0226", span, std::move(message))
                .help(fmt::format("a learning rate is a number, {{constant: 1.0e-3}}, or one of {}",
                                  fmt::join(schedules(), ", ")));
            return std::nullopt;
        };
        if (map.size() != 1) return refuse(schedule.span, "a learning rate is one schedule");
        const YamlEntry& chosen = map.front();
        if (chosen.key == "constant") {
            const std::optional<double> rate = read_double(chosen.value, "learning_rate", diagnostics_);
            if (!rate) return std::nullopt;
            return builder_.number(*rate, DType::f32);
        }
        const CompositeDef* def = find_composite(chosen.key);
        if (def == nullptr || !def->is_schedule)
            return refuse(chosen.key_span, fmt::format("there is no schedule '{}'", chosen.key));
        if (!chosen.value.is_null() && !chosen.value.map())
            return refuse(chosen.value.span, fmt::format("the arguments of '{}' are a map", chosen.key));
        const ArgumentContext context{model_, chosen.key, def->attributes, {}, chosen.key_span, diagnostics_};
        const std::optional<ReadArguments> read =
            read_arguments(context, chosen.value.map() ? *chosen.value.map() : YamlMap());
        if (!read) return std::nullopt;
        Builder::Place at_schedule = builder_.place();
        at_schedule.span = chosen.key_span;
        builder_.set_place(std::move(at_schedule));
        return builder_.emit(chosen.key, {count_}, read->attributes);
    }

    // A parameter of 16 bits is too coarse to add small steps to: the update is that of a copy of 32 bits, a state.
    bool update(ValueId parameter, ValueId gradient, const Attributes& attributes) {
        const std::string name = graph_.value(parameter).name;
        const DType own = graph_.value(parameter).type.dtype, wide = computed_as(own);
        const bool has_master = own == model_.precision.params && own != wide;
        ValueId updated = parameter;
        if (has_master) {
            Value master = state_of(parameter, "master");
            master.type.dtype = wide;
            master.init = graph_.value(parameter).init;
            updated = add_state(std::move(master), graph_.value(parameter).span);
            place(fmt::format("{}.grad", name));
            gradient = chain_.cast(gradient, wide);
        }
        Attributes own_attributes = attributes;
        for (const ParameterList* list : listed_[parameter])
            own_attributes.set(std::string(list->attribute), list->value);
        const int stacked = graph_.value(parameter).stacked;
        const std::vector<OptimizerState> kept = optimizer_.states(own_attributes, builder_.type(updated), stacked);
        std::vector<ValueId> states;
        for (const OptimizerState& kept_state : kept) {
            Value state = state_of(parameter, kept_state.name);
            state.type = state_type(kept_state, builder_.type(updated));
            states.push_back(add_state(std::move(state), graph_.value(parameter).span));
        }
        place(fmt::format("{}.{}", name, optimizer_.composite.name));
        const DType computed = builder_.type(updated).dtype;
        gradient = chain_.cast(gradient, computed);
        const ValueId rate = chain_.cast(rate_, computed);
        const ValueId adam_rate = adam_rate_ < 0 ? -1 : chain_.cast(adam_rate_, computed);
        const std::vector<ValueId> made = shard::updated(
            optimizer_, {chain_, updated, gradient, states, shared_, rate, own_attributes, stacked, adam_rate}, kept);
        if (!chain_.ok()) return false;
        if (has_master) {
            place(name);
            const ValueId rounded = chain_.cast(made[0], builder_.type(parameter).dtype);
            if (!chain_.ok()) return false;
            replace(parameter, rounded);
        }
        replace(updated, made[0]);
        for (size_t n = 0; n < states.size(); ++n) replace(states[n], made[n + 1]);
        return true;
    }

    Value state_of(ValueId parameter, std::string_view state_name) {
        Value state;
        state.name = builder_.unique_name(fmt::format("{}.{}", graph_.value(parameter).name, state_name), "#");
        state.type = graph_.value(parameter).type;
        state.of = parameter;
        return state;
    }

    ValueId add_state(Value state, Span span) {
        state.role = Role::state;
        state.span = span;
        state.on_host = train_.states_on_host;
        if (!state.init) state.init = Generate{Fill{0}, state.type.shape, {}};
        const ValueId id = builder_.add_input(std::move(state));
        builder_.mark_used(id);
        return id;
    }

    // `made` is what `input` holds after the step.
    void replace(ValueId input, ValueId made) {
        const std::string name = graph_.value(input).name;
        const std::vector<std::string> logical = graph_.value(input).type.logical;
        builder_.rename(made, builder_.unique_name(name + ".new", "#"), graph_.value(input).span);
        graph_.value(made).type.logical = logical;
        builder_.mark_used(made);
        graph_.updates.push_back({input, made});
        graph_.outputs.push_back(made);
        graph_.output_names.push_back(name);
    }

    Builder& builder_;
    Graph& graph_;
    const Model& model_;
    const TrainDecl& train_;
    Diagnostics& diagnostics_;
    const OptimizerDef& optimizer_;
    std::map<ValueId, std::vector<const ParameterList*>> listed_; // parameters that lists name
    Chain chain_;
    std::optional<Yaml> schedule_, adam_schedule_;
    std::vector<ValueId> parameters_, gradients_, shared_;
    ValueId count_ = -1, next_count_ = -1;
    ValueId rate_ = -1;      // minus the learning rate, f32
    ValueId adam_rate_ = -1; // the same of adam_learning_rate, if that is a schedule
};

} // namespace

bool add_train_step(Builder& builder, const Model& model, Diagnostics& diagnostics) {
    return TrainStep(builder, model, diagnostics).add();
}

} // namespace shard
