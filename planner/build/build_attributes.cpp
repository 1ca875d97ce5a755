#include "planner/build/build_attributes.h"

#include "planner/build/build_dims.h"
#include "planner/build/build_elements.h"
#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/model/rules.h"
#include "planner/read/sharding_spec_reader.h"
#include "planner/text/yaml_flow.h"
#include "planner/text/yaml_values.h"
#include "plans/base/index_of.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

using Type = AttributeDef::Type;

// Arithmetic may stand in their place. Where dims and sizes stand, names are more than their numbers.
bool holds_numbers(Type type) {
    return type == Type::integer || type == Type::number || type == Type::element || type == Type::pairs ||
           type == Type::elements;
}

// One value, or a list of them.
std::vector<const Yaml*> items_of(const Yaml& yaml) {
    std::vector<const Yaml*> items;
    if (!yaml.list()) return {&yaml};
    for (const Yaml& item : *yaml.list()) items.push_back(&item);
    return items;
}

// Reads the arguments of one entry; every method reports and returns false if a value does not fit.
class Reader {
public:
    explicit Reader(const ArgumentContext& context) : context_(context) {}

    bool read(const AttributeDef& def, const Yaml& written) {
        const std::optional<Yaml> number =
            holds_numbers(def.type) ? with_numbers(written, def.name, context_.model.axes, context_.diagnostics)
                                    : std::optional(written);
        if (!number) return false;
        const Yaml& yaml = *number;
        switch (def.type) {
        case Type::integer:
            return keep(def, read_int(yaml, def.name, context_.diagnostics));
        case Type::number:
            return keep(def, read_double(yaml, def.name, context_.diagnostics));
        case Type::element:
            return keep(def, read_element_of(of_operand(), yaml, def.name, context_.diagnostics));
        case Type::flag:
            return keep(def, read_bool(yaml, def.name, context_.diagnostics));
        case Type::string:
            return keep(def, read_string(yaml, def.name, context_.diagnostics));
        case Type::dtype:
            return read_dtype(def, yaml);
        case Type::integers:
        case Type::shape:
        case Type::size:
            return read_sizes(def, yaml);
        case Type::pairs:
            return read_pairs(def, yaml);
        case Type::elements:
            return read_elements(def, yaml);
        case Type::axes:
            return read_axes(def, yaml);
        case Type::dims:
        case Type::dim:
            return read_dims(def, yaml);
        case Type::sharding:
            return read_sharding(def, yaml);
        case Type::mesh_axes:
            return read_mesh_axes(def, yaml);
        }
        internal_error("unknown attribute type");
    }

    ReadArguments take() {
        // Read dims last, keep them where they were declared.
        ReadArguments ordered;
        ordered.mesh = std::move(result_.mesh);
        for (const AttributeDef& def : context_.declared)
            for (const auto& [key, value] : result_.attributes.entries())
                if (key == def.name) ordered.attributes.set(key, value);
        for (std::string_view beside : {"mesh_axes", "sizes"})
            if (result_.attributes.has(beside))
                ordered.attributes.set(std::string(beside), result_.attributes.integers(beside));
        return ordered;
    }

private:
    template<typename T>
    bool keep(const AttributeDef& def, const std::optional<T>& value) {
        if (!value) return false;
        result_.attributes.set(std::string(def.name), *value);
        return true;
    }

    bool read_dtype(const AttributeDef& def, const Yaml& yaml) {
        const std::optional<std::string> text = read_string(yaml, def.name, context_.diagnostics);
        if (!text) return false;
        if (parse_dtype(*text)) return keep(def, text);
        suggest_dtype(
            context_.diagnostics.error("E0226", yaml.span, fmt::format("there is no element type '{}'", *text)), *text);
        return false;
    }

    bool read_sizes(const AttributeDef& def, const Yaml& yaml) {
        std::vector<i64> sizes;
        std::vector<std::string> names;
        bool named = false;
        for (const Yaml* item : items_of(yaml)) {
            std::string name;
            const std::optional<i64> size = read_named_size(context_, *item, def.name, name);
            if (!size) return false;
            named = named || !name.empty();
            sizes.push_back(*size);
            names.push_back(std::move(name));
        }
        if (def.type == Type::size && !check_one(def, yaml, sizes.size(), "size")) return false;
        if (def.type == Type::size && sizes[0] < 1) {
            context_.diagnostics.error(
                "E0226", yaml.span,
                fmt::format("`{}` of '{}' must be at least 1, not {}", def.name, context_.op, sizes[0]));
            return false;
        }
        result_.attributes.set(std::string(def.name), sizes);
        if (def.type == Type::shape && named && declares("axes") && !result_.attributes.has("axes"))
            result_.attributes.set("axes", names);
        return true;
    }

