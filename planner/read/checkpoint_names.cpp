#include "planner/read/checkpoint_names.h"

#include "planner/text/named_file.h"
#include "planner/text/yaml_values.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::string_view key = "checkpoint_names";

// The path of the file that a model names; empty if it names none.
std::string path_of(const Sources& sources, int model_file) {
    if (sources.text(model_file).find(key) == std::string::npos) return {};
    Diagnostics unsaid; // what reads the model says it
    const YamlDocument yaml = parse_yaml(sources, model_file, unsaid);
    const Yaml* name = yaml ? yaml->find(key) : nullptr;
    const std::optional<std::string> text = name == nullptr ? std::nullopt : read_string(*name, key, unsaid);
    return text && !text->empty() ? path_beside(*text, name->span, sources) : "";
}

} // namespace

void load_checkpoint_names(Sources& sources, int model_file, const ReadText& read) {
    const std::string path = path_of(sources, model_file);
    if (path.empty() || find_source(sources, path) >= 0) return;
    if (!read) {
        load_source(sources, path);
        return;
    }
    if (std::optional<std::string> text = read(path)) sources.add(path, std::move(*text));
}

int find_checkpoint_names(const Sources& sources, int model_file) {
    const std::string path = path_of(sources, model_file);
    return path.empty() ? -1 : find_source(sources, path);
}

void check_checkpoint_names(const Yaml& model, const Sources& sources, Diagnostics& diagnostics) {
    const Yaml* name = model.find(key);
    if (name == nullptr) return;
    const std::optional<std::string> text = read_string(*name, key, diagnostics);
    if (!text) return;
    const std::string path = path_beside(*text, name->span, sources);
    if (!text->empty() && find_source(sources, path) >= 0) return;
    diagnostics
        .error("E0122", name->span, fmt::format("the file of names {} cannot be read: {}", path, source_problem(path)))
        .help("the path is relative to the file in which it stands; leave the key out where nothing is restored from "
              "elsewhere");
}

} // namespace shard
