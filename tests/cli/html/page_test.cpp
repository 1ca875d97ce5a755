#include "tests/cli/html/html_page.h"

#include "cli/html/tiles.h"
#include "cli/summary/sharding_rows.h"
#include "plans/base/units.h"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <set>

namespace shard {
namespace {

const std::string dot_relu_dot = R"(model: dot_relu_dot
axes: {batch: 64, embed: 1024, hidden: 1024}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden]}
  w2: {axes: [hidden, embed]}
graph: # a < b && "c" </li></script>
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - z: {dot: [a, w2]}
outputs: [z]
)";
const std::string by_model = "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\nhardware: h100\n";

HtmlPage small_page() { return HtmlPage(dot_relu_dot, by_model, "forward"); }
HtmlPage example(const std::string& folder, const std::string& layout) {
    return HtmlPage(file_text("examples/" + folder + "/model.yaml"), file_text("examples/" + folder + "/" + layout),
                    "train");
}

// Every link of the page leads to a place in it.
std::string dangling_link(const std::string& html) {
    const std::string begin = "href=\"#";
    for (size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
        const size_t name = at + begin.size();
        const std::string id = html.substr(name, html.find('"', name) - name);
        if (html.find("id=\"" + id + "\"") == std::string::npos) return id;
    }
    return {};
}

} // namespace

