#include "planner/read/tensor_reader.h"

#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/model/type_limits.h"
#include "planner/read/places.h"
#include "planner/read/sharding_spec_reader.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t max_rank = 16;

class TensorReader {
public:
    TensorReader(const YamlEntry& entry, TensorRole role, const EntryContext& context, Diagnostics& diagnostics)
        : entry_(&entry), role_(role), axes_(&context.axes), sources_(context.sources), diagnostics_(&diagnostics) {}

    std::optional<TensorDecl> read() {
        const Yaml& yaml = entry_->value;
        tensor_.array.name = {entry_->key, entry_->key_span};
        constexpr std::string_view words[] = {"an input", "a parameter", "a variable", "a target"};
        const std::string_view what = words[static_cast<size_t>(role_)];
        bool good = check_name(entry_->key, entry_->key_span, what, *diagnostics_);
        if (yaml.map() == nullptr) {
            diagnostics_
                ->error("E0113", yaml.span, fmt::format("{}: expected a map, found {}", entry_->key, yaml.kind()))
                .help("write {axes: [batch, embed]} or {shape: [8, 1024]}");
            return std::nullopt;
        }
        check_keys(yaml, {"axes", "shape", "dtype", "mesh", "rules", "init", "at"}, fmt::format("'{}'", entry_->key),
                   *diagnostics_);
        good = read_dtype() && good;
        good = read_dims() && good;
        good = read_placement() && good;
        good = read_init() && good;
        if (const Yaml* at = yaml.find("at")) tensor_.at = read_place(*at, sources_, *diagnostics_);
        if (!good) return std::nullopt;
        return std::move(tensor_);
    }

private:
    std::string what(std::string_view key) const { return fmt::format("{}.{}", entry_->key, key); }

    bool read_dtype() {
        const Yaml* yaml = entry_->value.find("dtype");
        if (yaml == nullptr) return true;
        const std::optional<std::string> text = read_string(*yaml, what("dtype"), *diagnostics_);
        if (!text) return false;
        if (const std::optional<DType> dtype = parse_dtype(*text)) {
            tensor_.array.dtype = *dtype;
            return true;
        }
        suggest_dtype(diagnostics_->error("E0210", yaml->span, fmt::format("unknown dtype '{}'", *text)), *text);
        return false;
    }

    bool read_dims() {
        const Yaml* axes = entry_->value.find("axes");
        const Yaml* shape = entry_->value.find("shape");
        tensor_.array.has_axes = axes != nullptr;
        if (axes == nullptr && shape == nullptr) {
            diagnostics_
                ->error("E0211", entry_->key_span, fmt::format("'{}' has neither axes nor a shape", entry_->key))
                .help("write axes: [batch, embed] or shape: [8, 1024]");
            return false;
        }
        for (const Yaml* list : {axes, shape}) {
            if (list == nullptr) continue;
            if (list->list() == nullptr) {
                diagnostics_
                    ->error("E0113", list->span,
                            fmt::format("{}: expected a list, found {}", what(list == axes ? "axes" : "shape"),
                                        list->kind()))
                    .help(list == axes ? "write axes: [batch, embed]" : "write shape: [8, 16]");
                return false;
            }
            if (list->list()->size() > max_rank) {
                diagnostics_
                    ->error("E0209", list->span,
                            fmt::format("'{}' has {} dims, more than {}", entry_->key, list->list()->size(), max_rank))
                    .help("join some of them into one");
                return false;
            }
        }
        bool good = shape == nullptr || read_shape(*shape);
        good = (axes == nullptr || read_names(*axes, shape != nullptr)) && good;
        if (!good) return false;
        if (axes == nullptr) tensor_.array.logical.resize(tensor_.array.shape.size());
        if (tensor_.array.logical.size() != tensor_.array.shape.size()) {
            diagnostics_->error("E0209", axes->span,
                                fmt::format("'{}' names {} dims, its shape has {}", entry_->key,
                                            tensor_.array.logical.size(), tensor_.array.shape.size()));
            return false;
        }
        return (shape == nullptr || check_named_sizes(*axes_, *shape)) && check_bytes();
    }

