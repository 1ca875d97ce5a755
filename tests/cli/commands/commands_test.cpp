// Commands as users type them: stdout, stderr and exit code together. What the reports say about the examples is in
// examples/*/README.md.
#include "cli/command/command.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"
#include "plans/file/plan_json.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "test_paths.h"

using namespace shard;

namespace {

// Of this process alone: tests run side by side.
const std::string lab_folder = std::string(SHARDC_TEST_DIR) + "/lab_" + std::to_string(::getpid());

struct Shell {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    CommandResult operator()(const std::string& line, const std::string& input = {}) {
        std::string full = "shardc " + line;
        for (size_t at; (at = full.find('@')) != std::string::npos;) full.replace(at, 1, "examples/dot_relu_dot/");
        return run_command(files, full, input);
    }
    std::string mistake(const std::string& line) {
        CommandResult result = (*this)(line);
        CHECK(result.out == "");
        CHECK(result.code == 2);
        return result.err;
    }
};

} // namespace

TEST_CASE("the passes, how long each took, and the graph after each") {
    Shell shell;
    const std::string list = shell("list passes").out;
    std::string names, timed;
    for (const PassDef& pass : all_passes()) {
        CHECK(list.find(fmt::format("{:<9}  {}\n", pass.name, pass.holds)) != std::string::npos);
        names += std::string(pass.name) + " ";
    }
    const CommandResult plain = shell("plan @model.yaml @layout.yaml");
    const CommandResult result = shell("plan @model.yaml @layout.yaml --timing");
    CHECK(result.out == plain.out);
    CHECK(plain.err == "");
    std::istringstream lines(result.err);
    std::string line, name;
    double sum = 0, milliseconds = 0, all = 0;
    std::getline(lines, line); // the head
    while (lines >> name >> milliseconds) {
        (name == "all" ? all : sum) += milliseconds;
        if (name != "all") timed += name + " ";
    }
    CHECK(timed == names);
    CHECK(all == doctest::Approx(sum).epsilon(0.01));

    // As many are run as the request has, whatever comes after them.
    Sources sources;
    PlanRequest request;
    request.model_file =
        sources.add("m", "model: m\ninputs:\n  x: {shape: [4]}\ngraph:\n  - y: {exp: x}\noutputs: [y]\n");
    request.layout_file = sources.add("l", "mesh: {data: 2}\n");
    request.passes = all_passes().first(2);
    const Compilation built = compile(sources, request);
    CHECK(built.graph.has_value());
    CHECK_FALSE(built.seeds.has_value());
    CHECK(built.seconds.size() == 2);
}

