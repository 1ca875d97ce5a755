#include "planner/build/build_inputs.h"

#include "planner/model/axis_arithmetic.h"
#include "planner/model/type_limits.h"
#include "planner/text/yaml_flow.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"
#include "plans/random/initializer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

Distribution random_integers(double low, double high) {
    Distribution made;
    made.kind = DistributionKind::randint;
    made.low = low;
    made.high = high;
    return made;
}

Distribution random_flags(double probability) {
    Distribution made;
    made.kind = DistributionKind::bernoulli;
    made.probability = probability;
    return made;
}

Distribution standard_normal() {
    Distribution made;
    made.kind = DistributionKind::normal;
    return made;
}

// The names that parameters' initializers do not have, for inputs and tables of indices.
constexpr std::string_view randint_name = "randint", bernoulli_name = "bernoulli";

std::vector<std::string_view> initializer_names() {
    std::vector<std::string_view> names;
    for (const InitializerInfo& info : initializers()) names.push_back(info.name);
    names.push_back(randint_name);
    names.push_back(bernoulli_name);
    return names;
}

// Reads the arguments of one initializer.
class Arguments {
public:
    Arguments(const InitDecl& init, const Axes& axes, Diagnostics& diagnostics)
        : init_(init), axes_(axes), numbers_(init.arguments), diagnostics_(diagnostics) {}

    std::optional<double> number(std::string_view name) {
        const std::optional<Yaml> written = numeral(name);
        return written ? keep(read_double(*written, name, diagnostics_)) : std::nullopt;
    }
    // A number that every element of `decl` is.
    std::optional<double> element(std::string_view name, const TensorDecl& decl) {
        const std::optional<Yaml> written = numeral(name);
        const std::optional<double> value = written ? keep(read_element(*written, name, diagnostics_)) : std::nullopt;
        const std::optional<ElementProblem> problem =
            value ? element_problem(decl.array.dtype, written->scalar()->text, *value) : std::nullopt;
        if (!problem) return value;
        diagnostics_
            .error("E0232", written->span,
                   fmt::format("'{}' of '{}': {}", init_.name, decl.array.name.text, problem->message))
            .help(problem->help);
        ok_ = false;
        return std::nullopt;
    }
    std::optional<std::string> text(std::string_view name) {
        const Yaml* yaml = take(name);
        if (!yaml) return std::nullopt;
        const std::optional<std::string> value = read_string(*yaml, name, diagnostics_);
        ok_ = ok_ && value.has_value();
        return value;
    }
    void dims(std::string_view name, std::vector<i64>& dims) {
        const std::optional<Yaml> written = numeral(name);
        if (!written) return;
        dims.clear();
        const YamlList one = {*written};
        for (const Yaml& item : written->list() ? *written->list() : one) {
            const std::optional<i64> dim = read_integer(item, name, axes_, diagnostics_);
            ok_ = ok_ && dim.has_value();
            if (dim) dims.push_back(*dim);
        }
    }
    // What was written, with numbers in the place of arithmetic: "normal: {stddev: 0.02}".
    std::string as_numbers() const { return fmt::format("{}: {}", init_.name, flow_text(numbers_)); }

    // False if something was wrong, or an argument was not asked for.
    bool finish() {
        if (init_.arguments.is_null()) return ok_;
        if (!init_.arguments.map()) {
            diagnostics_.error("E0232", init_.arguments.span,
                               fmt::format("the arguments of '{}' must be a map", init_.name));
            return false;
        }
        return check_keys(init_.arguments, known_, fmt::format("initializer '{}'", init_.name), diagnostics_) && ok_;
    }

private:
    std::optional<double> keep(std::optional<double> value) {
        ok_ = ok_ && value.has_value();
        return value;
    }

    // What stands there, with a number in the place of arithmetic.
    std::optional<Yaml> numeral(std::string_view name) {
        const Yaml* yaml = take(name);
        if (!yaml) return std::nullopt;
        std::optional<Yaml> number = with_numbers(*yaml, name, axes_, diagnostics_);
        ok_ = ok_ && number.has_value();
        if (YamlMap* entries = std::get_if<YamlMap>(&numbers_.value); entries && number)
            for (YamlEntry& entry : *entries)
                if (entry.key == name) entry.value = *number;
        return number;
    }

