// A layout file: mesh, rules, overrides, fsdp, hardware, policy. Whether rules and overrides fit the mesh and the model
// is for the seed pass.
#include "planner/read/layout_reader.h"

#include "planner/model/names.h"
#include "planner/read/policy_reader.h"
#include "planner/read/sharding_spec_reader.h"
#include "planner/text/yaml_values.h"
#include "plans/base/checked.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr size_t max_mesh_axes = 32;
constexpr size_t max_listed_devices = 1 << 20;
constexpr i64 max_devices = i64{1} << 40; // totals over devices are counted in 64 bits

class LayoutReader {
public:
    LayoutReader(const Yaml& yaml, Diagnostics& diagnostics) : yaml_(&yaml), diagnostics_(&diagnostics) {}

    Layout read() {
        const Yaml* mesh = yaml_->find("mesh");
        if (mesh == nullptr)
            diagnostics_->error("E0116", {yaml_->span.file, 1, 1, 1}, "the layout has no 'mesh'")
                .help("write mesh: {data: 2, model: 4}, or mesh: {} for one device");
        else if (read_mesh(*mesh))
            if (const Yaml* ids = yaml_->find("device_ids")) read_device_ids(*ids);
        if (const Yaml* rules = yaml_->find("rules"))
            if (std::optional<std::vector<AxisRule>> list = read_axis_rules(*rules, *diagnostics_))
                layout_.rules = std::move(*list);
        if (const std::optional<size_t> choice = read_choice("semantics", {"linen", "nnx"})) {
            layout_.semantics = *choice == 0 ? RuleSemantics::linen : RuleSemantics::nnx;
            layout_.semantics_written = true;
        }
        if (const std::optional<size_t> choice = read_choice("missing_axes", {"error", "ignore"}))
            layout_.missing_axes = *choice == 0 ? MissingAxes::error : MissingAxes::ignore;
        if (const Yaml* divisibility = yaml_->find("divisibility")) read_divisibility(*divisibility);
        if (const std::optional<size_t> choice = read_choice("partitioner", {"shardc", "xla"}))
            layout_.partitioner = static_cast<Partitioner>(*choice);
        if (const std::optional<size_t> choice = read_choice("prefer", {"time", "bytes", "compute", "memory"}))
            layout_.prefer = static_cast<Prefer>(*choice);
        if (const std::optional<size_t> choice = read_choice("sequence_parallel", {"auto", "never"}))
            layout_.sequence_parallel = *choice == 0;
        if (const Yaml* attention = yaml_->find("attention")) read_attention(*attention);
        read_overrides("inputs", layout_.inputs);
        read_overrides("params", layout_.params);
        read_overrides("values", layout_.values);
        read_overrides("outputs", layout_.outputs);
        read_overrides("states", layout_.states);
        read_overrides("gradients", layout_.gradients);
        if (const Yaml* fsdp = yaml_->find("fsdp")) read_fsdp(*fsdp);
        if (const Yaml* hardware = yaml_->find("hardware")) {
            layout_.hardware_span = hardware->span;
            if (hardware->kind() == "a number")
                diagnostics_->error("E0113", hardware->span, "hardware: expected a name, found a number")
                    .help("`shardc list hardware` names what there is; a file of your own is named by its path");
            else if (std::optional<std::string> name = read_string(*hardware, "hardware", *diagnostics_))
                layout_.hardware = std::move(*name);
        }
        if (const Yaml* policy = yaml_->find("policy")) layout_.policy = read_policy_map(*policy, *diagnostics_);
        return std::move(layout_);
    }

private:
    bool read_mesh(const Yaml& mesh) {
        const YamlMap* map = mesh.map();
        if (map == nullptr) {
            diagnostics_
                ->error("E0113", mesh.span, fmt::format("mesh: expected a map of axis: size, found {}", mesh.kind()))
                .help("write mesh: {data: 2, model: 4}, outer to inner");
            return false;
        }
        if (map->size() > max_mesh_axes) {
            diagnostics_->error("E0302", mesh.span,
                                fmt::format("the mesh has {} axes, more than {}", map->size(), max_mesh_axes));
            return false;
        }
        bool good = true;
        std::optional<i64> devices = 1;
        for (const YamlEntry& entry : *map) {
            const std::optional<MeshAxis> axis = read_axis(entry);
            good = good && axis;
            if (!axis) continue;
            layout_.mesh.axes.push_back(*axis);
            layout_.mesh_spans.push_back(entry.key_span);
            if (devices) devices = checked_multiply(*devices, axis->size);
        }
        if (devices && *devices <= max_devices) return good;
        diagnostics_
            ->error("E0302", mesh.span,
                    devices ? fmt::format("the mesh has {} devices, more than {}", *devices, max_devices)
                            : std::string("the number of devices does not fit in 64 bits"))
            .help("look for an axis size with too many digits");
        return false;
    }

