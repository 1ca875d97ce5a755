// What a registry holds is named in its own files: nothing else lists the names or tells them apart.
#include "cli/command/format.h"
#include "planner/graph/op_def.h"
#include "plans/collective/collective.h"
#include "tests/structure/structure_rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <regex>

#include "test_paths.h"

using namespace shard;

namespace {

using Names = std::vector<std::string_view>;

bool is_product(std::string_view path) {
    return path.starts_with("plans/") || path.starts_with("planner/") || path.starts_with("executor/") ||
           path.starts_with("cli/");
}

// Where a quoted name stands in a file of the product that is in none of `homes`: "path: name".
std::vector<std::string> strangers(const std::vector<SourceFile>& files, const Names& names, const Names& homes) {
    std::vector<std::string> found;
    for (const SourceFile& file : files) {
        const std::string_view path = file.path;
        const bool at_home = std::any_of(homes.begin(), homes.end(), [&](auto home) { return path.starts_with(home); });
        if (at_home || !is_product(path)) continue;
        for (std::string_view name : names)
            if (file.text.find(fmt::format("\"{}\"", name)) != std::string::npos)
                found.push_back(fmt::format("{}: {}", path, name));
    }
    return found;
}

Names collective_names() {
    Names names;
    for (const CollectiveDef* def : all_collectives()) names.push_back(def->name);
    return names;
}

} // namespace

TEST_CASE("collectives are asked what they do, not for their names") {
    const std::vector<SourceFile> files = read_source_tree(SHARDC_SOURCE_DIR);
    const Names homes = {"plans/collectives/", "executor/collectives/", "planner/ops/", "planner/graph/op_names.cpp"};
    Names others; // an op may have the name of a collective, and the planner asks for ops
    for (std::string_view name : collective_names())
        if (find_op(name) == nullptr) others.push_back(name);
    CHECK(strangers(files, others, homes) == std::vector<std::string>{});
    Names with_planner = homes;
    with_planner.push_back("planner/");
    CHECK(strangers(files, collective_names(), with_planner) == std::vector<std::string>{});
    for (const SourceFile& file : files)
        if (file.path.starts_with("planner/") && !file.path.starts_with("planner/ops/"))
            CHECK_MESSAGE(file.text.find("find_collective(\"") == std::string::npos, file.path);
    CHECK(strangers({{"executor/run/run.cpp", "if (kind == \"all_gather\")"}}, collective_names(), homes) ==
          std::vector<std::string>{"executor/run/run.cpp: all_gather"});
}

TEST_CASE("schedules are named in their own files and in an example") {
    const std::vector<SourceFile> files = read_source_tree(SHARDC_SOURCE_DIR);
    Names schedules;
    for (const CompositeDef* def : all_composites())
        if (def->is_schedule) schedules.push_back(def->name);
    CHECK(std::find(schedules.begin(), schedules.end(), "warmup_cosine") != schedules.end());
    CHECK(strangers(files, schedules, {"planner/composites/"}) == std::vector<std::string>{});
}

TEST_CASE("formats are asked what they write, not for their names") {
    const std::vector<SourceFile> files = read_source_tree(SHARDC_SOURCE_DIR);
    Names formats;
    for (const FormatDef* def : all_formats())
        if (!def->is_usual) formats.push_back(def->name); // "text" is a word of other things too
    CHECK(std::count_if(all_formats().begin(), all_formats().end(), [](const FormatDef* f) { return f->is_usual; }) ==
          1);
    CHECK(strangers(files, formats, {"cli/formats/"}) == std::vector<std::string>{});
    for (const SourceFile& file : files)
        if (file.path.starts_with("cli/"))
            for (const char* chain : {"find_format(\"", "== \"text\"", "format == \""})
                CHECK_MESSAGE(file.text.find(chain) == std::string::npos, file.path);
}

namespace {

// An enum of a schema that holds this name holds those of the whole registry, in its order. How many there are.
int check_enums(std::string_view sample, const Names& names) {
    const char* rewrite = std::getenv("SHARDC_REWRITE");
    const std::regex list("(\"enum\": )\\[([^\\]]*)\\]");
    int enums = 0;
    for (const char* schema : {"config", "hardware", "layout", "model", "plan", "policy", "report"}) {
        const std::string path = fmt::format("{}/schemas/{}.schema.json", SHARDC_SOURCE_DIR, schema);
        std::ifstream stream(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        std::string expected;
        std::string::const_iterator from = text.begin();
        for (std::sregex_iterator it(text.begin(), text.end(), list), end; it != end; ++it) {
            const std::string had = it->str(2);
            if (had.find(fmt::format("\"{}\"", sample)) == std::string::npos) continue;
            ++enums;
            const size_t line = had.find('\n'); // one name a line, or all on one
            const std::string indent = line == std::string::npos ? "" : had.substr(line, had.find('"') - line);
            std::string joined;
            for (std::string_view name : names)
                joined += fmt::format("{}{}\"{}\"", joined.empty() ? "" : indent.empty() ? ", " : ",", indent, name);
            const size_t last = had.rfind('\n');
            if (last != std::string::npos) joined += had.substr(last);
            expected += std::string(from, (*it)[2].first) + joined;
            from = (*it)[2].second;
        }
        expected += std::string(from, text.end());
        CHECK_MESSAGE((text == expected || rewrite != nullptr), path);
        if (text != expected && rewrite != nullptr) std::ofstream(path, std::ios::binary) << expected;
    }
    return enums;
}

} // namespace

TEST_CASE("the enums of collectives and element types in the schemas are those of the registries, or are rewritten") {
    CHECK(check_enums("all_reduce", collective_names()) == 9);
    Names types;
    for (DType dtype : all_dtypes()) types.push_back(name(dtype));
    CHECK(check_enums("bool", types) == 4);
}