    const Yaml* take(std::string_view name) {
        known_.push_back(name);
        return init_.arguments.find(name);
    }

    const InitDecl& init_;
    const Axes& axes_;
    Yaml numbers_; // the arguments, with numbers in the place of arithmetic as far as they were asked for
    Diagnostics& diagnostics_;
    std::vector<std::string_view> known_;
    bool ok_ = true;
};

// Also says in `decl` how its initializer is written without arithmetic.
std::optional<Distribution> read_distribution(TensorDecl& decl, const Axes& axes, Diagnostics& diagnostics) {
    const InitDecl& init = decl.init;
    const std::vector<std::string_view> names = initializer_names();
    if (std::find(names.begin(), names.end(), init.name) == names.end()) {
        diagnostics.error("E0232", init.span, fmt::format("there is no initializer '{}'", init.name))
            .help(did_you_mean(init.name, names, fmt::format("there are {}", fmt::join(names, ", "))));
        return std::nullopt;
    }
    Arguments arguments(init, axes, diagnostics);
    if (init.name == randint_name) {
        const double low = arguments.number("low").value_or(0);
        const std::optional<double> high = arguments.number("high");
        if (!arguments.finish()) return std::nullopt;
        decl.array.init_text = arguments.as_numbers();
        const bool fits = high && low < *high && can_hold(DType::i32, low) && can_hold(DType::i32, *high);
        if (!fits) {
            diagnostics.error("E0232", init.span, "randint needs `high`, above `low`, both whole and of 32 bits")
                .help("for example {randint: {low: 0, high: 10}}");
            return std::nullopt;
        }
        if (can_hold(decl.array.dtype, low) && can_hold(decl.array.dtype, *high - 1))
            return random_integers(low, *high);
        diagnostics.error("E0232", init.span,
                          fmt::format("randint makes {} to {}, and '{}' is {}", low, *high - 1, decl.array.name.text,
                                      name(decl.array.dtype)));
        return std::nullopt;
    }
    if (init.name == bernoulli_name) {
        const double probability = arguments.number("probability").value_or(0.5);
        if (!arguments.finish()) return std::nullopt;
        decl.array.init_text = arguments.as_numbers();
        if (probability >= 0 && probability <= 1) return random_flags(probability);
        diagnostics.error("E0232", init.span, "the probability of bernoulli must be from 0 to 1");
        return std::nullopt;
    }
    InitializerSpec spec;
    spec.name = init.name;
    spec.value = arguments.element("value", decl);
    spec.stddev = arguments.number("stddev");
    spec.scale = arguments.number("scale");
    spec.lower = arguments.number("lower");
    spec.upper = arguments.number("upper");
    spec.mode = arguments.text("mode");
    spec.distribution = arguments.text("distribution");
    arguments.dims("in_axis", spec.fan.in);
    arguments.dims("out_axis", spec.fan.out);
    arguments.dims("batch_axis", spec.fan.batch);
    if (!arguments.finish()) return std::nullopt;
    decl.array.init_text = arguments.as_numbers();
    InitializerProblem problem;
    const std::optional<Distribution> made = initializer_distribution(spec, decl.array.shape, problem);
    if (!made) {
        diagnostics.error("E0232", init.span, problem.message).help(problem.help);
        return std::nullopt;
    }
    // They are drawn as f32.
    for (double bound : {made->low, made->high, made->scale})
        if (!std::isfinite(static_cast<float>(bound))) {
            diagnostics
                .error("E0232", init.span, fmt::format("initializer '{}' would be drawn up to {}", init.name, bound))
                .help("its arguments must leave finite numbers of 32 bits");
            return std::nullopt;
        }
    return made;
}