    // `data: 2` or `data: {size: 2, link: dcn}`.
    std::optional<MeshAxis> read_axis(const YamlEntry& entry) {
        MeshAxis axis;
        axis.name = entry.key;
        bool good = check_name(entry.key, entry.key_span, "a mesh axis", *diagnostics_);
        const std::string what = fmt::format("mesh axis '{}'", entry.key);
        const Yaml* size = &entry.value;
        if (entry.value.map() != nullptr) {
            check_keys(entry.value, {"size", "link"}, what, *diagnostics_);
            size = entry.value.find("size");
            if (size == nullptr) {
                diagnostics_->error("E0116", entry.key_span, fmt::format("{} has no 'size'", what));
                return std::nullopt;
            }
            if (const Yaml* link = entry.value.find("link")) {
                const std::optional<std::string> name =
                    read_string(*link, fmt::format("link of {}", what), *diagnostics_);
                good = good && name;
                if (name) axis.link = *name;
            }
        }
        if (size->kind() == "a string") {
            diagnostics_->error("E0113", size->span, fmt::format("{}: expected an integer, found a string", what))
                .help(fmt::format("write how many devices lie along it, as {}: 4", entry.key));
            return std::nullopt;
        }
        const std::optional<i64> value = read_int(*size, what, *diagnostics_);
        if (!value) return std::nullopt;
        if (*value < 1) {
            diagnostics_->error("E0301", size->span,
                                fmt::format("{}: the size must be at least 1, it is {}", what, *value));
            return std::nullopt;
        }
        axis.size = *value;
        if (!good) return std::nullopt;
        return axis;
    }

    void read_device_ids(const Yaml& yaml) {
        const YamlList* list = yaml.list();
        if (list == nullptr) {
            diagnostics_->error("E0113", yaml.span, fmt::format("device_ids: expected a list, found {}", yaml.kind()));
            return;
        }
        const i64 devices = layout_.mesh.device_count();
        if (static_cast<i64>(list->size()) != devices || list->size() > max_listed_devices) {
            diagnostics_->error("E0303", yaml.span,
                                fmt::format("device_ids lists {} devices, the mesh has {}", list->size(), devices));
            return;
        }
        std::vector<i64> ids;
        std::vector<bool> seen(list->size());
        for (const Yaml& item : *list) {
            const std::optional<i64> id = read_int(item, "device_ids", *diagnostics_);
            if (!id) return;
            if (*id < 0 || *id >= devices || seen[*id]) {
                diagnostics_
                    ->error("E0303", item.span,
                            *id < 0 || *id >= devices ? fmt::format("there is no device {}", *id)
                                                      : fmt::format("device {} is listed twice", *id))
                    .help(fmt::format("list each of 0 to {} once, in the order of the mesh", devices - 1));
                return;
            }
            seen[*id] = true;
            ids.push_back(*id);
        }
        layout_.mesh.device_ids = std::move(ids);
    }

    GatherAgain read_gather_again(const Yaml& yaml) {
        if (yaml.scalar() != nullptr && yaml.scalar()->text == "auto") return GatherAgain::if_faster;
        if (yaml.scalar() == nullptr || yaml.kind() != "true or false") {
            diagnostics_
                ->error("E0113", yaml.span,
                        fmt::format("gather_again: expected true, false or auto, found {}", yaml.kind()))
                .help("write true to gather for each pass, false to gather once, auto for the faster that fits");
            return GatherAgain::yes;
        }
        return read_bool(yaml, "gather_again", *diagnostics_).value_or(true) ? GatherAgain::yes : GatherAgain::no;
    }

