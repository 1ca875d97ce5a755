#include "plans/disk/file.h"
#include "tests/structure/structure_rules.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "test_paths.h"

using namespace shard;

namespace {

// Findings for one file of one include line.
std::vector<StructureFinding> findings_for(const std::string& path, const std::string& line) {
    return check_includes({{path, "// A comment.\n" + line + "\n"}});
}

bool accepts(const std::string& path, const std::string& line) { return findings_for(path, line).empty(); }

} // namespace

TEST_CASE("the source tree follows the direction of includes and the homes of libraries") {
    const std::vector<SourceFile> files = read_source_tree(SHARDC_SOURCE_DIR);
    REQUIRE(std::any_of(files.begin(), files.end(), [](const SourceFile& f) { return f.path == "plans/base/base.h"; }));
    const std::string findings = fmt::format("{}", fmt::join(check_includes(files), "\n"));
    CHECK(findings == "");
}

TEST_CASE("the folders of the tree are README's map, and include only what stands above them") {
    const std::vector<SourceFile> files = read_source_tree(SHARDC_SOURCE_DIR);
    std::string problem;
    const FolderMap map = read_folder_map(read_file(SHARDC_SOURCE_DIR "/README.md", problem).value_or(""));
    CHECK(map.size() > 40);
    CHECK(fmt::format("{}", fmt::join(check_folders(files, map), "\n")) == "");

    const FolderMap small =
        read_folder_map("## A map of the code\n\n```\nplans/   nouns\n  base   b\n  plan   p\n```\n");
    CHECK(small == FolderMap{"plans/base", "plans/plan"});
    const SourceFile base{"plans/base/a.h", ""}, plan{"plans/plan/a.h", "#include \"plans/base/a.h\"\n"};
    CHECK(check_folders({base, plan}, small).empty());
    CHECK(check_folders({{"plans/base/a.h", "#include \"plans/plan/a.h\"\n"}, plan}, small) ==
          std::vector<std::string>{"plans/base/a.h:1: plans/plan stands after plans/base in the map"});
    CHECK(check_folders({base}, small) == std::vector<std::string>{"the map has plans/plan, the tree has not"});
    CHECK(check_folders({base, plan, {"plans/new/a.h", ""}}, small) ==
          std::vector<std::string>{"plans/new/a.h: its folder is not in the map"});
    CHECK(check_folders({base, {"plans/plan/a.h", "#include \"plans/all.h\"\n"}}, small) ==
          std::vector<std::string>{"plans/plan/a.h:1: \"plans/all.h\" stands above all folders"});
}

TEST_CASE("tests stand where their sources stand, and what crosses the folders is listed") {
    const std::vector<SourceFile> files = read_source_tree(SHARDC_SOURCE_DIR);
    std::string problem;
    const std::string guide = read_file(SHARDC_SOURCE_DIR "/CONTRIBUTING.md", problem).value_or("");
    CHECK(fmt::format("{}", fmt::join(check_tests(files, guide), "\n")) == "");

    const std::vector<SourceFile> sources = {
        {"plans/base/a.h", ""}, {"plans/plan/b.cpp", ""}, {"planner/text/b.h", ""}};
    const auto findings = [&sources](const std::string& path) {
        std::vector<SourceFile> all = sources;
        all.push_back({path, ""});
        return check_tests(all, "| `tests/support/` | helpers |");
    };
    for (const char* path : {"tests/plans/base/a_test.cpp", "tests/plans/base/ab_test.cpp", "tests/support/a.cpp",
                             "tests/plans/plan/b_test.cpp", "tests/planner/text/b_test.cpp", "tests/main.cpp"})
        CHECK(findings(path).empty());
    CHECK(findings("tests/plans/plan/a_test.cpp") ==
          std::vector<std::string>{"tests/plans/plan/a_test.cpp: what it tests stands in plans/base"});
    CHECK(findings("tests/plans/base/b_test.cpp") ==
          std::vector<std::string>{"tests/plans/base/b_test.cpp: what it tests stands in planner/text, plans/plan"});
    for (const char* path :
         {"tests/plans/units/c_test.cpp", "tests/plans/c_test.cpp", "tests/plans/base/in/c_test.cpp"})
        CHECK(findings(path) == std::vector<std::string>{fmt::format("{}: the sources have no such folder", path)});
    CHECK(findings("tests/more/c_test.cpp") ==
          std::vector<std::string>{"tests/more/c_test.cpp: CONTRIBUTING does not say what tests/more/ holds"});
}

