#include "tests/structure/structure_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace shard {

namespace {

struct Folder {
    std::string_view name;
    std::vector<std::string_view> may_include;
};

const std::vector<Folder>& folders() {
    static const std::vector<Folder> table = {
        {"plans", {"plans"}},
        {"planner", {"planner", "plans"}},
        {"executor", {"executor", "plans"}},
        {"exporter", {"exporter", "plans"}},
        {"importer", {"importer", "plans"}},
        {"cli", {"cli", "planner", "executor", "exporter", "importer", "plans"}},
        {"bench", {"bench", "cli", "planner", "executor", "exporter", "importer", "plans"}},
        {"tests", {"tests", "cli", "planner", "executor", "exporter", "importer", "plans"}},
    };
    return table;
}

// A third-party header (by prefix) and the files (by path prefix) that may include it.
struct Home {
    std::string_view header;
    std::vector<std::string_view> files;
    std::string_view reason;
};

const std::vector<Home>& homes() {
    static const std::vector<Home> table = {
        {"yaml-cpp/", {"planner/text/yaml.cpp"}, "YAML is read by the one checked reader"},
        {"boost/", {"planner/graph"}, "Boost.Graph stays behind the planner's graph"},
        {"zlib.h", {"plans/base/crc32.cpp"}, "checksums of files are made in one file"},
        {"cblas.h", {"executor/kernels/blas.cpp", "bench/"}, "BLAS is called from one file"},
        {"CLI/", {"cli/"}, "only cli/ reads command lines"},
        {"mpi.h", {"executor/engine/mpi/"}, "the program links no MPI: a plugin does"},
        {"doctest/", {"tests/"}, "only tests use the test framework"},
        {"rapidcheck", {"tests/"}, "only tests use random cases"},
        {"benchmark/", {"bench/"}, "only bench/ measures"},
        {"iostream", {"cli/", "tests/", "bench/"}, "only cli/ prints"},
    };
    return table;
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

std::string_view top_folder(std::string_view path) { return path.substr(0, path.find('/')); }

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

bool is_product(std::string_view path) {
    return starts_with_any(path, {"plans/", "planner/", "executor/", "exporter/", "importer/", "cli/"});
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// nlohmann/json.hpp costs seconds per file: it is allowed where the file's name says that JSON is its job, in the
// files of cli/formats/ (each is one output format), and in tests.
bool may_use_json(std::string_view path) {
    return path.starts_with("tests/") || path.starts_with("cli/formats/") ||
           file_name(path).find("json") != std::string_view::npos;
}

struct Include {
    i64 line = 0;
    std::string_view header;
    bool quoted = false;
};

std::optional<Include> parse_include(std::string_view line, i64 number) {
    const size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || line[hash] != '#') return std::nullopt;
    const size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string_view::npos || !line.substr(word).starts_with("include")) return std::nullopt;
    const size_t open = line.find_first_of("\"<", word);
    if (open == std::string_view::npos) return std::nullopt;
    const bool quoted = line[open] == '"';
    const size_t close = line.find(quoted ? '"' : '>', open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    return Include{number, line.substr(open + 1, close - open - 1), quoted};
}

void check_include(const SourceFile& file, const Include& include, std::vector<StructureFinding>& findings) {
    const std::string_view header = include.header;
    if (include.quoted) {
        // Generated headers have no folder: op_registry.inc, test_paths.h.
        if (header.find('/') == std::string_view::npos) {
            if (!header.ends_with("_registry.inc") && !header.ends_with("_headers.inc") && header != "test_paths.h")
                findings.push_back(fmt::format("{}:{}: \"{}\" must be written as a path from the repository root",
                                               file.path, include.line, header));
            return;
        }
        for (const Folder& folder : folders()) {
            if (folder.name != top_folder(file.path)) continue;
            const std::vector<std::string_view>& allowed = folder.may_include;
            if (std::find(allowed.begin(), allowed.end(), top_folder(header)) == allowed.end())
                findings.push_back(
                    fmt::format("{}:{}: {}/ may not include \"{}\"", file.path, include.line, folder.name, header));
        }
        return;
    }
    if (header.starts_with("nlohmann/") && !may_use_json(file.path))
        findings.push_back(fmt::format("{}:{}: <{}> belongs in a file whose name says json, or in cli/formats/",
                                       file.path, include.line, header));
    for (const Home& home : homes())
        if (header.starts_with(home.header) && !starts_with_any(file.path, home.files))
            findings.push_back(fmt::format("{}:{}: <{}> belongs in {}: {}", file.path, include.line, header,
                                           fmt::join(home.files, ", "), home.reason));
}

// Outside of unnamed namespaces nothing but members of classes is defined: "Type Class::member(".
bool declares_only_members(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line;
    bool unnamed = false;
    while (std::getline(lines, line)) {
        if (line == "namespace {") unnamed = true;
        if (line == "} // namespace") unnamed = false;
        if (unnamed || line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) continue;
        const size_t open = line.find('(');
        if (open == std::string::npos || line.starts_with("namespace") || line.starts_with("using")) continue;
        if (line.substr(0, open).find("::") == std::string::npos ||
            line.substr(0, open).rfind(' ') > line.rfind("::", open))
            return false;
    }
    return true;
}

std::string stem_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

// Those that a file declares or defines outside of classes and unnamed namespaces: "type name(" in the first column.
std::set<std::string> free_functions(std::string_view text) {
    static const std::regex function(R"(^(?!using |return |template|struct |class |enum |static |inline |constexpr ))"
                                     R"([A-Za-z_][\w:<>,*& ]*[ *&]([a-z_]\w*)\()");
    std::set<std::string> names;
    std::istringstream lines{std::string(text)};
    bool unnamed = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "namespace {") unnamed = true;
        if (line == "} // namespace") unnamed = false;
        std::smatch match;
        if (!unnamed && std::regex_search(line, match, function)) names.insert(match[1]);
    }
    return names;
}