    bool check_one(const AttributeDef& def, const Yaml& yaml, size_t given, std::string_view what) {
        if (given == 1) return true;
        context_.diagnostics.error("E0226", yaml.span,
                                   fmt::format("`{}` of '{}' is one {}, and {} {} given", def.name, context_.op, what,
                                               given == 0 ? "none" : std::to_string(given), given == 0 ? "is" : "are"));
        return false;
    }

    bool read_pairs(const AttributeDef& def, const Yaml& yaml) {
        std::vector<i64> numbers;
        for (const Yaml* item : items_of(yaml)) {
            const YamlList* pair = item->list();
            if (!pair || pair->size() != 2) {
                context_.diagnostics
                    .error("E0226", item->span, fmt::format("`{}` of '{}' is a list of pairs", def.name, context_.op))
                    .help(fmt::format("for example `{}: [[0, 1], [1, 0]]`", def.name));
                return false;
            }
            for (const Yaml& member : *pair) {
                const std::optional<i64> number = read_int(member, def.name, context_.diagnostics);
                if (!number) return false;
                numbers.push_back(*number);
            }
        }
        result_.attributes.set(std::string(def.name), numbers);
        return true;
    }

    bool read_elements(const AttributeDef& def, const Yaml& yaml) {
        const std::optional<DType> dtype =
            result_.attributes.has("dtype") ? parse_dtype(result_.attributes.string("dtype")) : std::nullopt;
        const std::optional<Elements> elements = read_elements_of(dtype, yaml, def.name, context_.diagnostics);
        if (!elements) return false;
        result_.attributes.set(std::string(def.name), elements->numbers);
        if (elements->flags && declares("dtype") && !dtype)
            result_.attributes.set("dtype", std::string(name(DType::boolean)));
        if (elements->shape.size() > 1 && declares("shape"))
            result_.attributes.set("shape", elements->shape); // or as said
        return true;
    }

    // One entry per dim, of the operand or of the shape that is being made.
    bool read_axes(const AttributeDef& def, const Yaml& yaml) {
        std::vector<std::string> names;
        std::vector<i64> sizes; // -1: not named
        for (const Yaml* item : items_of(yaml)) {
            if (item->is_null()) {
                names.emplace_back();
                sizes.push_back(-1);
                continue;
            }
            if (item->scalar() != nullptr && !is_name(item->scalar()->text) &&
                !is_unconstrained(item->scalar()->text)) {
                const std::optional<i64> size = read_size(*item, def.name, context_.model.axes, context_.diagnostics);
                if (!size) return false;
                names.emplace_back();
                sizes.push_back(*size);
                continue;
            }
            const std::optional<std::string> text = read_string(*item, def.name, context_.diagnostics);
            if (!text) return false;
            if (is_unconstrained(*text) && !declares("shape")) { // a constraint leaves this dim open
                names.push_back(*text);
                sizes.push_back(-1);
                continue;
            }
            if (!declares("shape") && report_mesh_axis(yaml, *item, *text)) return false;
            const AxisDecl* axis = known_axis(context_, *item, *text);
            if (!axis) return false;
            names.push_back(*text);
            sizes.push_back(axis->size);
        }
        result_.attributes.set(std::string(def.name), names);
        const bool makes_shape = declares("shape");
        if (makes_shape && !result_.attributes.has("shape")) {
            if (std::find(sizes.begin(), sizes.end(), -1) != sizes.end()) {
                context_.diagnostics.error("E0226", yaml.span, "a dim without a name needs a size")
                    .help("give `shape` beside `axes`");
                return false;
            }
            result_.attributes.set("shape", sizes);
            return true;
        }
        const std::vector<i64>& shape = makes_shape ? result_.attributes.integers("shape") : context_.operands[0].shape;
        return check_axes(yaml, names, sizes, shape);
    }