TEST_CASE("files that comments speak of are there") {
    CHECK(fmt::format("{}", fmt::join(check_mentions(read_source_tree(SHARDC_SOURCE_DIR)), "\n")) == "");
    const auto findings = [](const std::string& comment) {
        return check_mentions({{"plans/base/a.h", "int x; // " + comment + "\n"}});
    };
    CHECK(findings("as in base/a.h, plans/base/a.h and a.h; block.0.h is a tensor").empty());
    CHECK(findings("see plans/base/b.h") == std::vector<std::string>{"plans/base/a.h:1: there is no plans/base/b.h"});
}

TEST_CASE("what a file defines is declared in the header of its name") {
    CHECK(fmt::format("{}", fmt::join(check_headers(read_source_tree(SHARDC_SOURCE_DIR)), "\n")) == "");
    CHECK(fmt::format("{}", fmt::join(check_declarations(read_source_tree(SHARDC_SOURCE_DIR)), "\n")) == "");
    const SourceFile here{"plans/base/a.h", "int one();\nint two(int x);\nstruct A {\n    int three();\n};\n"};
    CHECK(check_declarations({here, {"plans/base/a.cpp", "int one() { return 1; }\n"}}).empty());
    CHECK(check_declarations({here, {"plans/base/b.cpp", "namespace {\nint one() { return 1; }\n} // namespace\n"}})
              .empty());
    CHECK(
        check_declarations({here, {"plans/base/b.cpp", "int two(int x) { return x; }\nint three() { return 3; }\n"}}) ==
        std::vector<std::string>{"plans/base/b.cpp: two is declared in plans/base/a.h"});
    const auto findings = [](const std::string& path, const std::string& text) {
        return check_headers({{"plans/a/box.h", ""}, {path, text}}).size();
    };
    CHECK(findings("plans/a/box.cpp", "int f() {\n}\n") == 0);
    CHECK(findings("plans/a/other.cpp", "int f() {\n}\n") == 1);
    CHECK(findings("plans/a/box_part.cpp", "int Box::f() {\n}\n") == 0);
    CHECK(findings("plans/a/box_part.cpp", "int f() {\n}\n") == 1);
    CHECK(findings("plans/a/box_part.cpp", "Box::Type f() {\n}\n") == 1);
    CHECK(findings("planner/ops/dot.cpp", "const OpDef& op_dot() {\n}\n") == 0);
}

TEST_CASE("no two headers define types of one name") {
    CHECK(fmt::format("{}", fmt::join(check_types(read_source_tree(SHARDC_SOURCE_DIR)), "\n")) == "");
    const SourceFile a{"plans/a.h", "class Box {\n};\n"}, b{"cli/b.h", "struct Box {\n};\n"};
    CHECK(check_types({a, b}) == std::vector<std::string>{"cli/b.h: plans/a.h has a type Box too"});
    CHECK(check_types({a, {"cli/b.h", "class Box;\n    struct Box {\n"}}).empty());
}

TEST_CASE("the disk is changed through its border alone") {
    const std::string findings =
        fmt::format("{}", fmt::join(check_disk_calls(read_source_tree(SHARDC_SOURCE_DIR)), "\n"));
    CHECK(findings == "");
    const auto calls = [](const std::string& path, const std::string& line) {
        return check_disk_calls({{path, line}}).size();
    };
    CHECK(calls("cli/terminal/env.cpp", "    std::ofstream file(path);") == 1);
    CHECK(calls("executor/npy.cpp", "if (::rename(a, b) != 0)") == 1);
    CHECK(calls("executor/npy.cpp", "fs::create_directories(a, error);") == 1);
    CHECK(calls("plans/disk/disk.cpp", "return ::rename(a, b);") == 0);
    CHECK(calls("planner/graph/builder.cpp", "void Builder::rename(ValueId id)") == 0);
    CHECK(calls("plans/disk/output_file.cpp", "disk.rename(a, b)") == 0);
}

TEST_CASE("no source file is over its budget of lines") {
    const std::string findings = fmt::format("{}", fmt::join(check_lengths(read_source_tree(SHARDC_SOURCE_DIR)), "\n"));
    CHECK(findings == "");
}