    bool read_shape(const Yaml& shape) {
        bool good = true;
        for (const Yaml& item : *shape.list()) {
            const std::optional<i64> size = read_size(
                item, fmt::format("{}[{}]", what("shape"), tensor_.array.shape.size()), *axes_, *diagnostics_);
            good = good && size;
            tensor_.array.shape.push_back(size.value_or(1));
        }
        return good;
    }

    // Without a shape every name is an axis of the model and gives its size, and a size is a dim without a name.
    bool read_names(const Yaml& axes, bool has_shape) {
        bool good = true;
        for (const Yaml& item : *axes.list()) {
            if (item.is_null() && has_shape) {
                tensor_.array.logical.emplace_back();
                continue;
            }
            if (item.is_null()) {
                diagnostics_->error("E0209", item.span, "a dim without a name needs a size")
                    .help("add shape: [...] with all sizes");
                good = false;
                continue;
            }
            if (!has_shape && item.scalar() != nullptr && !is_name(item.scalar()->text)) {
                const std::optional<i64> size = read_size(item, what("axes"), *axes_, *diagnostics_);
                good = good && size;
                tensor_.array.logical.emplace_back();
                tensor_.array.shape.push_back(size.value_or(1));
                continue;
            }
            if (item.kind() == "a number") {
                diagnostics_->error("E0113", item.span, fmt::format("{}: expected names, found a number", what("axes")))
                    .help("`shape` has the sizes already: write ~ for a dim without a name");
                return false;
            }
            const std::optional<Name> name = read_name(item, "a logical axis", *diagnostics_);
            const AxisDecl* axis = name ? find(name->text) : nullptr;
            if (name && axis == nullptr && !has_shape) {
                DiagnosticBuilder error =
                    diagnostics_->error("E0205", item.span, fmt::format("unknown axis '{}'", name->text));
                error.help("declare its size under axes:, or give shape: [...]");
                suggest(error, name->text, name_texts(*axes_));
            }
            good = good && name && (has_shape || (axis != nullptr && axis->size > 0));
            if (name) tensor_.array.logical.push_back(name->text);
            if (axis != nullptr && !has_shape) tensor_.array.shape.push_back(axis->size);
        }
        return good;
    }

    bool check_named_sizes(const std::vector<AxisDecl>& axes, const Yaml& shape) {
        bool good = true;
        for (size_t d = 0; d < tensor_.array.shape.size(); ++d) {
            const AxisDecl* axis = find(tensor_.array.logical[d]);
            if (axis == nullptr || axis->size == tensor_.array.shape[d] || axes.empty()) continue;
            diagnostics_
                ->error("E0209", (*shape.list())[d].span,
                        fmt::format("dim {} of '{}' has size {}, its axis '{}' has {}", d, entry_->key,
                                    tensor_.array.shape[d], axis->name.text, axis->size))
                .label(axis->name.span, "declared here");
            good = false;
        }
        return good;
    }

    bool check_bytes() {
        const std::string_view problem = size_problem(tensor_.array.dtype, tensor_.array.shape);
        if (problem.empty()) return true;
        diagnostics_->error(
            "E0204", entry_->key_span,
            fmt::format("'{}' has shape {}: {}", entry_->key, shape_text(tensor_.array.shape), problem));
        return false;
    }

    bool read_placement() {
        bool good = true;
        if (const Yaml* mesh = entry_->value.find("mesh")) {
            tensor_.array.mesh = read_sharding_spec(*mesh, *diagnostics_);
            good = tensor_.array.mesh.has_value();
        }
        if (const Yaml* yaml = entry_->value.find("rules")) {
            std::optional<std::vector<AxisRule>> rules = read_axis_rules(*yaml, *diagnostics_);
            good = good && rules;
            if (rules) tensor_.array.rules = std::move(*rules);
        }
        return good;
    }

