#include "planner/read/include.h"

#include "planner/text/embedded_texts.h"
#include "planner/text/named_file.h"
#include "planner/text/yaml_values.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace shard {

namespace {

constexpr size_t most_files = 100;

const EmbeddedText* find_in_box(std::string_view name) {
    for (const EmbeddedText& entry : embedded_library())
        if (entry.name == name) return &entry;
    return nullptr;
}

constexpr std::string_view boxed = "library:";

// What a file that is named is called among the sources.
std::string source_name(std::string_view name, const Span& where, const Sources& sources) {
    return is_file_name(name) ? path_beside(name, where, sources) : fmt::format("{}{}", boxed, name);
}

// Walks over the files that are included, each once, depth first.
class Walk {
public:
    // Where a file is among the sources; -1 if it is not.
    using Find = std::function<int(const std::string& name, const Span& where)>;
    Walk(const Sources& sources, int model_file, const Find& find, Diagnostics& diagnostics)
        : sources_(&sources), model_file_(model_file), find_(&find), diagnostics_(&diagnostics) {}

    void visit(const Yaml& file) {
        const Yaml* include = file.find("include");
        if (include == nullptr) return;
        const YamlList one = {*include};
        for (const Yaml& item : include->list() != nullptr ? *include->list() : one) {
            const std::optional<std::string> name = read_string(item, "include", *diagnostics_);
            if (!name) continue;
            const int found = (*find_)(*name, item.span);
            if (found == model_file_) {
                diagnostics_
                    ->error("E0121", item.span, fmt::format("'{}' is the model, which cannot be included", *name))
                    .help("leave it out: modules are known in the file that holds them; what several files need is a "
                          "file of modules");
                continue;
            }
            if (found < 0 || std::find(files.begin(), files.end(), found) != files.end())
                continue; // a circle ends where it began
            if (files.size() == most_files) {
                diagnostics_->error("E0121", item.span, fmt::format("more than {} files are included", most_files))
                    .help("join some of them");
                return;
            }
            files.push_back(found);
            const YamlDocument yaml = parse_yaml(*sources_, found, *diagnostics_);
            if (!yaml || !check_keys(*yaml, {"doc", "include", "modules"}, "a file of modules", *diagnostics_))
                continue;
            visit(*yaml);
            trees.push_back(yaml);
        }
    }

    std::vector<int> files;
    std::vector<YamlDocument> trees;

private:
    const Sources* sources_;
    int model_file_;
    const Find* find_;
    Diagnostics* diagnostics_;
};

Walk walk(const Sources& sources, int model_file, const Walk::Find& find) {
    Diagnostics unsaid; // what reads the model says it
    Walk made(sources, model_file, find, unsaid);
    const bool includes = sources.text(model_file).find("include") != std::string::npos;
    if (const YamlDocument yaml = includes ? parse_yaml(sources, model_file, unsaid) : nullptr) made.visit(*yaml);
    return made;
}

} // namespace

bool is_boxed(std::string_view source_name) { return source_name.starts_with(boxed); }

void load_includes(Sources& sources, int model_file, const ReadText& read) {
    walk(sources, model_file, [&](const std::string& name, const Span& where) {
        const std::string path = source_name(name, where, sources);
        const EmbeddedText* entry = is_file_name(name) ? nullptr : find_in_box(name);
        if (const int known = find_source(sources, path); known >= 0) return known;
        if (entry != nullptr) return sources.add(path, std::string(entry->text));
        if (!is_file_name(name) || !read) return is_file_name(name) ? load_source(sources, path) : -1;
        std::optional<std::string> text = read(path);
        return text ? sources.add(path, std::move(*text)) : -1;
    });
}

std::vector<int> included_files(const Sources& sources, int model_file) {
    return walk(sources, model_file,
                [&](const std::string& name, const Span& where) {
                    return find_source(sources, source_name(name, where, sources));
                })
        .files;
}

std::vector<YamlEntry> read_included(const Yaml& model, const Sources& sources, Diagnostics& diagnostics) {
    const Walk::Find find = [&](const std::string& name, const Span& where) {
        const std::string path = source_name(name, where, sources);
        const int file = find_source(sources, path);
        if (file >= 0) return file;
        std::vector<std::string> names;
        for (const EmbeddedText& entry : embedded_library()) names.emplace_back(entry.name);
        if (is_file_name(name))
            diagnostics
                .error("E0121", where,
                       fmt::format("the file of modules {} cannot be read: {}", path, source_problem(path)))
                .help("the path is relative to the file in which it stands");
        else
            diagnostics.error("E0121", where, fmt::format("there are no modules '{}' in the box", name))
                .note(fmt::format("there are: {}", fmt::join(names, ", ")))
                .help(did_you_mean(name, {names.begin(), names.end()},
                                   "a name that ends in .yaml is a file beside the model"));
        return -1;
    };
    Walk included(sources, model.span.file, find, diagnostics);
    included.visit(model);
    std::vector<YamlEntry> modules;
    for (const YamlDocument& tree : included.trees) {
        const Yaml* written = tree->find("modules");
        if (written == nullptr) continue;
        if (const YamlMap* map = written->map())
            modules.insert(modules.end(), map->begin(), map->end());
        else
            diagnostics.error("E0113", written->span,
                              fmt::format("modules: expected a map, found {}", written->kind()));
    }
    return modules;
}

std::vector<LibraryFile> library() {
    std::vector<LibraryFile> files;
    for (const EmbeddedText& entry : embedded_library()) {
        Sources sources;
        Diagnostics diagnostics;
        const YamlDocument yaml = parse_yaml(sources, sources.add("library", std::string(entry.text)), diagnostics);
        const Yaml* doc = yaml ? yaml->find("doc") : nullptr;
        files.push_back(
            {std::string(entry.name), doc && doc->scalar() ? doc->scalar()->text : "", std::string(entry.text)});
    }
    return files;
}

} // namespace shard