Distribution default_distribution(const TensorDecl& decl, Role role) {
    if (role == Role::input) {
        if (is_floating(decl.array.dtype)) return standard_normal();
        return decl.array.dtype == DType::boolean ? random_flags(0.5) : random_integers(0, 2);
    }
    if (role == Role::variable || !is_floating(decl.array.dtype) || decl.array.shape.size() < 2) return Distribution{};
    InitializerSpec spec;
    spec.name = "lecun_normal";
    InitializerProblem problem;
    const std::optional<Distribution> made = initializer_distribution(spec, decl.array.shape, problem);
    internal_check(made.has_value(), "lecun_normal refused a shape of two dims");
    return *made;
}

bool check_dtype(const TensorDecl& decl, const Distribution& distribution, Diagnostics& diagnostics) {
    bool fits = true;
    switch (distribution.kind) {
    case DistributionKind::constant:
        break; // its number was read as one of the type
    case DistributionKind::uniform:
    case DistributionKind::normal:
    case DistributionKind::truncated_normal:
        fits = is_floating(decl.array.dtype);
        break;
    default:
        break; // whole numbers fit every type
    }
    if (!fits)
        diagnostics
            .error("E0232", decl.init.span,
                   fmt::format("initializer '{}' makes fractions, and '{}' is {}", decl.init.name, decl.array.name.text,
                               name(decl.array.dtype)))
            .help("for whole numbers use {randint: {low: 0, high: 10}}, zeros or ones");
    return fits;
}

std::optional<Key> explicit_key(const InitDecl& init) {
    if (!init.layers.empty()) return init.layers[0];
    if (!init.key || init.key->empty()) return std::nullopt;
    const std::vector<i64>& words = *init.key;
    if (words.size() == 1) return key_from_seed(words[0]);
    return Key{static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
}

// What one layer declares, of a scanned block or of a stack that is declared with a key for each entry. nullopt after
// E0232: the keys are not those of the stack.
std::optional<TensorDecl> entry_of(TensorDecl decl, const TensorOwner& owner, Diagnostics& diagnostics) {
    size_t stacks = owner.stacks.size();
    if (!decl.init.layers.empty()) {
        const std::optional<size_t> dims =
            stacks > 0 ? std::nullopt : stack_dims(decl.array.shape, decl.init.layers.size());
        if (!dims) {
            diagnostics
                .error("E0232", decl.init.span,
                       stacks > 0 ? fmt::format("'{}' is declared in a block that is scanned: all layers have "
                                                "one key",
                                                decl.array.name.text)
                                  : fmt::format("{} keys are not those of a stack of shape {}", decl.init.layers.size(),
                                                shape_text(decl.array.shape)))
                .help(stacks > 0 ? "write one key, or declare the whole stack outside of the block"
                                 : "a list of keys has one for each entry of the first dim, or of the first dims "
                                   "together");
            return std::nullopt;
        }
        stacks = *dims;
    }
    decl.array.shape.erase(decl.array.shape.begin(), decl.array.shape.begin() + static_cast<std::ptrdiff_t>(stacks));
    return decl;
}

// Asks for keys in the order in which parameters would be declared if scans were written out: layer by layer.
class KeyAsker {
public:
    KeyAsker(const Graph& graph, std::span<const ValueId> declared, std::span<const TensorOwner> owners,
             std::span<const Distribution> distributions)
        : graph_(graph), owners_(owners), distributions_(distributions), keys_(declared.size()) {
        for (size_t n = 0; n < declared.size(); ++n)
            if (graph.value(declared[n]).role == Role::param) parameters_.push_back(n);
    }

    // By declared input: the parameter's key, or one for each entry of a stack, row-major.
    std::vector<std::vector<std::optional<Key>>> run(const Model& model, Key root) {
        ask(0, parameters_.size());
        const std::vector<std::optional<Key>> made = parameter_keys(model.keys, root, requests_);
        for (size_t r = 0; r < made.size(); ++r) keys_[asked_by_[r]].push_back(made[r]);
        return std::move(keys_);
    }

private:
    const TensorOwner& owner(size_t p) const { return owners_[parameters_[p]]; }

    // Of the parameters from first to end, all in the scans that `layers_` counts.
    void ask(size_t first, size_t end) {
        const size_t depth = layers_.size();
        while (first < end) {
            if (owner(first).stacks.size() == depth) {
                ask_one(parameters_[first++]);
                continue;
            }
            const TensorOwner::Stack& stack = owner(first).stacks[depth];
            size_t last = first + 1;
            const auto shares_scan = [&](size_t p) {
                return owner(p).stacks.size() > depth && owner(p).stacks[depth].scan == stack.scan;
            };
            while (last < end && shares_scan(last)) ++last;
            layers_.push_back(0);
            for (; layers_.back() < stack.layers; ++layers_.back()) ask(first, last);
            layers_.pop_back();
            first = last;
        }
    }

    void ask_one(size_t n) {
        std::vector<std::string> path = owners_[n].path;
        for (size_t s = 0; s < layers_.size(); ++s) path[owners_[n].stacks[s].block] += fmt::format("_{}", layers_[s]);
        requests_.push_back({path, is_random(distributions_[n]), explicit_key(owners_[n].init)});
        asked_by_.push_back(n);
    }

    const Graph& graph_;
    std::span<const TensorOwner> owners_;
    std::span<const Distribution> distributions_;
    std::vector<std::vector<std::optional<Key>>> keys_;
    std::vector<size_t> parameters_;
    std::vector<i64> layers_; // of the scans around, the layer that asks
    std::vector<ParameterKeyRequest> requests_;
    std::vector<size_t> asked_by_; // by request: the input
};

} // namespace