    // `lecun_normal`, `{normal: {stddev: 0.02}}`, or either with an explicit key: `{normal: {stddev: 0.02}, key: 3}`.
    bool read_init() {
        const Yaml* yaml = entry_->value.find("init");
        if (yaml == nullptr) return true;
        InitDecl& init = tensor_.init;
        init.span = yaml->span;
        if (yaml->kind() == "a number") {
            diagnostics_
                ->error("E0113", yaml->span, fmt::format("{}: expected an initializer, found a number", what("init")))
                .help(fmt::format("write init: {{constant: {{value: {}}}}}", yaml->scalar()->text));
            return false;
        }
        if (yaml->scalar() != nullptr) {
            const std::optional<std::string> name = read_string(*yaml, what("init"), *diagnostics_);
            init.name = name.value_or("");
            return name && check_name(init.name, init.span, "an initializer", *diagnostics_);
        }
        const Yaml* key = yaml->find("key");
        const size_t names = yaml->map() == nullptr ? 0 : yaml->map()->size() - (key != nullptr ? 1 : 0);
        if (names != 1) {
            diagnostics_->error("E0213", yaml->span, fmt::format("{}: expected one initializer", what("init")))
                .help("write lecun_normal or {normal: {stddev: 0.02}}, with key: 3 for an explicit key");
            return false;
        }
        if (key != nullptr && !read_key(*key)) return false;
        for (const YamlEntry& item : *yaml->map()) {
            if (item.key == "key") continue;
            init.name = item.key;
            init.span = item.key_span;
            init.arguments = item.value;
        }
        if (!init.arguments.is_null() && init.arguments.map() == nullptr) {
            diagnostics_
                ->error(
                    "E0113", init.arguments.span,
                    fmt::format("the arguments of '{}': expected a map, found {}", init.name, init.arguments.kind()))
                .help(fmt::format("write {{{}: {{name: value}}}}", init.name));
            return false;
        }
        return check_name(init.name, init.span, "an initializer", *diagnostics_);
    }

    bool read_key(const Yaml& yaml) {
        const YamlList* list = yaml.list();
        if (list == nullptr || list->empty() || list->front().list() == nullptr) {
            const std::optional<std::vector<i64>> words = read_words(yaml);
            tensor_.init.key = words;
            return words.has_value();
        }
        for (const Yaml& item : *list) {
            const std::optional<std::vector<i64>> words = read_words(item);
            if (!words) return false;
            if (words->size() != 2) {
                diagnostics_->error("E0213", item.span, "the keys of a stack are lists of two 32-bit words");
                return false;
            }
            tensor_.init.layers.push_back(
                {static_cast<std::uint32_t>((*words)[0]), static_cast<std::uint32_t>((*words)[1])});
        }
        return true;
    }

    std::optional<std::vector<i64>> read_words(const Yaml& yaml) {
        std::vector<i64> words;
        const auto read_one = [&](const Yaml& item) {
            const std::optional<i64> word = read_int(item, what("init.key"), *diagnostics_);
            if (word) words.push_back(*word);
            return word.has_value();
        };
        bool good = true;
        if (yaml.list() == nullptr)
            good = read_one(yaml);
        else
            for (const Yaml& item : *yaml.list()) good = read_one(item) && good;
        if (!good) return std::nullopt;
        const bool fits = std::all_of(words.begin(), words.end(), [](i64 w) { return w >= 0 && w <= 0xFFFFFFFFLL; });
        if (yaml.list() != nullptr && (words.size() != 2 || !fits)) {
            diagnostics_->error("E0213", yaml.span, "a key is one seed, or a list of two 32-bit words");
            return std::nullopt;
        }
        return words;
    }

    const AxisDecl* find(std::string_view name) const {
        for (const AxisDecl& axis : *axes_)
            if (axis.name.text == name) return &axis;
        return nullptr;
    }

    const YamlEntry* entry_;
    TensorRole role_;
    const std::vector<AxisDecl>* axes_;
    const Sources* sources_;
    Diagnostics* diagnostics_;
    TensorDecl tensor_;
};

} // namespace

bool read_tensors(const Yaml& yaml, TensorRole role, const EntryContext& context, std::vector<TensorDecl>& tensors,
                  Diagnostics& diagnostics) {
    const YamlMap* map = yaml.map();
    if (map == nullptr) {
        constexpr std::string_view words[] = {"inputs", "params", "variables", "targets"};
        diagnostics.error("E0113", yaml.span,
                          fmt::format("{}: expected a map of name: {{axes: [...]}}, found {}",
                                      words[static_cast<size_t>(role)], yaml.kind()));
        return false;
    }
    bool good = true;
    for (const YamlEntry& entry : *map) {
        std::optional<TensorDecl> tensor = TensorReader(entry, role, context, diagnostics).read();
        good = good && tensor;
        if (tensor) tensors.push_back(std::move(*tensor));
    }
    return good;
}

} // namespace shard