    // In the place of a logical axis a word that is nowhere near one, as axes of the mesh are, which the model does not
    // know. False: it is one, or near one.
    bool report_mesh_axis(const Yaml& yaml, const Yaml& item, const std::string& text) {
        const std::vector<std::string_view> known = name_texts(context_.model.axes);
        if (context_.model.find_axis(text) != nullptr || !nearest(text, known).empty()) return false;
        std::vector<std::string> dims;
        for (const Yaml* dim : items_of(yaml)) dims.push_back(dim->is_null() ? "~" : flow_text(*dim));
        context_.diagnostics.error("E0228", item.span, fmt::format("there is no axis '{}'", text))
            .help(fmt::format("`axes` are those of the model: {}; axes of the mesh are said with mesh: [{}]",
                              fmt::join(known, ", "), fmt::join(dims, ", ")));
        return true;
    }

    bool check_axes(const Yaml& yaml, const std::vector<std::string>& names, const std::vector<i64>& sizes,
                    const std::vector<i64>& shape) {
        if (names.size() != shape.size()) {
            context_.diagnostics
                .error("E0226", yaml.span,
                       fmt::format("{} axes are given for {} dims, {}", names.size(), shape.size(), shape_text(shape)))
                .help("give one entry for each dim, ~ for a dim without an axis");
            return false;
        }
        for (size_t d = 0; d < sizes.size(); ++d) {
            if (sizes[d] < 0 || shape[d] < 0 || sizes[d] == shape[d]) continue;
            const std::string axis = names[d].empty() ? "the dim" : fmt::format("axis '{}'", names[d]);
            context_.diagnostics.error("E0226", yaml.span,
                                       fmt::format("{} has size {}, but dim {} of {} has size {}", axis, sizes[d], d,
                                                   shape_text(shape), shape[d]));
            return false;
        }
        return true;
    }

    bool read_dims(const AttributeDef& def, const Yaml& yaml) {
        std::vector<std::string> logical;
        if (!context_.operands.empty()) {
            logical = context_.operands[0].logical;
        } else if (result_.attributes.has("shape")) {
            logical.resize(result_.attributes.integers("shape").size());
            if (result_.attributes.has("axes")) logical = result_.attributes.strings("axes");
        }
        std::vector<i64> dims;
        for (const Yaml* item : items_of(yaml)) {
            const std::optional<i64> dim = read_dim(context_, def.name, *item, logical);
            if (!dim) return false;
            if (std::find(dims.begin(), dims.end(), *dim) != dims.end()) {
                context_.diagnostics.error("E0226", item->span,
                                           fmt::format("`{}` of '{}' names dim {} twice", def.name, context_.op, *dim));
                return false;
            }
            dims.push_back(*dim);
        }
        if (def.type == Type::dim && !check_one(def, yaml, dims.size(), "dim")) return false;
        result_.attributes.set(std::string(def.name), dims);
        return true;
    }

    bool read_sharding(const AttributeDef& def, const Yaml& yaml) {
        result_.mesh = read_sharding_spec(yaml, context_.diagnostics);
        if (!result_.mesh) return false;
        if (result_.mesh->dims.size() != context_.operands[0].shape.size()) {
            context_.diagnostics.error(
                "E0226", yaml.span,
                fmt::format("the sharding has {}, but the value has {} dims, {}",
                            result_.mesh->dims.size() == 1 ? "1 entry"
                                                           : fmt::format("{} entries", result_.mesh->dims.size()),
                            context_.operands[0].rank(), shape_text(context_.operands[0].shape)));
            return false;
        }
        // The spec itself is kept on the node; the attribute says that there is one.
        result_.attributes.set(std::string(def.name), true);
        return true;
    }

