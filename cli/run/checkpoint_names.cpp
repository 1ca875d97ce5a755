#include "cli/run/checkpoint_names.h"

#include "planner/read/checkpoint_names.h"
#include "planner/text/glob.h"
#include "planner/text/named_file.h"
#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

class NamesReader {
public:
    explicit NamesReader(Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

    StoredNames read(const Yaml& yaml, const std::set<std::string>& params) {
        StoredNames names;
        if (!check_keys(yaml, {"prefixes", "unused", "tensors"}, "a file of names", *diagnostics_)) return names;
        if (const Yaml* prefixes = yaml.find("prefixes")) names.prefixes = read_strings(*prefixes, "prefixes");
        if (const Yaml* unused = yaml.find("unused"))
            names.is_unused = [patterns = read_strings(*unused, "unused")](const std::string& name) {
                return std::any_of(patterns.begin(), patterns.end(),
                                   [&](const std::string& pattern) { return glob_matches(pattern, name); });
            };
        const Yaml* tensors = yaml.find("tensors");
        if (tensors == nullptr || tensors->map() == nullptr) {
            diagnostics_
                ->error("E0615", tensors == nullptr ? yaml.span : tensors->span,
                        "expected `tensors`, a map of parameters to their names")
                .help("write tensors: {wte: model.embed_tokens.weight}");
            return names;
        }
        const std::vector<std::string_view> known(params.begin(), params.end());
        for (const YamlEntry& entry : *tensors->map()) {
            if (!params.contains(entry.key))
                diagnostics_->error("E0615", entry.key_span, fmt::format("the model has no parameter '{}'", entry.key))
                    .help(did_you_mean(entry.key, known, "names are paths without the numbers of layers"));
            else if (std::optional<StoredName> name = read_name(entry.value))
                names.tensors.emplace(entry.key, std::move(*name));
        }
        return names;
    }

private:
    std::nullopt_t wrong(const Span& span, const std::string& problem) {
        diagnostics_->error("E0615", span, problem).help("docs/init.md says how names are written");
        return std::nullopt;
    }

    std::vector<std::string> read_strings(const Yaml& yaml, std::string_view what) {
        std::vector<std::string> texts;
        const YamlList one = {yaml};
        for (const Yaml& item : yaml.list() != nullptr ? *yaml.list() : one)
            if (const std::optional<std::string> text = read_string(item, what, *diagnostics_)) texts.push_back(*text);
        return texts;
    }

    std::optional<StoredName> read_name(const Yaml& yaml) {
        StoredName name;
        if (yaml.map() == nullptr) return read_from(yaml, name) ? std::optional(name) : std::nullopt;
        if (!check_keys(yaml, {"from", "rearrange", "part"}, "a stored parameter", *diagnostics_)) return std::nullopt;
        const Yaml *from = yaml.find("from"), *rearrange = yaml.find("rearrange"), *part = yaml.find("part");
        if (from == nullptr) return wrong(yaml.span, "`from` is missing: the name that it has there");
        if (!read_from(*from, name)) return std::nullopt;
        std::map<std::string, StoredRange> parts;
        if (part != nullptr && !read_parts(*part, parts)) return std::nullopt;
        if (rearrange == nullptr)
            return part == nullptr ? std::optional(name) : wrong(part->span, "`part` is of `rearrange`");
        const std::optional<std::string> text = read_string(*rearrange, "rearrange", *diagnostics_);
        if (!text) return std::nullopt;
        std::string problem;
        name.rearrangement = Rearrangement::parse(*text, std::move(parts), problem);
        return name.rearrangement ? std::optional(name) : wrong(rearrange->span, problem);
    }

    bool read_from(const Yaml& yaml, StoredName& name) {
        for (const std::string& text : read_strings(yaml, "from")) {
            std::string problem;
            std::optional<NameTemplate> made = NameTemplate::parse(text, problem);
            if (!made) {
                wrong(yaml.span, problem);
                return false;
            }
            name.from.push_back(std::move(*made));
        }
        if (name.from.empty()) wrong(yaml.span, "expected a name");
        return !name.from.empty();
    }

    // {qkv: 1 of 3}
    bool read_parts(const Yaml& yaml, std::map<std::string, StoredRange>& parts) {
        if (yaml.map() == nullptr) {
            wrong(yaml.span, "expected a map of dims to what is taken of them: {qkv: 1 of 3}");
            return false;
        }
        for (const YamlEntry& entry : *yaml.map()) {
            const std::string text = entry.value.scalar() != nullptr ? entry.value.scalar()->text : "";
            const size_t of = text.find(" of ");
            const std::optional<i64> start = parse_number<i64>(text.substr(0, of));
            const std::optional<i64> size =
                of == std::string::npos ? std::nullopt : parse_number<i64>(text.substr(of + 4));
            if (!start || !size || *start < 0 || *size <= *start || *size > (i64{1} << 40)) {
                wrong(entry.value.span, "expected where it begins, and how many there are: 1 of 3");
                return false;
            }
            parts[entry.key] = {*start, *size};
        }
        return true;
    }

    Diagnostics* diagnostics_;
};

} // namespace

std::optional<StoredNames> read_checkpoint_names(const Plan& plan, Sources& sources, Diagnostics& diagnostics) {
    Sources held; // as the plan holds them: the model first
    for (const SourceText& source : plan.sources) held.add(source.name, source.text);
    const int file = held.count() == 0 ? -1 : find_checkpoint_names(held, 0);
    if (file < 0) return StoredNames();
    int place = find_source(sources, held.name(file));
    if (place < 0) place = sources.add(held.name(file), held.text(file));
    const int before = diagnostics.error_count();
    const YamlDocument yaml = parse_yaml(sources, place, diagnostics);
    if (!yaml) return std::nullopt;
    std::set<std::string> params;
    for (const PlanInput& input : plan.inputs) params.insert(path_without_layers(plan.buffers[input.buffer].name));
    StoredNames names = NamesReader(diagnostics).read(*yaml, params);
    return diagnostics.error_count() == before ? std::optional(std::move(names)) : std::nullopt;
}

} // namespace shard
