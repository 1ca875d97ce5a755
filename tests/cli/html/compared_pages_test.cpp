// The pages of `diff` and `check`: well-formed, alone, with the figures of their payloads.
#include "cli/html/check_page.h"
#include "cli/html/diff_page.h"
#include "tests/cli/html/html_page.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

namespace shard {

namespace {

const std::string model = R"(model: two_dots
axes: {batch: 64, embed: 1024, hidden: 1024}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden]}
  w2: {axes: [hidden, embed]}
graph:
  - h: {dot: [x, w1]}
  - z: {dot: [h, w2]}
outputs: [z]
)";
const std::string by_data = "mesh: {data: 8}\nrules: [{batch: data}]\nhardware: h100\n";
const std::string by_model = "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\nhardware: h100\n";

void check_alone(const std::string& html) {
    CHECK(markup_problem(html) == "");
    for (const std::string word : {"http:", "https:", "src=", "@import", "url("}) CHECK(count(html, word) == 0);
}

} // namespace

TEST_CASE("diff's page shows plans side by side: changes against the first, the best of each row, arrays as tiles") {
    const HtmlPage data(model, by_data, "forward"), split(model, by_model, "forward");
    const std::string html = diff_html({{"data", &data.plan()}, {"model", &split.plan()}}, false);
    check_alone(html);
    CHECK(html == diff_html({{"data", &data.plan()}, {"model", &split.plan()}}, false));
    // By model a device holds a quarter of the parameters: 2 * 1024 * 1024 * 4 B are 8 MiB, and 2 MiB of them.
    const std::string figures = section(html, "figures");
    CHECK(count(figures, "<span class=\"\">8.00 MiB</span>") == 1);
    CHECK(count(figures, "<span class=\"good strong\">2.00 MiB</span><div class=\"plain\">-75.0%</div>") == 1);
    // One sum over model, none without it.
    const std::string collectives = section(html, "collectives");
    CHECK(count(collectives, "<td class=\"strong\">all_reduce</td><td>model</td>") == 1);
    CHECK(count(collectives, "<span class=\"plain\">none</span>") == 1);
    // w1 and w2 are cut in the second plan alone; z and x are split over data in both, over other numbers of devices.
    const std::string shardings = section(html, "shardings");
    CHECK(count(shardings, "<td class=\"name strong\">w1</td>") == 1);
    CHECK(count(shardings, "<td class=\"name strong\">w2</td>") == 1);
    CHECK(count(shardings, "[- | <b class=\"a1\">model</b>]") == 1);
    CHECK(count(shardings, "1 intermediate value (--all shows them)") == 1);
    CHECK(count(section(diff_html({{"data", &data.plan()}, {"model", &split.plan()}}, true), "shardings"),
                "<td class=\"name strong\">h</td>") == 1);
    CHECK(count(section(html, "layouts"), "<li>hardware: h100</li>") == 2);
}

TEST_CASE("diff's page of equal plans says so, and of other hardware it warns") {
    const HtmlPage one(model, by_data, "forward"), two(model, by_data, "forward");
    const std::string same = diff_html({{"a", &one.plan()}, {"b", &two.plan()}}, false);
    check_alone(same);
    CHECK(count(same, "All tensors have the same shardings.") == 1);
    CHECK(count(same, "warning") == 0);
    const HtmlPage other(model, "mesh: {data: 8}\nrules: [{batch: data}]\nhardware: tpu-v5e\n", "forward");
    CHECK(count(diff_html({{"a", &one.plan()}, {"c", &other.plan()}}, false),
                "the plans are for different hardware: their times compare machines, not layouts") == 1);
}

TEST_CASE("check's page has a row for each layout and every finding with its line") {
    MemoryFiles files;
    files.files["model.yaml"] = model;
    files.files["data.yaml"] = by_data;
    files.files["model_split.yaml"] = by_model + "policy:\n  max_collectives: 0 # <none>\n";
    const CommandResult result = run_command(files, "check model.yaml data.yaml model_split.yaml --format html");
    CHECK(result.code == 1);
    check_alone(result.out);
    CHECK(count(result.out, "<h1>1 of 2 layouts pass</h1>") == 1);
    const std::string checked = section(result.out, "checked");
    CHECK(count(checked, "<td class=\"name strong\">data.yaml</td><td><span class=\"good strong\">ok</span></td>") ==
          1);
    CHECK(count(checked, "<td class=\"name strong\">model_split.yaml</td><td><span class=\"bad strong\">"
                         "<a href=\"#found-1\">findings</a></span></td>") == 1);
    const std::string found = section(result.out, "found");
    CHECK(count(found, "<b class=\"bad\">P0103</b> the plan executes 1 collective, the limit is 0") == 1);
    CHECK(count(found, "<li id=\"found-1\">") == 1);
    CHECK(count(found, "<a href=\"#found-1\">model_split.yaml:5:20</a>") == 1);
    CHECK(count(found,
                "<ol class=\"code\" start=\"5\"><li>  max_collectives: <mark>0</mark> # &lt;none&gt;</li></ol>") == 1);
}

} // namespace shard