bool is_source(const std::filesystem::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

} // namespace

std::vector<StructureFinding> check_includes(const std::vector<SourceFile>& files) {
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        std::istringstream lines(file.text);
        std::string line;
        for (i64 number = 1; std::getline(lines, line); ++number) {
            const std::optional<Include> include = parse_include(line, number);
            if (include) check_include(file, *include, findings);
        }
    }
    return findings;
}

FolderMap read_folder_map(std::string_view readme) {
    FolderMap map;
    std::istringstream lines{std::string(readme)};
    std::string line, top;
    bool inside = false;
    while (std::getline(lines, line)) {
        if (line == "## A map of the code") inside = true;
        if (!inside || line.empty()) continue;
        if (line == "```" && !map.empty()) break;
        const bool below = line.starts_with("  ");
        const std::string word = line.substr(below ? 2 : 0, line.find(' ', below ? 2 : 0) - (below ? 2 : 0));
        if (!below && word.ends_with('/') && (word.size() + 1 < line.size() || !map.empty())) top = word;
        if (below && !top.empty()) map.push_back(top + word);
    }
    return map;
}

std::vector<StructureFinding> check_folders(const std::vector<SourceFile>& files, const FolderMap& map) {
    std::vector<StructureFinding> findings;
    const auto place = [&map](std::string_view path) {
        return std::find(map.begin(), map.end(), folder_of(path)) - map.begin();
    };
    const std::ptrdiff_t none = std::ssize(map);
    std::set<std::ptrdiff_t> seen;
    for (const SourceFile& file : files) {
        if (!is_product(file.path)) continue;
        const bool is_at_top = std::count(file.path.begin(), file.path.end(), '/') == 1; // main.cpp, pipeline.cpp
        const std::ptrdiff_t here = place(file.path);
        if (here == none && !is_at_top) findings.push_back(fmt::format("{}: its folder is not in the map", file.path));
        if (here == none) continue;
        seen.insert(here);
        std::istringstream lines(file.text);
        std::string line;
        for (i64 number = 1; std::getline(lines, line); ++number) {
            const std::optional<Include> include = parse_include(line, number);
            if (!include || !include->quoted || !is_product(include->header)) continue;
            const std::ptrdiff_t there = place(include->header);
            if (there == none && top_folder(include->header) == top_folder(file.path))
                findings.push_back(
                    fmt::format("{}:{}: \"{}\" stands above all folders", file.path, number, include->header));
            if (there != none && there > here)
                findings.push_back(
                    fmt::format("{}:{}: {} stands after {} in the map", file.path, number, map[there], map[here]));
        }
    }
    for (std::ptrdiff_t f = 0; f < none; ++f)
        if (!seen.contains(f)) findings.push_back(fmt::format("the map has {}, the tree has not", map[f]));
    return findings;
}