TEST_CASE("every slip on the command line exits with 2, a code and what to do") {
    Shell shell;
    CHECK(shell.mistake("paln x y") == "error[E0701]: there is no command 'paln': did you mean 'plan'?\n  = help: "
                                       "shardc --help lists the commands\n\n");
    CHECK(shell.mistake("") == "error[E0701]: a command is needed\n  = help: shardc --help lists the commands\n\n");
    CHECK(shell.mistake("--frobnicate") ==
          "error[E0701]: there is no option '--frobnicate'\n  = help: shardc --help lists the commands\n\n");
    CHECK(shell.mistake("plan @model.yaml @layout.yaml --fromat json") ==
          "error[E0701]: plan has no option '--fromat': did you mean '--format'?\n"
          "  = help: usage: shardc plan MODEL LAYOUT [-o PLAN] [--format text|html|json|markdown]\n\n");
    CHECK(shell.mistake("plan @model.yaml @layout.yaml --train").find("did you mean '--mode train'?") !=
          std::string::npos);
    CHECK(shell.mistake("plan @model.yaml @layout.yaml -o page.html --format html") ==
          "error[E0701]: -o writes the plan, which is JSON, and 'page.html' ends in .html\n"
          "  = help: the report goes there with --output page.html\n\n");
    CHECK(shell.mistake("plan @model.yaml @layout.yaml --format jsn") ==
          "error[E0701]: --format is one of text, html, json, markdown, not 'jsn': did you mean 'json'?\n"
          "  = help: usage: shardc plan MODEL LAYOUT [-o PLAN] [--format text|html|json|markdown]\n\n");
    CHECK(shell.mistake("plan nope.yaml @layout.yaml").find("error[E0702]: cannot read 'nope.yaml': ") == 0);
    CHECK(shell.mistake("plan - -").find("error[E0701]: the model and the layout cannot both come from stdin\n") == 0);
    CHECK(shell.mistake("diff @model.yaml @layout.yaml").find("error[E0701]: diff compares at least two plans\n") == 0);
    for (const std::string command : {"run", "show"})
        CHECK(shell.mistake(command + " @model.yaml") ==
              "error[E0704]: 'examples/dot_relu_dot/model.yaml' is not a plan file\n"
              " --> examples/dot_relu_dot/model.yaml:1:1\n"
              "  |\n"
              "1 | # yaml-language-server: $schema=../../schemas/model.schema.json\n"
              "  | ^\n"
              "  = help: a model needs a layout beside it: MODEL LAYOUT\n\n");
    CHECK(
        shell.mistake("run @model.yaml @layout.yaml --repeat 0").find("error[E0701]: --repeat takes a whole number") ==
        0);
    CHECK(shell.mistake("run @model.yaml @layout.yaml --input q=x.npy") ==
          "error[E0706]: the model has no input 'q'\n  = help: there are x, w1, w2\n\n");
    CHECK(shell.mistake("run @model.yaml @layout.yaml --output q=x.npy") ==
          "error[E0706]: the model has no output 'q'\n  = help: there are z\n\n");
    // A second file beside a plan would be left aside.
    REQUIRE(shell("plan @model.yaml @layout.yaml -o p.json").code == 0);
    for (const std::string second : {"@layout.yaml", "p.json", "nope.yaml"})
        CHECK(shell.mistake("run p.json " + second + " --verify")
                  .starts_with("error[E0701]: 'p.json' is a plan file, and '"));
    CHECK(shell.mistake("list ops zzzz").find(", none of a name like it\n") != std::string::npos);
    CHECK(shell.mistake("list ops softmx").find("  = help: did you mean 'softmax'?\n") != std::string::npos);
    CHECK(shell.mistake("list opps") == "error[E0706]: there is no list 'opps'\n  = help: did you mean 'ops'?\n\n");
    CHECK(shell.mistake("explain eisnum").find("  = help: did you mean 'einsum'?\n") != std::string::npos);
    CHECK(shell.mistake("show @model.yaml @layout.yaml w3").find("error[E0706]: there is no tensor 'w3'\n") == 0);
    CHECK(shell.mistake("show @model.yaml @layout.yaml nothing") ==
          "error[E0706]: there is no tensor 'nothing'\n  = help: there are x, w1, w2, h, a, a#2, z\n\n");
    CHECK(shell.mistake("schema nothing").find("error[E0706]: there is no schema 'nothing'\n") == 0);
}