    void read_fsdp(const Yaml& yaml) {
        constexpr std::string_view example = "write fsdp: {axis: data}, or fsdp: {axis: data, min_size: 262144}";
        if (yaml.map() == nullptr) {
            diagnostics_->error("E0113", yaml.span, fmt::format("fsdp: expected a map, found {}", yaml.kind()))
                .help(std::string(example));
            return;
        }
        FsdpDecl fsdp;
        fsdp.span = yaml.span;
        if (!check_keys(yaml, {"axis", "min_size", "prefetch", "gather", "gather_again"}, "fsdp", *diagnostics_))
            return;
        if (const Yaml* size = yaml.find("min_size")) {
            const std::optional<i64> value = read_int(*size, "min_size", *diagnostics_);
            if (value && *value < 0)
                diagnostics_->error("E0115", size->span, fmt::format("min_size cannot be negative, it is {}", *value));
            fsdp.min_size = value.value_or(fsdp.min_size);
        }
        const Yaml* axis = yaml.find("axis");
        if (axis == nullptr) {
            diagnostics_->error("E0116", yaml.span, "fsdp has no 'axis'").help(std::string(example));
            return;
        }
        if (axis->list() != nullptr && axis->list()->empty()) {
            diagnostics_->error("E0116", axis->span, "fsdp splits over no axis").help(std::string(example));
            return;
        }
        for (const Yaml& one : axis->list() != nullptr ? *axis->list() : std::vector<Yaml>{*axis}) {
            const std::optional<Name> name = read_name(one, "a mesh axis", *diagnostics_);
            if (!name) return;
            const auto is_it = [&name](const Name& other) { return other.text == name->text; };
            if (std::any_of(fsdp.axes.begin(), fsdp.axes.end(), is_it)) {
                diagnostics_->error("E0115", name->span, fmt::format("fsdp names the axis '{}' twice", name->text));
                return;
            }
            fsdp.axes.push_back(*name);
        }
        if (const Yaml* prefetch = yaml.find("prefetch"))
            fsdp.prefetch = read_bool(*prefetch, "prefetch", *diagnostics_).value_or(fsdp.prefetch);
        const std::vector<std::string_view> gathers = {"always", "auto"};
        if (const Yaml* gather = yaml.find("gather"))
            if (const std::optional<size_t> choice = read_choice(*gather, "gather", gathers))
                fsdp.gather = static_cast<GatherParameters>(*choice);
        if (const Yaml* again = yaml.find("gather_again")) fsdp.gather_again = read_gather_again(*again);
        layout_.fsdp = std::move(fsdp);
    }

    // One word for all dims, or a map by logical axis, with `default` for the others.
    void read_divisibility(const Yaml& yaml) {
        const std::vector<std::string_view> choices = {"error", "drop", "pad"};
        if (yaml.map() == nullptr) {
            if (const std::optional<size_t> choice = read_choice(yaml, "divisibility", choices))
                layout_.divisibility.otherwise = static_cast<Divisibility>(*choice);
            return;
        }
        for (const YamlEntry& entry : *yaml.map()) {
            const std::optional<size_t> choice =
                read_choice(entry.value, fmt::format("divisibility of '{}'", entry.key), choices);
            if (!choice) continue;
            if (entry.key == "default")
                layout_.divisibility.otherwise = static_cast<Divisibility>(*choice);
            else if (check_name(entry.key, entry.key_span, "a logical axis", *diagnostics_))
                layout_.divisibility.by_axis.emplace_back(entry.key, static_cast<Divisibility>(*choice));
        }
    }

    // One way for all, or by path.
    void read_attention(const Yaml& yaml) {
        const auto read_one = [&](const Yaml& value, std::string glob, Span span, std::string_view key) {
            std::vector<std::string_view> choices = {"auto"};
            choices.insert(choices.end(), std::begin(sequence_way_names), std::end(sequence_way_names));
            const std::optional<size_t> choice = read_choice(value, key, choices);
            if (!choice) return;
            std::optional<SequenceWay> way;
            if (*choice > 0) way = static_cast<SequenceWay>(*choice - 1);
            layout_.attention.wishes.push_back({std::move(glob), way, span, yaml.map() == nullptr});
        };
        if (yaml.map() == nullptr) return read_one(yaml, "**", yaml.span, "attention");
        for (const YamlEntry& entry : *yaml.map())
            if (check_pattern(entry))
                read_one(entry.value, entry.key, entry.value.span, fmt::format("attention of '{}'", entry.key));
    }

    bool check_pattern(const YamlEntry& entry) {
        const std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.#*?{},";
        const size_t wrong = entry.key.find_first_not_of(allowed);
        if (!entry.key.empty() && wrong == std::string::npos) return true;
        diagnostics_->error("E0308", entry.key_span, fmt::format("'{}' is not a path pattern", entry.key))
            .help("use names, dots, * (any name), ** (any path), ? (one character), {0..3} and {a,b} (one of "
                  "these)");
        return false;
    }