TEST_CASE("include direction: cli -> planner -> plans <- executor <- cli") {
    CHECK(accepts("plans/sharding/mesh.cpp", "#include \"plans/sharding/mesh.h\""));
    CHECK(accepts("planner/read.cpp", "#include \"plans/sharding/mesh.h\""));
    CHECK(accepts("executor/devices/device.cpp", "#include \"plans/plan/plan.h\""));
    CHECK(accepts("cli/commands/run.cpp", "#include \"executor/run/run.h\""));
    CHECK(accepts("tests/plans/sharding/mesh_test.cpp", "#include \"planner/read.h\""));

    CHECK(findings_for("plans/sharding/mesh.cpp", "#include \"planner/read.h\"") ==
          std::vector<std::string>{"plans/sharding/mesh.cpp:2: plans/ may not include \"planner/read.h\""});
    CHECK_FALSE(accepts("plans/plan/plan.h", "#include \"executor/run/run.h\""));
    CHECK_FALSE(accepts("planner/price/price.cpp", "#include \"executor/run/run.h\""));
    CHECK_FALSE(accepts("planner/price/price.cpp", "#include \"cli/terminal/env.h\""));
    CHECK_FALSE(accepts("executor/devices/device.cpp", "#include \"planner/graph/graph.h\""));
    CHECK_FALSE(accepts("executor/devices/device.cpp", "#include \"cli/terminal/env.h\""));
    CHECK(accepts("exporter/mesh/named_mesh.h", "#include \"plans/plan/plan.h\""));
    CHECK_FALSE(accepts("exporter/mesh/named_mesh.h", "#include \"planner/graph/graph.h\""));
    CHECK_FALSE(accepts("executor/devices/device.cpp", "#include \"exporter/target/target.h\""));
    CHECK_FALSE(accepts("cli/report/report.cpp", "#include \"tests/support/models.h\""));
    CHECK_FALSE(accepts("executor/devices/device.cpp", "  #  include \"planner/graph/graph.h\""));
}

TEST_CASE("a quoted include is a path from the root, unless the file is generated") {
    CHECK_FALSE(accepts("plans/sharding/mesh.cpp", "#include \"mesh.h\""));
    CHECK_FALSE(accepts("planner/ops/dot.cpp", "#include \"../graph.h\""));
    CHECK(accepts("planner/registry.cpp", "#include \"op_registry.inc\""));
    CHECK(accepts("tests/a_test.cpp", "#include \"test_paths.h\""));
}

TEST_CASE("each third-party header has one home") {
    CHECK(accepts("planner/text/yaml.cpp", "#include <yaml-cpp/yaml.h>"));
    CHECK(findings_for("planner/read.cpp", "#include <yaml-cpp/yaml.h>") ==
          std::vector<std::string>{
              "planner/read.cpp:2: <yaml-cpp/yaml.h> belongs in planner/text/yaml.cpp: YAML is read by "
              "the one checked reader"});
    CHECK_FALSE(accepts("planner/text/yaml.h", "#include <yaml-cpp/yaml.h>"));
    CHECK(accepts("planner/graph/graph_order.cpp", "#include <boost/graph/topological_sort.hpp>"));
    CHECK_FALSE(accepts("plans/sharding/mesh.h", "#include <boost/graph/adjacency_list.hpp>"));
    CHECK(accepts("executor/kernels/blas.cpp", "#include <cblas.h>"));
    CHECK_FALSE(accepts("executor/contract.cpp", "#include <cblas.h>"));
    CHECK_FALSE(accepts("planner/pipeline/pipeline.cpp", "#include <CLI/CLI.hpp>"));
    CHECK_FALSE(accepts("plans/sharding/mesh.cpp", "#include <doctest/doctest.h>"));
    CHECK_FALSE(accepts("cli/main.cpp", "#include <rapidcheck.h>"));
    CHECK_FALSE(accepts("tests/a_test.cpp", "#include <benchmark/benchmark.h>"));
    CHECK_FALSE(accepts("planner/pipeline/pipeline.cpp", "#include <iostream>"));
    CHECK(accepts("plans/file/plan_json.cpp", "#include <nlohmann/json.hpp>"));
    CHECK(accepts("cli/formats/sarif.cpp", "#include <nlohmann/json.hpp>"));
    CHECK_FALSE(accepts("plans/plan/plan.h", "#include <nlohmann/json_fwd.hpp>"));
    CHECK(accepts("plans/plan/plan.h", "#include <vector>"));
}

TEST_CASE("a file of 450 lines is accepted, one of 451 is not") {
    CHECK(check_lengths({{"plans/a.h", std::string(450, '\n')}}).empty());
    CHECK(check_lengths({{"plans/a.h", std::string(451, '\n')}}) ==
          std::vector<std::string>{"plans/a.h:451: the file has 451 lines, the budget is 450: split it by idea"});
}