std::vector<StructureFinding> check_tests(const std::vector<SourceFile>& files, std::string_view guide) {
    std::set<std::string_view> folders_of_sources;
    std::map<std::string_view, std::set<std::string_view>> places; // of a source's name without its ending
    const auto name_of = [](std::string_view path) { return file_name(path).substr(0, file_name(path).find('.')); };
    for (const SourceFile& file : files) {
        if (!is_product(file.path)) continue;
        folders_of_sources.insert(folder_of(file.path));
        places[name_of(file.path)].insert(folder_of(file.path));
    }
    constexpr std::string_view tests = "tests/", suffix = "_test";
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        if (!file.path.starts_with(tests) || folder_of(file.path) == "tests") continue;
        const std::string_view path = std::string_view(file.path).substr(tests.size());
        if (!is_product(path)) {
            const std::string folder = fmt::format("tests/{}/", top_folder(path));
            if (guide.find(fmt::format("`{}`", folder)) == std::string_view::npos)
                findings.push_back(fmt::format("{}: CONTRIBUTING does not say what {} holds", file.path, folder));
            continue;
        }
        const std::string_view folder = folder_of(path);
        if (!folders_of_sources.contains(folder) || folder == top_folder(path)) {
            findings.push_back(fmt::format("{}: the sources have no such folder", file.path));
            continue;
        }
        const std::string_view name = name_of(path);
        if (!name.ends_with(suffix)) continue;
        const auto there = places.find(name.substr(0, name.size() - suffix.size()));
        if (there != places.end() && !there->second.contains(folder))
            findings.push_back(
                fmt::format("{}: what it tests stands in {}", file.path, fmt::join(there->second, ", ")));
    }
    return findings;
}

std::vector<StructureFinding> check_types(const std::vector<SourceFile>& files) {
    std::map<std::string, std::string> defined; // by name, where
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        if (!file.path.ends_with(".h") || !is_product(file.path)) continue;
        std::istringstream lines(file.text);
        std::string line, word, name;
        while (std::getline(lines, line)) {
            if (!line.ends_with('{') && !line.ends_with("};")) continue;
            std::istringstream words(line);
            words >> word >> name;
            if (word != "class" && word != "struct" && word != "enum") continue;
            if (line.starts_with(' ') || name.empty()) continue;
            if (name == "class") words >> name;
            const auto [it, is_new] = defined.try_emplace(name, file.path);
            if (!is_new && it->second != file.path)
                findings.push_back(fmt::format("{}: {} has a type {} too", file.path, it->second, name));
        }
    }
    return findings;
}

std::vector<StructureFinding> check_headers(const std::vector<SourceFile>& files) {
    std::set<std::string_view> paths;
    for (const SourceFile& file : files) paths.insert(file.path);
    // Their functions carry the names of their files and are found through a generated list.
    const std::vector<std::string_view> registered = {
        "plans/codes/",          "plans/collectives/", "planner/ops/",          "planner/composites/",
        "planner/optimizers/",   "planner/forms/",     "planner/policies/",     "cli/formats/",
        "cli/commands/",         "cli/main.cpp",       "executor/collectives/", "exporter/targets/",
        "exporter/collectives/", "importer/ops/",      "importer/families/",    "cli/panels/"};
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        if (!file.path.ends_with(".cpp") || !is_product(file.path) || starts_with_any(file.path, registered)) continue;
        const std::string stem = file.path.substr(0, file.path.size() - 4);
        // Or a part of a class that stands in the header of the name before the last words: checkpoint_read.cpp.
        bool found = paths.contains(stem + ".h");
        for (size_t at = stem.rfind('_'); !found && at != std::string::npos && at > stem.rfind('/');
             at = at == 0 ? std::string::npos : stem.rfind('_', at - 1))
            found = paths.contains(stem.substr(0, at) + ".h") && declares_only_members(file.text);
        if (!found) findings.push_back(fmt::format("{}: no header has its name", file.path));
    }
    return findings;
}