    // Over how many entries `w: P(data, model)` goes, which is two in braces; 0: it is no such thing.
    static size_t parts_of_partition_spec(const YamlMap& map, size_t first) {
        const YamlScalar* value = map[first].value.scalar();
        if (value == nullptr || !is_partition_spec(value->text)) return 0;
        std::ptrdiff_t open = 0;
        const auto count = [&open](std::string_view text) {
            open += std::count(text.begin(), text.end(), '(') - std::count(text.begin(), text.end(), ')');
        };
        count(value->text);
        size_t parts = 1;
        for (; open > 0 && first + parts < map.size() && map[first + parts].value.is_null(); ++parts)
            count(map[first + parts].key);
        return parts;
    }

    std::optional<size_t> read_choice(std::string_view key, const std::vector<std::string_view>& choices) {
        const Yaml* yaml = yaml_->find(key);
        return yaml == nullptr ? std::nullopt : read_choice(*yaml, key, choices);
    }
    std::optional<size_t> read_choice(const Yaml& read, std::string_view key,
                                      const std::vector<std::string_view>& choices) {
        const Yaml* yaml = &read;
        const std::optional<std::string> text = read_string(*yaml, key, *diagnostics_);
        if (!text) return std::nullopt;
        for (size_t i = 0; i < choices.size(); ++i)
            if (choices[i] == *text) return i;
        DiagnosticBuilder error =
            diagnostics_->error("E0118", yaml->span, fmt::format("{}: unknown choice '{}'", key, *text));
        error.help(fmt::format("choices: {}", fmt::join(choices, ", ")));
        suggest(error, *text, choices);
        return std::nullopt;
    }

    void read_overrides(std::string_view key, std::vector<Override>& overrides) {
        const Yaml* yaml = yaml_->find(key);
        if (yaml == nullptr) return;
        if (yaml->map() == nullptr) {
            diagnostics_
                ->error("E0113", yaml->span,
                        fmt::format("{}: expected a map of path: sharding, found {}", key, yaml->kind()))
                .help(fmt::format("write {}: {{\"block.*.w1\": [~, model]}}", key));
            return;
        }
        for (size_t e = 0; e < yaml->map()->size(); ++e) {
            const YamlEntry& entry = (*yaml->map())[e];
            if (!check_pattern(entry)) continue;
            if (const size_t parts = parts_of_partition_spec(*yaml->map(), e); parts > 0) {
                std::string written = entry.value.scalar()->text;
                for (size_t part = 1; part < parts; ++part) written += ", " + (*yaml->map())[e + part].key;
                report_partition_spec(written, entry.value.span, *diagnostics_);
                e += parts - 1;
                continue;
            }
            if (std::optional<ShardingSpec> spec = read_sharding_spec(entry.value, *diagnostics_))
                overrides.push_back({entry.key, std::move(*spec), entry.key_span});
        }
    }

    const Yaml* yaml_;
    Diagnostics* diagnostics_;
    Layout layout_;
};

// "layouts/fsdp.yaml" -> "fsdp"
std::string stem(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
    const size_t dot = file.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

// What is planned but not built yet is refused with its own words, and not offered as a known key.
void refuse_later_keys(Yaml& yaml, Diagnostics& diagnostics) {
    YamlMap* map = std::get_if<YamlMap>(&yaml.value);
    if (map == nullptr) return;
    std::erase_if(*map, [&](const YamlEntry& entry) {
        if (entry.key != "rng") return false;
        diagnostics.error("E0215", entry.value.span, fmt::format("'{}' is not supported by this version", entry.key))
            .help("remove it");
        return true;
    });
}

} // namespace

std::optional<Layout> read_layout(const Sources& sources, int file, Diagnostics& diagnostics) {
    const YamlDocument document = parse_yaml(sources, file, diagnostics);
    if (!document) return std::nullopt;
    Yaml yaml = *document;
    const int before = diagnostics.error_count();
    refuse_later_keys(yaml, diagnostics);
    if (!check_keys(yaml,
                    {"mesh", "device_ids", "rules", "semantics", "missing_axes", "divisibility", "partitioner",
                     "prefer", "attention", "sequence_parallel", "inputs", "params", "values", "outputs", "states",
                     "gradients", "fsdp", "hardware", "policy"},
                    "a layout", diagnostics))
        return std::nullopt;
    Layout layout = LayoutReader(yaml, diagnostics).read();
    if (diagnostics.error_count() > before) return std::nullopt;
    layout.name = stem(sources.name(file));
    return layout;
}

} // namespace shard
