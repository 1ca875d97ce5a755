// Drawings as files: well-formed, with a colour per mesh axis in light and in dark, and all that was asked for.
#include "cli/html/tiles.h"
#include "cli/svg/show_svg.h"
#include "cli/svg/svg_sheet.h"
#include "tests/cli/html/html_page.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include "test_paths.h"

namespace shard {
namespace {

std::string drawing(const std::string& line) {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    const CommandResult result = run_command(files, line + " --svg out.svg");
    CHECK(result.err == "");
    CHECK(result.code == 0);
    MemoryFiles without{SHARDC_SOURCE_DIR};
    CHECK(run_command(without, line).out == result.out); // the drawing comes on top
    return files.files["out.svg"];
}

} // namespace

TEST_CASE("svg: show draws the mesh and every array, of any rank") {
    const std::string svg = drawing("shardc show examples/tiny_gpt/model.yaml examples/tiny_gpt/data_model.yaml");
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(count(svg, "class=\"mesh\"") == 1);
    CHECK(count(svg, "class=\"tiles\"") > 10);
    for (const char* name : {"tokens", "wte", "logits"})
        CHECK(svg.find(std::string(">") + name + "</text>") != svg.npos);
    CHECK(svg.find("heads 8") != svg.npos); // a dim of an array of rank 4
    CHECK(svg.find("prefers-color-scheme:dark") != svg.npos);
    CHECK(svg.find("var(") == svg.npos);
    CHECK(svg.find("light-dark") == svg.npos);
    CHECK(count(svg, "{fill:#0072b2}") >= 1); // the first axis in light
    CHECK(count(svg, "{fill:#56a8e0}") >= 1); // and in dark
}

TEST_CASE("svg: explain draws a tensor, what it is split by, and the way from one sharding to another") {
    const std::string svg =
        drawing("shardc explain examples/dot_relu_dot/model.yaml examples/dot_relu_dot/layout.yaml a");
    CHECK(count(svg, "class=\"tiles\"") >= 1);
    CHECK(svg.find("dim 0 batch") != svg.npos);
}

TEST_CASE("svg: of a stack that is moved a layer at a time the ways of a layer are drawn") {
    const std::string svg = drawing("shardc explain examples/llama3/model.yaml examples/llama3/layout.yaml "
                                    "llama_block.wq --mode train");
    CHECK(count(svg, "of one layer:") >= 1);
    CHECK(count(svg, "chosen: ") >= 1);
    CHECK(count(svg, "class=\"tiles\"") >= 3); // the stack, and a layer before and after
}

} // namespace shard
