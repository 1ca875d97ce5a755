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
    REQUIRE(std::any_of(files.begin(), files.end(), [](const SourceFile& f) { return f.path == "plans/base.h"; }));
    const std::string findings = fmt::format("{}", fmt::join(check_includes(files), "\n"));
    CHECK(findings == "");
}

TEST_CASE("the disk is changed through its border alone") {
    const std::string findings =
        fmt::format("{}", fmt::join(check_disk_calls(read_source_tree(SHARDC_SOURCE_DIR)), "\n"));
    CHECK(findings == "");
    const auto calls = [](const std::string& path, const std::string& line) {
        return check_disk_calls({{path, line}}).size();
    };
    CHECK(calls("cli/env.cpp", "    std::ofstream file(path);") == 1);
    CHECK(calls("executor/npy.cpp", "if (::rename(a, b) != 0)") == 1);
    CHECK(calls("executor/npy.cpp", "fs::create_directories(a, error);") == 1);
    CHECK(calls("plans/disk.cpp", "return ::rename(a, b);") == 0);
    CHECK(calls("planner/builder.cpp", "void Builder::rename(ValueId id)") == 0);
    CHECK(calls("plans/output_file.cpp", "disk.rename(a, b)") == 0);
}

TEST_CASE("no source file is over its budget of lines") {
    const std::string findings = fmt::format("{}", fmt::join(check_lengths(read_source_tree(SHARDC_SOURCE_DIR)), "\n"));
    CHECK(findings == "");
}

TEST_CASE("include direction: cli -> planner -> plans <- executor <- cli") {
    CHECK(accepts("plans/mesh.cpp", "#include \"plans/mesh.h\""));
    CHECK(accepts("planner/read.cpp", "#include \"plans/mesh.h\""));
    CHECK(accepts("executor/device.cpp", "#include \"plans/plan.h\""));
    CHECK(accepts("cli/commands/run.cpp", "#include \"executor/run.h\""));
    CHECK(accepts("tests/plans/mesh_test.cpp", "#include \"planner/read.h\""));

    CHECK(findings_for("plans/mesh.cpp", "#include \"planner/read.h\"") ==
          std::vector<std::string>{"plans/mesh.cpp:2: plans/ may not include \"planner/read.h\""});
    CHECK_FALSE(accepts("plans/plan.h", "#include \"executor/run.h\""));
    CHECK_FALSE(accepts("planner/price.cpp", "#include \"executor/run.h\""));
    CHECK_FALSE(accepts("planner/price.cpp", "#include \"cli/env.h\""));
    CHECK_FALSE(accepts("executor/device.cpp", "#include \"planner/graph.h\""));
    CHECK_FALSE(accepts("executor/device.cpp", "#include \"cli/env.h\""));
    CHECK_FALSE(accepts("cli/report.cpp", "#include \"tests/support/models.h\""));
    CHECK_FALSE(accepts("executor/device.cpp", "  #  include \"planner/graph.h\""));
}

TEST_CASE("a quoted include is a path from the root, unless the file is generated") {
    CHECK_FALSE(accepts("plans/mesh.cpp", "#include \"mesh.h\""));
    CHECK_FALSE(accepts("planner/ops/dot.cpp", "#include \"../graph.h\""));
    CHECK(accepts("planner/registry.cpp", "#include \"op_registry.inc\""));
    CHECK(accepts("tests/a_test.cpp", "#include \"test_paths.h\""));
}

TEST_CASE("each third-party header has one home") {
    CHECK(accepts("planner/yaml.cpp", "#include <yaml-cpp/yaml.h>"));
    CHECK(findings_for("planner/read.cpp", "#include <yaml-cpp/yaml.h>") ==
          std::vector<std::string>{"planner/read.cpp:2: <yaml-cpp/yaml.h> belongs in planner/yaml.cpp: YAML is read by "
                                   "the one checked reader"});
    CHECK_FALSE(accepts("planner/yaml.h", "#include <yaml-cpp/yaml.h>"));
    CHECK(accepts("planner/graph_order.cpp", "#include <boost/graph/topological_sort.hpp>"));
    CHECK_FALSE(accepts("plans/mesh.h", "#include <boost/graph/adjacency_list.hpp>"));
    CHECK(accepts("executor/blas.cpp", "#include <cblas.h>"));
    CHECK_FALSE(accepts("executor/contract.cpp", "#include <cblas.h>"));
    CHECK_FALSE(accepts("planner/pipeline.cpp", "#include <CLI/CLI.hpp>"));
    CHECK_FALSE(accepts("plans/mesh.cpp", "#include <doctest/doctest.h>"));
    CHECK_FALSE(accepts("cli/main.cpp", "#include <rapidcheck.h>"));
    CHECK_FALSE(accepts("tests/a_test.cpp", "#include <benchmark/benchmark.h>"));
    CHECK_FALSE(accepts("planner/pipeline.cpp", "#include <iostream>"));
    CHECK(accepts("plans/plan_json.cpp", "#include <nlohmann/json.hpp>"));
    CHECK(accepts("cli/formats/sarif.cpp", "#include <nlohmann/json.hpp>"));
    CHECK_FALSE(accepts("plans/plan.h", "#include <nlohmann/json_fwd.hpp>"));
    CHECK(accepts("plans/plan.h", "#include <vector>"));
}

TEST_CASE("a file of 450 lines is accepted, one of 451 is not") {
    CHECK(check_lengths({{"plans/a.h", std::string(450, '\n')}}).empty());
    CHECK(check_lengths({{"plans/a.h", std::string(451, '\n')}}) ==
          std::vector<std::string>{"plans/a.h:451: the file has 451 lines, the budget is 450: split it by idea"});
}