TEST_CASE("of very many operands, each is looked at once") {
    // So many that comparing each with all others would take minutes.
    Shell shell;
    std::string operands = "x";
    for (int i = 1; i < 100'000; ++i) operands += ", x";
    shell.files.files["many.yaml"] = "model: many\naxes: {b: 8, k: 4}\ninputs: {x: {axes: [b, k]}}\n"
                                     "graph: [{y: {concatenate: [" +
                                     operands + "], dim: 0}}]\noutputs: [y]\n";
    shell.files.files["split.yaml"] = "mesh: {data: 2}\nrules: [{b: data}, {k: ~}]\n";
    const CommandResult result = shell("plan many.yaml split.yaml");
    CHECK(result.code == 0);
    CHECK(result.out.find("(400000, 4)") != std::string::npos);
}

TEST_CASE("a name is given one file, whichever options give it") {
    Shell shell;
    const auto twice = [&](const std::string& options) {
        return shell.mistake("run @model.yaml @layout.yaml " + options);
    };
    CHECK(twice("--input x=a.npy --input x=b.npy") ==
          "error[E0701]: 'x' is given twice: --input x=a.npy and --input x=b.npy\n  = help: keep one of them\n\n");
    CHECK(twice("--data x=a.npy --data x=b.npy").find("given twice: --data x=a.npy and --data x=b.npy\n") !=
          std::string::npos);
    CHECK(twice("--data x=a.npy --input x=b.npy").find("given twice: --input x=b.npy and --data x=a.npy\n") !=
          std::string::npos);
    CHECK(twice("--output z=a.npy --output z=b.npy").find("given twice: --output z=a.npy and --output z=b.npy\n") !=
          std::string::npos);
}

TEST_CASE("a model in the layout's place is told by what it holds") {
    Shell shell;
    const std::string swapped = "error[E0709]: these look swapped: 'examples/dot_relu_dot/layout.yaml' is a layout, "
                                "'examples/dot_relu_dot/model.yaml' is a model\n"
                                "  = help: the model comes first: MODEL LAYOUT\n\n";
    for (const std::string command : {"plan", "run", "show", "explain"})
        CHECK(shell.mistake(command + " @layout.yaml @model.yaml") == swapped);
    const CommandResult checked = shell("check @layout.yaml @model.yaml");
    CHECK(checked.code == 2);
    CHECK(checked.out.starts_with(swapped));
    CHECK(shell.mistake("plan @model.yaml @model.yaml") ==
          "error[E0709]: 'examples/dot_relu_dot/model.yaml' is a model, and stands in the place of a layout\n"
          "  = help: give a model, then a layout: MODEL LAYOUT\n\n");
    CHECK(shell.mistake("plan @layout.yaml @layout.yaml").find("is a layout, and stands in the place of a model\n") !=
          std::string::npos);
    // A mistake in a file of the right kind stays what it is.
    shell.files.files["bad.yaml"] = "mesh: {data: two}\n";
    CHECK(shell.mistake("plan @model.yaml bad.yaml").starts_with("error[E0113]"));
}

TEST_CASE("a plan that was saved in another encoding is said to be, wherever one is read") {
    Shell shell;
    CHECK(shell("plan @model.yaml @layout.yaml -o plan.json").code == 0);
    std::string wide;
    for (const char c : shell.files.files["plan.json"]) wide += std::string{c, 0, 0, 0};
    shell.files.files["wide.json"] = wide;
    shell.files.files["marked.json"] = std::string("\xFF\xFE\0\0", 4) + wide;
    for (const std::string command : {"run ", "show ", "diff plan.json "}) {
        CAPTURE(command);
        CHECK(shell.mistake(command + "wide.json").starts_with("error[E0108]: the file is UTF-32LE, not UTF-8\n"));
        CHECK(shell.mistake(command + "marked.json").starts_with("error[E0108]: the file is UTF-32, not UTF-8\n"));
    }
}

TEST_CASE("diff says a mistake in the model once, and those of the layouts each") {
    Shell shell;
    shell.files.files["model.yaml"] =
        "model: m\naxes: {batch: 8}\ninputs: {x: {axes: [batch]}}\ngraph: [{y: {rleu: x}}]\n"
        "outputs: [y]\n";
    shell.files.files["bad.yaml"] = "mesh: {data: 0}\n";
    const std::string err = shell.mistake("diff model.yaml @layout.yaml bad.yaml @data_only.yaml");
    const size_t first = err.find("error[E0203]: unknown op 'rleu'");
    CHECK(first != std::string::npos);
    CHECK(err.find("error[E0203]", first + 1) == std::string::npos);
    CHECK(err.find("error[E0301]") != std::string::npos);
}

TEST_CASE("diff names the hardware of each plan, and warns where it differs") {
    Shell shell;
    shell.files.files["gpu.yaml"] =
        "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\nhardware: H100\n";
    const CommandResult text = shell("diff @model.yaml @layout.yaml gpu.yaml");
    CHECK(text.code == 0);
    CHECK(text.err == "");
    const std::string warning = "the plans are for different hardware: their times compare machines, not layouts";
    CHECK(text.out.find("  data 2 x model 4 = 8 devices  h100\n") != std::string::npos);
    CHECK(text.out.find("warning: " + warning + "\n") != std::string::npos);
    CHECK(shell("diff @model.yaml @layout.yaml gpu.yaml --format markdown").out.find("warning: " + warning + "\n") !=
          std::string::npos);
    const nlohmann::json json =
        nlohmann::json::parse(shell("diff @model.yaml @layout.yaml gpu.yaml --format json").out);
    CHECK(json["plans"][0]["hardware"] == "tpu-v5e");
    CHECK(json["plans"][1]["hardware"] == "h100");
    CHECK(json["warnings"] == nlohmann::json{warning});
    const CommandResult csv = shell("diff @model.yaml @layout.yaml gpu.yaml --format csv");
    CHECK(csv.code == 0);
    CHECK(csv.out.find("\nhardware,tpu-v5e,h100\nstep_seconds,") != std::string::npos);
    CHECK(csv.err == "warning: " + warning + "\n");
    CHECK(shell("diff @model.yaml @layout.yaml @layout.yaml --format csv").err == "");
    // Files of one name, of which one has a faster link, and one another comment.
    const std::string profile = "hardware: lab\nlinks: {wire: {topology: switched, bandwidth: ";
    const std::string layout = "mesh: {data: 2}\nrules: [{batch: data}]\nhardware: ", at = "'" + lab_folder + "/";
    for (const auto& [file, written] :
         {std::pair("slow", profile + "1.0e9}}\n"), std::pair("fast", profile + "2.0e9}}\n"),
          std::pair("same", "# as measured\n" + profile + "1.0e9}}\n")}) {
        std::filesystem::create_directories(lab_folder);
        std::ofstream(lab_folder + "/" + file + ".yaml") << written;
        shell.files.files[std::string(file) + "_layout.yaml"] = layout + at + file + ".yaml'\n";
    }
    const CommandResult files = shell("diff @model.yaml slow_layout.yaml fast_layout.yaml");
    CHECK(files.code == 0);
    CHECK(files.out.find("warning: " + warning + "\n") != std::string::npos);
    CHECK(shell("diff @model.yaml slow_layout.yaml same_layout.yaml").out.find("warning") == std::string::npos);
    std::filesystem::remove_all(lab_folder);
    const CommandResult same = shell("diff @model.yaml @layout.yaml @embed_model.yaml");
    CHECK(same.out.starts_with("dot_relu_dot, forward, on data 2 x model 4 = 8 devices, tpu-v5e\n"));
    CHECK(same.out.find("warning") == std::string::npos);
}

TEST_CASE("the text report of plan ends in its warnings, beside the other formats they go to stderr") {
    Shell shell;
    shell.files.files["layout.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}, {typo: data}]\n";
    for (const std::string format : {"text", "json", "markdown"}) {
        const CommandResult result = shell("plan @model.yaml layout.yaml --format " + format);
        CHECK(result.code == 0);
        const bool in_err = result.err.find("warning[W0302]") != std::string::npos;
        CHECK(in_err == (format != "text"));
        CHECK((result.out.find("warning[W0302]") != std::string::npos) == (format == "text"));
    }
}

TEST_CASE("the plan command: JSON with the figures of the layer, a plan that runs, a model on stdin") {
    Shell shell;
    CommandResult json = shell("plan @model.yaml @layout.yaml --format json -o plan.json");
    REQUIRE(json.code == 0);
    nlohmann::json report = nlohmann::json::parse(json.out);
    CHECK(report["format_version"] == 1);
    REQUIRE(report["collectives"].size() == 1); // (4-1)/4 of 2 * 4 * 1024 floats: 24576
    CHECK(report["collectives"][0]["kind"] == "all_reduce");
    CHECK(report["collectives"][0]["wire_bytes_per_device"] == 24576);
    CHECK(shell("plan @model.yaml @layout.yaml --format json").out == json.out);
    REQUIRE(shell.files.files.contains("plan.json"));

    CommandResult run = shell("run plan.json --verify --format json");
    CHECK(run.code == 0);
    nlohmann::json ran = nlohmann::json::parse(run.out);
    CHECK(ran["wire_bytes_total"] ==
          nlohmann::json{{"executed", 8 * 24576}, {"predicted", 8 * 24576}, {"equal", true}});
    CHECK(ran["peak_bytes"]["equal"] == true);
    CHECK(ran["verify"]["verified"] == true);

    std::string error;
    std::string model = *shell.files.read("examples/dot_relu_dot/model.yaml", error);
    CommandResult piped = shell("plan - @layout.yaml", model);
    CHECK(piped.code == 0);
    CHECK(piped.out.find(
              "  input   x     f32 (batch 8, embed 1024)      [data | -]   (4, 1024)    16.0 KiB  <stdin>:6\n") !=
          std::string::npos);
}

TEST_CASE("--output writes the payload to a file and nothing to stdout") {
    Shell shell;
    CommandResult result = shell("plan @model.yaml @layout.yaml --output report.txt");
    CHECK(result.out == "");
    CHECK(shell.files.files["report.txt"] == shell("plan @model.yaml @layout.yaml").out);
}

TEST_CASE("run says that it wrote a file once, and only if it did") {
    Shell shell;
    const std::string path = std::string(SHARDC_TEST_DIR) + "/z.npy";
    CommandResult wrote = shell("run @model.yaml @layout.yaml --output z=" + path);
    CHECK(wrote.code == 0);
    CHECK(wrote.err == "wrote " + path + "\n");
    CommandResult failed = shell("run @model.yaml @layout.yaml --output z=no/such/folder/z.npy");
    CHECK(failed.code == 2);
    CHECK(failed.err.find("wrote") == std::string::npos);
    CHECK(failed.err.find("error[") == 0);
}

TEST_CASE("a NaN has no sign in the report") {
    Shell shell;
    shell.files.files["nan.yaml"] =
        "model: n\ninputs: {x: {shape: [2], init: {constant: {value: -1.0}}}}\ngraph:\n  - a: {log: x}\noutputs: [a]\n";
    shell.files.files["one.yaml"] = "mesh: {d: 1}\n";
    CommandResult result = shell("run nan.yaml one.yaml");
    CHECK(result.code == 0);
    CHECK(result.out.find("nan") != std::string::npos);
    CHECK(result.out.find("-nan") == std::string::npos);
}

TEST_CASE("check judges the layout's policy and the file's, in every format, by exit code") {
    Shell shell;
    shell.files.files["policy.yaml"] = "max_collectives: 0\n";
    shell.files.files["roomy.yaml"] = "max_collectives: 9\n";
    CommandResult ok = shell("check @model.yaml @layout.yaml --policy roomy.yaml");
    CHECK(ok.code == 0);
    CHECK(ok.out.find("ok       examples/dot_relu_dot/layout.yaml  1 collective, 24.0 KiB sent per device; peak ") ==
          0);
    CommandResult broken = shell("check @model.yaml @layout.yaml @data_only.yaml --policy policy.yaml");
    CHECK(broken.code == 1);
    CHECK(broken.err == "");
    CHECK(broken.out.find("P0103") != std::string::npos);
    CHECK(broken.out.find("\nfinding  examples/dot_relu_dot/layout.yaml ") != std::string::npos);
    CHECK(broken.out.find("\nok       examples/dot_relu_dot/data_only.yaml ") != std::string::npos);
    for (const char* format : {"json", "sarif"}) {
        CommandResult result =
            shell(fmt::format("check @model.yaml @layout.yaml --policy policy.yaml --format {}", format));
        CHECK(result.code == 1);
        CHECK(nlohmann::json::parse(result.out).is_object());
    }
    CHECK(shell("check @model.yaml @layout.yaml --policy policy.yaml --format github")
              .out.find("::error file=policy.yaml,line=1,") == 0);
    CHECK(shell("check @model.yaml @layout.yaml --policy policy.yaml --format junit").out.find("failures=\"1\"") !=
          std::string::npos);
    CHECK(shell("check @model.yaml @layout.yaml missing.yaml").code == 2);
}

TEST_CASE("diff compares layouts or plan files, and can fail on a difference") {
    Shell shell;
    CommandResult same = shell("diff @model.yaml @layout.yaml @layout.yaml --exit-code");
    CHECK(same.code == 0);
    CHECK(same.out.find("All tensors have the same shardings.\n") != std::string::npos);
    CHECK(shell("plan @model.yaml @layout.yaml -o a.json").code == 0);
    CHECK(shell("plan @model.yaml @data_only.yaml -o b.json").code == 0);
    CommandResult json = shell("diff a.json b.json --exit-code --format json");
    CHECK(json.code == 1);
    nlohmann::json diff = nlohmann::json::parse(json.out);
    CHECK(diff["differ"] == true);
    CHECK(diff["plans"][0]["wire_bytes_per_device"] == 24576);
    CHECK(diff["plans"][1]["collectives"] == 0); // plain data parallelism, forward: nothing to exchange
    CHECK(diff["tensors"][0]["name"] == "w1");
    CHECK(shell("diff a.json b.json").code == 0);
    CHECK(shell("diff a.json @layout.yaml").code == 2);
}

TEST_CASE("explain finds that the constraint costs the all_gather, by planning without it") {
    Shell shell;
    CommandResult result =
        shell("explain examples/logical_constraint/model.yaml examples/logical_constraint/layout.yaml a");
    CHECK(result.code == 0);
    CHECK(result.out.find("      - a: {constrain: a, mesh: [data, ~]}\n") != std::string::npos);
    size_t line = result.out.find("  without the constraint at  ");
    REQUIRE(line != std::string::npos);
    std::string row = result.out.substr(line, result.out.find('\n', line) - line);
    CHECK(row.ends_with("  -1 all_gather"));
    CHECK(row.find("  24.0 KiB  ") != std::string::npos); // the all_reduce is left
    CHECK(shell("explain E0313").out.find("dim does not divide\n") != std::string::npos);
}

TEST_CASE("lists are those of the registries, as text and as JSON") {
    Shell shell;
    CHECK(shell("list").out.find("collectives   what devices do together\n") != std::string::npos);
    nlohmann::json ops = nlohmann::json::parse(shell("list ops --format json").out);
    CHECK(ops["list"] == "ops");
    CHECK(std::any_of(ops["items"].begin(), ops["items"].end(),
                      [](const nlohmann::json& item) { return item["name"] == "einsum"; }));
    CHECK(shell("list collectives all_gather").out.find("all_gather (collective)\n\n") == 0);
    for (const char* what : {"composites", "hardware", "initializers", "codes", "commands", "formats"})
        CHECK(shell(fmt::format("list {}", what)).code == 0);
    CHECK(shell("plan --help").out.find("shardc plan MODEL LAYOUT") != std::string::npos);
    CHECK(shell("--help").out.find("  explain  ") != std::string::npos);
}

TEST_CASE("a plan file does for show and explain, and says when this program would plan it in another way") {
    Shell shell;
    REQUIRE(shell("plan @model.yaml @layout.yaml -o plan.json").code == 0);
    CHECK(shell("show plan.json w1").out == shell("show @model.yaml @layout.yaml w1").out);
    CHECK(shell("show plan.json").out == shell("show @model.yaml @layout.yaml").out);
    CHECK(shell("explain plan.json z").out == shell("explain @model.yaml @layout.yaml z").out);
    CHECK(shell("explain - z", shell.files.files["plan.json"]).out == shell("explain plan.json z").out);
    CHECK(shell("explain plan.json").out == shell("explain @model.yaml @layout.yaml").out);
    CHECK(shell.mistake("explain plan.json nothing").find("error[E0706]: there is no tensor 'nothing'\n") == 0);

    // Another source line than this program finds, under a right checksum.
    std::string& text = shell.files.files["plan.json"];
    text.erase(text.rfind(",\n\"checksum\""));
    const size_t at = text.find("\"peak\": ");
    REQUIRE(at != std::string::npos);
    text = seal_plan(text.insert(at + 8, "1"));
    const CommandResult other = shell("explain plan.json z");
    CHECK(other.code == 0);
    CHECK(other.err.find("warning[W0501]: this program plans the texts inside the plan file in another way\n") == 0);
}

TEST_CASE("show and explain print JSON that says what the drawing says") {
    Shell shell;
    const nlohmann::json shown = nlohmann::json::parse(shell("show @model.yaml @layout.yaml w1 --format json").out);
    CHECK(shown["format_version"] == 1);
    CHECK(shown["mesh"]["devices"] == 8);
    const nlohmann::json& w1 = shown["tensors"][0];
    CHECK(w1["tensor"]["sharding"] == "[- | model]");
    REQUIRE(w1["parts"].size() == 4);
    CHECK(w1["parts"][1]["start"] == nlohmann::json::parse("[0, 256]"));
    CHECK(w1["parts"][1]["devices"] == nlohmann::json::parse("[1, 5]"));

    const nlohmann::json z =
        nlohmann::json::parse(shell("explain @model.yaml @layout.yaml z --format json").out)["tensors"][0];
    CHECK(z["dims"][0]["axes"][0]["axis"] == "data");
    CHECK(z["dims"][0]["axes"][0]["because"][0]["cause"] == "propagation");
    CHECK(z["dims"][0]["axes"][0]["because"][1]["cause"] == "constraint");
    CHECK(z["dims"][1]["whole"] == "nothing splits it");
    CHECK(z["op"] == "dot");
    CHECK(z["computed"][0]["is"] == "chosen");
    CHECK(z["collectives"][0]["kind"] == "all_reduce");
    CHECK(z["ways"][0]["choices"][0]["wire_bytes_total"] == 196608);
    CHECK(z["as_it_is"]["collectives"] == 1);
    CHECK(nlohmann::json::parse(shell("explain einsum --format json").out)["found"][0]["item"]["name"] == "einsum");
}