    bool read_mesh_axes(const AttributeDef& def, const Yaml& yaml) {
        if (!context_.region) {
            context_.diagnostics
                .error("E0270", context_.span,
                       fmt::format("'{}' works across devices: it stands in the body of a manual region", context_.op))
                .help("write `- y: {manual: {in: {x: [i, ~]}, out: {y: [i, ~]}, body: [...]}}` around it");
            return false;
        }
        const GraphRegion& region = *context_.region;
        std::vector<std::string> names;
        std::vector<i64> numbers, sizes;
        for (const Yaml* item : items_of(yaml)) {
            const std::optional<std::string> text = read_string(*item, def.name, context_.diagnostics);
            if (!text) return false;
            const size_t a = index_of(region.names, *text);
            if (a == region.names.size() || std::find(names.begin(), names.end(), *text) != names.end()) {
                report_unknown(context_, "E0272", item->span,
                               a == region.names.size()
                                   ? fmt::format("the region is not manual over a mesh axis '{}'", *text)
                                   : fmt::format("mesh axis '{}' is named twice", *text),
                               *text, {region.names.begin(), region.names.end()});
                return false;
            }
            names.push_back(*text);
            numbers.push_back(region.axes[a].axis);
            sizes.push_back(region.axes[a].size);
        }
        if (names.empty()) {
            context_.diagnostics
                .error("E0272", yaml.span, fmt::format("`{}` of '{}' names no mesh axis", def.name, context_.op))
                .help(fmt::format("the region is manual over {}", fmt::join(region.names, ", ")));
            return false;
        }
        result_.attributes.set(std::string(def.name), names);
        result_.attributes.set("mesh_axes", numbers);
        result_.attributes.set("sizes", sizes);
        return true;
    }

    std::optional<DType> of_operand() const {
        return context_.operands.empty() ? std::nullopt : std::optional(context_.operands[0].dtype);
    }

    bool declares(std::string_view name) const {
        return std::any_of(context_.declared.begin(), context_.declared.end(),
                           [name](const AttributeDef& def) { return def.name == name; });
    }

    const ArgumentContext& context_;
    ReadArguments result_;
};

} // namespace

bool knows_arguments(const ArgumentContext& context, const YamlMap& arguments) {
    std::vector<std::string_view> names;
    for (const AttributeDef& def : context.declared) names.push_back(def.name);
    names.insert(names.end(), context.taken.begin(), context.taken.end());
    bool ok = true;
    for (const YamlEntry& entry : arguments) {
        if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
        report_unknown(context, "E0225", entry.key_span,
                       fmt::format("'{}' has no argument '{}'", context.op, entry.key), entry.key, names);
        ok = false;
    }
    return ok;
}

std::optional<ReadArguments> read_arguments(const ArgumentContext& context, const YamlMap& arguments) {
    bool ok = knows_arguments(context, arguments);
    const auto find = [&arguments](std::string_view name) -> const YamlEntry* {
        for (const YamlEntry& entry : arguments)
            if (entry.key == name) return &entry;
        return nullptr;
    };
    const YamlEntry* first_dims = nullptr;
    for (const AttributeDef& def : context.declared) {
        const YamlEntry* entry = def.type == Type::dims ? find(def.name) : nullptr;
        if (entry && first_dims) {
            context.diagnostics
                .error("E0226", entry->key_span, fmt::format("the dims of '{}' are given twice", context.op))
                .label(first_dims->key_span, "first given here")
                .help(fmt::format("`{}` and `{}` mean the same: write one of them", first_dims->key, entry->key));
            ok = false;
        }
        if (entry) first_dims = entry;
    }
    Reader reader(context);
    // Elements are of the type that `dtype` says, and names of dims may refer to what `shape` and `axes` say.
    const auto turn_of = [](Type type) {
        return type == Type::dtype ? 0 : type == Type::dims || type == Type::dim ? 2 : 1;
    };
    for (const int turn : {0, 1, 2})
        for (const AttributeDef& def : context.declared) {
            if (turn_of(def.type) != turn) continue;
            if (const YamlEntry* entry = find(def.name)) {
                ok = reader.read(def, entry->value) && ok;
            } else if (def.required) {
                context.diagnostics
                    .error("E0225", context.span, fmt::format("'{}' needs the argument '{}'", context.op, def.name))
                    .help(fmt::format("{}: {}", def.name, def.doc));
                ok = false;
            }
        }
    if (!ok) return std::nullopt;
    return reader.take();
}

bool asks_for_sharding(const OpDef& op) {
    const auto is_sharding = [](const AttributeDef& def) { return def.type == AttributeDef::Type::sharding; };
    return std::any_of(op.attributes.begin(), op.attributes.end(), is_sharding);
}

void keep_constraint(Graph& graph, const OpDef& op, const ReadArguments& read, ValueId result) {
    if (!asks_for_sharding(op)) return;
    Asked asked{{}, read.mesh, {}};
    if (!read.mesh && read.attributes.has("axes")) asked.logical = read.attributes.strings("axes");
    graph.nodes[graph.value(result).producer].apply().asked = std::move(asked);
}

} // namespace shard