TEST_CASE("a page is one well-formed file that asks for nothing else, the same each time") {
    for (const HtmlPage& page :
         {small_page(), example("tiny_gpt", "fsdp_model.yaml"), example("llama3", "layout.yaml")}) {
        const std::string html = page.html();
        CHECK(markup_problem(html) == "");
        CHECK(dangling_link(html) == "");
        for (const std::string word : {"http:", "https:", "src=", "@import", "url("}) CHECK(count(html, word) == 0);
        CHECK(html == page.html());
        CHECK(html.size() < 300'000);
    }
}

TEST_CASE("names and texts stay texts, whatever they hold") {
    const HtmlPage page = small_page();
    CHECK(count(page.html(), "graph: # a &lt; b &amp;&amp; &quot;c&quot; &lt;/li&gt;&lt;/script&gt;") == 1);
    Plan plan = page.plan();
    const std::string evil = "</td></script><script>alert('\"&')</script>\x1b";
    plan.model = plan.mode = plan.report.hardware = evil;
    for (TensorReport& tensor : plan.report.tensors) tensor.name = tensor.source.file = evil;
    for (std::string& logical : plan.report.tensors.front().logical) logical = evil;
    for (Buffer& buffer : plan.buffers) buffer.name = evil;
    for (MeshAxis& axis : plan.mesh.axes) axis.name = evil;
    for (CollectiveReport& c : plan.report.collectives)
        c.tensor = c.cause = c.remedy = c.kind = c.links.at(0).link = evil;
    for (SourceText& source : plan.sources) source.name = evil;
    const std::string html = page.html(plan);
    CHECK(markup_problem(html) == "");
    CHECK(count(html, "<script") == 1);
    CHECK(count(html, "\x1b") == 0);
    CHECK(count(html, "&lt;script&gt;alert(") > 20);
}

TEST_CASE("the verdict says whether the plan fits, what bounds a step, and what a device waits for") {
    const HtmlPage page = small_page();
    Plan plan = page.plan();
    plan.report.memory = {.params = 30 << 20, .activations = 10 << 20, .peak = 40 << 20, .capacity = 80 << 20};
    plan.report.time = {3e-3, 2e-3, 1e-3, 4e-3};
    const std::string fits = section(page.html(plan), "verdict");
    CHECK(count(fits, "<p class=\"figure\">40.0 MiB <span class=\"good\">fits</span></p>") == 1);
    CHECK(count(fits, "50.0% of 80.0 MiB; at the peak params 30.0 MiB, activations 10.0 MiB") == 1);
    CHECK(count(fits, "<p class=\"figure\">4.00 ms <span class=\"plain\">bound by compute</span></p>") == 1);
    CHECK(count(fits, "compute 3.00 ms") == 2); // in words, and of the bar
    CHECK(count(fits, "25.0% of the step, of 2.00 ms in all") == 1);
    CHECK(count(fits, "<p class=\"figure\">2,097,152</p>") == 1);
    // 30 of 80 MiB in a bar of 240.
    CHECK(count(fits, "<rect class=\"m-params\" x=\"0\" width=\"90\"") == 1);
    plan.report.memory.capacity = 20 << 20;
    CHECK(count(section(page.html(plan), "verdict"), "<span class=\"bad\">does not fit</span>") == 1);
}

TEST_CASE("what was found stands below the verdict, with its place") {
    const HtmlPage page(dot_relu_dot, by_model + "policy: {max_collectives: 0}\n", "forward");
    const std::string verdict = section(page.html(), "verdict");
    CHECK(count(verdict, "<b class=\"bad\">P0103</b>") == 1);
    CHECK(count(verdict, "<a href=\"#s1-4\" title=\"layout.yaml\">layout.yaml:4</a>") == 1);
    Plan plan = page.plan();
    plan.report.diagnostics.front().finding = false;
    plan.report.diagnostics.front().severity = Severity::warning;
    CHECK(count(section(page.html(plan), "verdict"), "<b class=\"warn\">P0103</b>") == 1);
}

TEST_CASE("a model without parameters has no card of them") {
    const HtmlPage page("model: m\ninputs: {x: {shape: [8]}}\ngraph: [{y: {relu: x}}]\noutputs: [y]\n",
                        "mesh: {d: 2}\n", "forward");
    CHECK(count(section(page.html(), "verdict"), ">params<") == 0);
    CHECK(count(section(small_page().html(), "verdict"), ">params<") == 1);
}

TEST_CASE("an array of any rank is a box per dim, cut by its axes") {
    const Mesh mesh{{{"data", 2, ""}, {"model", 4, ""}}, {}};
    const TensorReport tensor{"w",        Role::param,  DType::f32,
                              {8, 16, 3}, {"", "", ""}, {{{}, {{mesh.whole(0), mesh.whole(1)}, false, 0}, {}}, {}, {}},
                              {8, 2, 3},  192,          {}};
    Markup out;
    draw_tiles(out, mesh, tensor);
    const std::string drawn = out.take();
    CHECK(drawn ==
          "<svg class=\"tiles\" width=\"145\" height=\"29\" role=\"img\" aria-label=\"[- | data,model | -]\">"
          // The first dim is whole: a frame of 40, the least width.
          "<rect class=\"frame\" x=\"1\" y=\"1\" width=\"40\" height=\"14\"/><text x=\"1\" y=\"25\">8</text>"
          // The second is cut in 2 by data, and each part in 4 by model: tiles of 20 above tiles of 5.
          "<rect class=\"a0 tint\" x=\"49\" y=\"1\" width=\"40\" height=\"7\"/>"
          "<rect class=\"a0\" x=\"49\" y=\"1\" width=\"20\" height=\"7\"/><path class=\"a0 cut\" d=\"M69 1v7\"/>"
          "<rect class=\"a1 tint\" x=\"49\" y=\"8\" width=\"40\" height=\"7\"/>"
          "<rect class=\"a1\" x=\"49\" y=\"8\" width=\"5\" height=\"7\"/>"
          "<path class=\"a1 cut\" d=\"M54 8v7M59 8v7M64 8v7M69 8v7M74 8v7M79 8v7M84 8v7\"/>"
          "<rect class=\"frame\" x=\"49\" y=\"1\" width=\"40\" height=\"14\"/>"
          "<text x=\"49\" y=\"25\">16<tspan class=\"a1\"> / 8</tspan></text>"
          "<rect class=\"frame\" x=\"97\" y=\"1\" width=\"40\" height=\"14\"/><text x=\"97\" y=\"25\">3</text></svg>");
    // One by one they may stand below each other.
    Markup apart;
    draw_wrapping_tiles(apart, mesh, tensor);
    const std::string wrapping = apart.take();
    CHECK(wrapping.starts_with("<div class=\"dims\" role=\"img\" aria-label=\"[- | data,model | -]\">"
                               "<svg class=\"tiles\" width=\"49\" height=\"29\"><rect class=\"frame\" x=\"1\""));
    CHECK(count(wrapping, "<svg class=\"tiles\" width=\"49\" height=\"29\">") == 3);
    CHECK(count(wrapping, "<rect ") == count(drawn, "<rect "));
}

TEST_CASE("every array has its row, with its sharding, what it holds and over what it is copied") {
    const HtmlPage page = small_page();
    const std::string arrays = section(page.html(), "arrays");
    CHECK(count(arrays, "<tbody>") == static_cast<i64>(sharding_rows(page.plan(), Detail::whole).rows.size()));
    CHECK(count(arrays, "<td class=\"mono\">[- | <b class=\"a1\">model</b>]<div>f32 (1024, 256)</div></td>"
                        "<td class=\"n\" data-v=\"1048576\">1.00 MiB</td>"
                        "<td class=\"n\" data-v=\"2\">2 over <b class=\"a0\">data</b></td>"
                        "<td><a href=\"#s0-6\" title=\"model.yaml\">model.yaml:6</a></td>") == 1);
}

TEST_CASE("of very many arrays the 250 largest have rows, of one size the first") {
    const HtmlPage page = small_page();
    Plan plan = page.plan();
    const TensorReport like = plan.report.tensors.front();
    plan.report.tensors.clear();
    for (int n = 0; n < 300; ++n) { // 20 of 8000 B, 200 of 4000 B, 80 of 2000 B
        TensorReport& tensor = plan.report.tensors.emplace_back(like);
        tensor.name = fmt::format("array_{:c}{:c}", 'a' + n / 26, 'a' + n % 26);
        tensor.logical = {tensor.name, ""};
        tensor.bytes_per_device = n < 80 ? 2000 : n < 280 ? 4000 : 8000;
    }
    const std::string arrays = section(page.html(plan), "arrays");
    CHECK(count(arrays, "The 250 largest of 300 rows; --only shardings shows all.") == 1);
    CHECK(count(arrays, "<tbody>") == 250);
    CHECK(count(arrays, "data-v=\"8000\"") == 20);
    CHECK(count(arrays, "data-v=\"4000\"") == 200);
    CHECK(count(arrays, ">array_bd</td>") == 1); // number 29 ...
    CHECK(count(arrays, ">array_be</td>") == 0); // ... and not number 30
}

TEST_CASE("every collective has its row, with figures to sort by, its cause and its place") {
    const HtmlPage page = small_page();
    const std::string collectives = section(page.html(), "collectives");
    REQUIRE(page.plan().report.collectives.size() == 1);
    const CollectiveReport& collective = page.plan().report.collectives[0];
    CHECK(count(collectives, "<td class=\"strong\">") == 1);
    CHECK(count(collectives,
                "<td class=\"strong\">all_reduce</td><td><b class=\"a1\">model</b></td><td>nvlink 4</td>") == 1);
    CHECK(count(collectives, fmt::format("data-v=\"{}\">{}</td>", collective.wire_bytes_per_device,
                                         human_bytes(collective.wire_bytes_per_device))) == 1);
    CHECK(count(collectives, "the contraction over hidden is split over model") == 1);
    CHECK(count(collectives, ">model.yaml:11</a></td></tr>") == 1);
    const std::string none =
        section(HtmlPage(dot_relu_dot, "mesh: {data: 2}\nrules: [{batch: data}]\n", "forward").html(), "collectives");
    CHECK(count(none, "No collectives") == 1);
}

TEST_CASE("a collective says why its array is split so, and what the next best way costs") {
    const std::string collectives = section(small_page().html(), "collectives");
    CHECK(count(collectives, "<summary>why z is split so, and the other ways</summary>") == 1);
    CHECK(count(collectives, "<li>dim 0 batch over <b class=\"a0\">data</b>: from a through dot ") == 1);
    CHECK(count(collectives, "<td>chosen</td><td>all_reduce over <b class=\"a1\">model</b></td>") == 1);
    CHECK(count(collectives, "<td>next best</td><td>reduce_scatter over <b class=\"a1\">model</b>") == 1);
}

TEST_CASE("the memory panel draws every piece of the arena once, and names what lives at the peak") {
    const HtmlPage page = small_page();
    const std::string memory = section(page.html(), "memory");
    // x, w1, w2, h (then a in its bytes), z before and after the all_reduce, in place.
    for (const std::string name : {"x", "w1", "w2"}) CHECK(count(memory, "<td class=\"name\">" + name + "</td>") == 1);
    CHECK(count(memory, "<title>w1 (params) 1.00 MiB</title>") == 1);
    // The largest first, of one size in the order of the plan.
    const auto row = [&](const std::string& name) { return memory.find("<td class=\"name\">" + name + "</td>"); };
    CHECK(row("w1") < row("w2"));
    CHECK(row("w2") < row("x"));
    CHECK(count(memory, "peak " + human_bytes(page.plan().report.memory.peak)) == 1);
    CHECK(count(memory, "<path class=\"cap\"") == 0); // 2 MiB of 75 GiB: the line would leave no room for the boxes
    Plan plan = page.plan();
    plan.report.memory.capacity = plan.report.memory.peak - 1;
    CHECK(count(section(page.html(plan), "memory"), "<path class=\"cap\"") == 1);
}

TEST_CASE("a loop has its name in the memory panel where there is room for it") {
    // A loop of a few steps behind two times `before` others: of 880 units it has its share.
    const auto loop_label = [](int before) {
        std::string graph;
        for (int n = 0; n < before; ++n) graph += "  - x: {tanh: x}\n  - x: {dot: [x, w]}\n";
        const std::string model = "model: m\naxes: {batch: 8, embed: 8, other: 8}\n"
                                  "inputs: {x: {axes: [batch, embed]}}\nparams: {w: {axes: [embed, other]}}\n"
                                  "modules:\n  block:\n    inputs: [h]\n    params: {v: {axes: [embed, other]}}\n"
                                  "    graph: [{h: {dot: [h, v]}}]\n    outputs: h\n"
                                  "graph:\n" +
                                  graph + "  - y: {repeat: block, times: 4, in: x, scan: true}\noutputs: [y]\n";
        return count(section(HtmlPage(model, "mesh: {data: 2}\nrules: [{batch: data}]\n", "forward").html(), "memory"),
                     ">loop, 4 x</text>");
    };
    CHECK(loop_label(0) == 1);
    CHECK(loop_label(100) == 0);
}

TEST_CASE("the mesh shows its devices, of a long axis the first and the last") {
    const std::string layout = "mesh: {data: 16, model: 4}\nrules: [{batch: data}, {hidden: model}]\nhardware: h100\n";
    const std::string mesh = section(HtmlPage(dot_relu_dot, layout, "forward").html(), "mesh");
    CHECK(count(mesh, "<rect class=\"frame\"") == 7 * 4); // of data 0..5 and 15
    CHECK(count(mesh, ">63</text>") == 1);
    CHECK(count(mesh, ">24</text>") == 0);                   // data 6, model 0
    CHECK(count(mesh, "<td>nvlink 2, network 8</td>") == 1); // as link_levels.h has it
}

TEST_CASE("the timeline shows what a device computes, sends and waits for, to scale, and a trip of each loop") {
    const HtmlPage page = small_page();
    const std::string time = section(page.html(), "time");
    const TimeReport& report = page.plan().report.time;
    CHECK(count(time, "<h3>a step, " + human_seconds(report.step_seconds) + "</h3>") == 1);
    CHECK(count(time, ">nvlink</text>") == 1);
    // One all_reduce over model, in its colour, that nothing hides: 840 units are the step.
    const std::string width = fmt::format("{:.2f}", 840 * report.communication_seconds / report.step_seconds);
    CHECK(count(time, fmt::format("width=\"{}\" height=\"20\"><title>all_reduce over model: z, ", width)) == 1);
    CHECK(count(time, fmt::format("width=\"{}\" height=\"20\"><title>waits, ", width)) == 1);
    const std::string loops = section(example("tiny_gpt", "fsdp_model.yaml").html(), "time");
    CHECK(count(loops, "<h3>a trip of loop of block, 2 x: ") == 2); // forward and backward
}

TEST_CASE("the graph leads from the line that makes a value to the line that reads it") {
    const std::string graph = section(small_page().html(), "graph");
    // z, of line 11, is reduced over model where it is made: nothing reads it afterwards.
    CHECK(count(graph, "<path class=\"a1 arc\"") == 1);
    CHECK(count(graph, "<title>all_reduce over model, 1 x: a device sends 192 KiB, ") == 1);
    CHECK(count(graph, "<a href=\"#s0-11\">") == 1);
    CHECK(count(graph, "- z: {dot: [a, w2]}") == 1);
    // Layers are one line: of fsdp's gathers each parameter of a block has one arc in each phase that reads it.
    const std::string layers = section(example("llama3", "layout.yaml").html(), "graph");
    CHECK(count(layers, "<title>all_gather over data, 32 x: ") == 14); // seven split parameters, forward and backward
    const std::string none =
        section(HtmlPage(dot_relu_dot, "mesh: {data: 2}\nrules: [{batch: data}]\n", "forward").html(), "graph");
    CHECK(count(none, "Nothing moves between devices.") == 1);
}

TEST_CASE("kernels stand under the roof with their time, and say what bounds them") {
    const HtmlPage page = small_page();
    const std::string kernels = section(page.html(), "kernels");
    CHECK(count(kernels, "<path class=\"roof\"") == 1);
    CHECK(count(kernels, ">f32 46.9 TFLOP/s<") == 1); // 67 by the data sheet, of which 0.7 are reached
    // Two dots of equal work, one pointwise kernel: 32 x 1024 times 1024 x 256 is 16.8 MFLOP, far below 7 us.
    CHECK(count(kernels, "<td class=\"n\" data-v=\"0\">16.8 MFLOP</td>") == 2);
    CHECK(count(kernels, "<td>launch</td>") == 3);
    CHECK(count(kernels, "<circle class=\"kernel\"") == count(kernels, "<td>launch</td>"));
    // A pointwise op moves 5 bytes a FLOP, a gradient of the weights next to none, and attention neither: its scores stay
    // in the cache.
    const std::string large = section(example("llama3", "layout.yaml").html(), "kernels");
    CHECK(count(large, ">bf16 693 TFLOP/s<") == 1); // not the profile's fp8, which nothing here is
    CHECK(count(large, ">f8e4m3fn ") == 0);
    for (const auto& [made, bound] : {std::pair("llama_block.h.silu.again", "memory"),
                                      {"llama_block.h.grad", "compute"},
                                      {"llama_block.o", "compute"}}) {
        const size_t row = large.find(fmt::format("<td class=\"name\">{}</td>", made));
        REQUIRE(row != std::string::npos);
        CHECK(count(large.substr(row, large.find("</tr>", row) - row), fmt::format("<td>{}</td>", bound)) == 1);
    }
}

TEST_CASE("the page of a train step of 405 billion parameters is below 300 KB") {
    std::string model = file_text("examples/llama3/model.yaml");
    const auto replace = [&model](const std::string& from, const std::string& to) {
        REQUIRE(model.find(from) != std::string::npos);
        model.replace(model.find(from), from.size(), to);
    };
    replace("embed: 4096, heads: 32", "embed: 16384, heads: 128");
    replace("mlp: 14336", "mlp: 53248");
    replace("times: 32", "times: 126");
    replace("batch: 64", "batch: 256");
    const HtmlPage page(model,
                        "mesh: {data: 128, model: 8}\n"
                        "rules: [{batch: data}, {heads: model}, {kv_heads: model}, {mlp: model}, {vocab: model}]\n"
                        "fsdp: {axis: data}\nmissing_axes: ignore\nhardware: h100\n",
                        "train");
    const std::string html = page.html();
    CHECK(html.size() < 300'000);
    CHECK(markup_problem(html) == "");
    CHECK(count(html, "<p class=\"figure\">405,853,388,800</p>") == 1); // as published: 405B
}

} // namespace shard