bool attach_initializers(Graph& graph, const Model& model, const std::vector<TensorOwner>& owners,
                         Diagnostics& diagnostics) {
    const Key root = key_from_seed(model.seed);
    std::vector<Distribution> distributions;
    bool ok = true;
    std::vector<ValueId> declared; // all inputs but the count of steps
    for (ValueId id : graph.inputs)
        if (graph.value(id).decl >= 0) declared.push_back(id);
    for (size_t n = 0; n < declared.size(); ++n) {
        std::optional<TensorDecl> decl =
            entry_of(TensorDecl{graph.declared[n], owners[n].init}, owners[n], diagnostics);
        const Role role = graph.value(declared[n]).role;
        const std::optional<Distribution> made = !decl ? std::nullopt
                                                 : decl->init.name.empty()
                                                     ? default_distribution(*decl, role)
                                                     : read_distribution(*decl, model.axes, diagnostics);
        ok = made && check_dtype(*decl, *made, diagnostics) && ok;
        if (decl) graph.declared[n].init_text = decl->array.init_text;
        distributions.push_back(made.value_or(Distribution{}));
    }
    const std::vector<std::vector<std::optional<Key>>> keys =
        KeyAsker(graph, declared, owners, distributions).run(model, root);
    for (size_t n = 0; n < declared.size(); ++n) {
        const ArrayDecl& decl = graph.declared[n];
        const InitDecl& written = owners[n].init;
        Value& value = graph.value(declared[n]);
        Generate init;
        init.shape = value.type.shape;
        std::optional<Key> key = value.role == Role::param ? keys[n][0] : explicit_key(written);
        if (value.role != Role::param && !key) key = linen_key(root, {"inputs", decl.name.text}, 1);
        if (!is_random(distributions[n])) {
            init.source = Fill{distributions[n].value};
        } else if (key) {
            Random random{distributions[n], *key, model.partitionable ? BitLayout::partitionable : BitLayout::legacy};
            random.layers = written.layers;
            if (!owners[n].stacks.empty())
                for (const std::optional<Key>& layer : keys[n]) random.layers.push_back(layer.value_or(*key));
            init.source = std::move(random);
        } else {
            diagnostics
                .error("E0232", decl.name.span,
                       fmt::format("parameter '{}' has no key, and the model says `keys: explicit`", decl.name.text))
                .help("write one: init: {lecun_normal: {}, key: 0}");
            ok = false;
        }
        value.init = std::move(init);
    }
    return ok;
}

} // namespace shard