std::vector<StructureFinding> check_declarations(const std::vector<SourceFile>& files) {
    // The default of a request, whose header the passes include.
    const std::set<std::string> elsewhere = {"all_passes"};
    std::map<std::string, std::set<std::string>> declared_in; // by function: headers, without ".h"
    for (const SourceFile& file : files)
        if (is_product(file.path) && file.path.ends_with(".h"))
            for (const std::string& name : free_functions(file.text)) declared_in[name].insert(stem_of(file.path));
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        if (!is_product(file.path) || !file.path.ends_with(".cpp")) continue;
        const std::string stem = stem_of(file.path);
        for (const std::string& name : free_functions(file.text)) {
            const auto found = declared_in.find(name);
            if (found == declared_in.end() || elsewhere.contains(name)) continue;
            const bool at_home =
                std::any_of(found->second.begin(), found->second.end(), [&](const std::string& header) {
                    return stem == header || stem.starts_with(header + "_");
                });
            if (!at_home)
                findings.push_back(fmt::format("{}: {} is declared in {}.h", file.path, name, *found->second.begin()));
        }
    }
    return findings;
}

std::vector<StructureFinding> check_mentions(const std::vector<SourceFile>& files) {
    static const std::regex mention(R"((^|[^\w./])([\w/]+\.(h|cpp))\b)");
    std::set<std::string> names = {"test_paths.h"}; // generated
    for (const SourceFile& file : files)
        for (size_t at = 0; at != std::string::npos; at = file.path.find('/', at + 1))
            names.insert(file.path.substr(at == 0 ? 0 : at + 1));
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        std::istringstream lines(file.text);
        i64 number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            const size_t comment = line.find("//");
            if (comment == std::string::npos) continue;
            const std::string words = line.substr(comment + 2);
            for (std::sregex_iterator at(words.begin(), words.end(), mention), end; at != end; ++at)
                if (!names.contains((*at)[2].str()))
                    findings.push_back(fmt::format("{}:{}: there is no {}", file.path, number, (*at)[2].str()));
        }
    }
    return findings;
}

std::vector<StructureFinding> check_disk_calls(const std::vector<SourceFile>& files) {
    // A signal handler may not go through an object: temporaries.cpp removes by itself.
    const std::vector<std::string_view> homes_and_others = {"plans/disk/disk.cpp", "plans/disk/temporaries.cpp",
                                                            "tests/", "bench/"};
    const std::vector<std::string_view> words = {"::rename(",   "::unlink(",     "::mkdir(",      "::rmdir(",
                                                 "::creat(",    "::truncate(",   "std::rename(",  "fs::rename(",
                                                 "fs::remove(", "filesystem::r", "create_direct", "remove_all(",
                                                 "mkstemp(",    "mkdtemp(",      "ofstream"};
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        if (starts_with_any(file.path, homes_and_others)) continue;
        std::istringstream lines(file.text);
        i64 number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            for (std::string_view word : words) {
                const size_t at = line.find(word);
                // "Builder::rename(" is a function of our own.
                const bool member = word.starts_with("::") && at != std::string::npos && at > 0 &&
                                    std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0;
                if (at != std::string::npos && !member)
                    findings.push_back(
                        fmt::format("{}:{}: '{}' belongs in plans/disk/disk.cpp: files are written through "
                                    "plans/disk/output_file.h",
                                    file.path, number, word));
            }
        }
    }
    return findings;
}

std::vector<StructureFinding> check_lengths(const std::vector<SourceFile>& files) {
    std::vector<StructureFinding> findings;
    for (const SourceFile& file : files) {
        const i64 lines = static_cast<i64>(std::count(file.text.begin(), file.text.end(), '\n'));
        if (lines > line_budget)
            findings.push_back(fmt::format("{}:{}: the file has {} lines, the budget is {}: split it by idea",
                                           file.path, line_budget + 1, lines, line_budget));
    }
    return findings;
}

std::vector<SourceFile> read_source_tree(const std::filesystem::path& root) {
    std::vector<SourceFile> files;
    for (const Folder& folder : folders()) {
        const std::filesystem::path top = root / folder.name;
        if (!std::filesystem::exists(top)) continue;
        for (const std::filesystem::directory_entry& entry : std::filesystem::recursive_directory_iterator(top)) {
            if (!entry.is_regular_file() || !is_source(entry.path())) continue;
            std::ifstream stream(entry.path(), std::ios::binary);
            files.push_back({entry.path().lexically_relative(root).generic_string(),
                             std::string(std::istreambuf_iterator<char>(stream), {})});
        }
    }
    std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

} // namespace shard
