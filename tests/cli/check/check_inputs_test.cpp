// Many layouts at once: names, files, formats and configurations. What it prints is in tests/cases/checks.md.
#include "cli/check/check_inputs.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "test_paths.h"

using namespace shard;

namespace {

const std::string model_text = "model: m\naxes: {batch: 64, embed: 32, out: 32}\ninputs: {x: {axes: [batch, embed]}}\n"
                               "params: {w: {axes: [embed, out]}}\ngraph: [{y: {dot: [x, w]}}]\noutputs: [y]\n";

MemoryFiles files_of(int layouts) {
    MemoryFiles files;
    files.files["model.yaml"] = model_text;
    for (int i = 0; i < layouts; ++i)
        files.files[fmt::format("l/{:02}.yaml", i)] =
            fmt::format("mesh: {{data: {}}}\nrules: [{{batch: data}}, {{embed: ~}}, {{out: ~}}, {{lost{}: ~}}]\n",
                        2 << (i % 6), i % 3);
    return files;
}

} // namespace

TEST_CASE("layouts are checked in parallel, and told in the order of the command, with the same bytes every time") {
    MemoryFiles files = files_of(24);
    files.files["shardc.yaml"] = "{models: [model.yaml], layouts: [l/*.yaml]}";
    const CommandResult first = run_command(files, "shardc check --format json");
    const nlohmann::json json = nlohmann::json::parse(first.out);
    REQUIRE(json["subjects"].size() == 24);
    for (int i = 0; i < 24; ++i) CHECK(json["subjects"][i]["name"] == fmt::format("l/{:02}.yaml", i));
    // A rule that nothing uses, of three names: each layout has one of its own.
    CHECK(json["diagnostics"].size() == 24);
    CHECK(json["diagnostics"][5]["subjects"] == nlohmann::json{"l/05.yaml"});
    for (int i = 0; i < 5; ++i) CHECK(run_command(files, "shardc check --format json").out == first.out);
}

TEST_CASE("every format of a finding names the layout that has it") {
    MemoryFiles files = files_of(2);
    files.files["policy.yaml"] = "max_memory_per_device: 1\n";
    for (const std::string format : {"text", "json", "github", "sarif", "junit", "markdown"}) {
        const CommandResult both =
            run_command(files, "shardc check model.yaml l/00.yaml l/01.yaml --policy policy.yaml --format " + format);
        CHECK(both.code == 1);
        for (const std::string name : {"l/00.yaml", "l/01.yaml"}) CHECK(both.out.find(name) != std::string::npos);
        const CommandResult one =
            run_command(files, "shardc check model.yaml l/00.yaml --policy policy.yaml --format " + format);
        CHECK(one.out.find("l/00.yaml") != std::string::npos);
    }
}

TEST_CASE(
    "what is worse than the baseline is said where the layout begins, what has no place is there for code scanning") {
    MemoryFiles files = files_of(1);
    files.files["l/00.yaml"] = "# Of one device.\n\n" + files.files["l/00.yaml"];
    run_command(files, "shardc plan model.yaml l/00.yaml -o plan.json");
    const CommandResult result =
        run_command(files, "shardc check model.yaml l/00.yaml --set batch=128 --baseline plan.json --format sarif");
    CHECK(result.code == 1);
    const nlohmann::json json = nlohmann::json::parse(result.out);
    int risen = 0;
    for (const nlohmann::json& found : json["runs"][0]["results"]) {
        REQUIRE(found["locations"].size() == 1);
        CHECK(found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "l/00.yaml");
        const nlohmann::json& region = found["locations"][0]["physicalLocation"]["region"];
        CHECK(region["startLine"] >= 1);
        if (found["ruleId"] == "P0107") CHECK(region["startLine"] == 3);
        if (found["ruleId"] == "P0107") CHECK(region["startColumn"] == 1);
        CHECK(found["properties"]["subjects"] == nlohmann::json{"l/00.yaml"});
        risen += found["ruleId"] == "P0107" ? 1 : 0;
    }
    CHECK(risen == 1); // memory and time, of one layout; one device sends nothing
    const CommandResult missing = run_command(files, "shardc check model.yaml l/none.yaml --format sarif");
    CHECK(missing.code == 2);
    CHECK(nlohmann::json::parse(missing.out)["runs"][0]["results"][0]["locations"].size() == 1);
}

TEST_CASE("a comment where the layout begins accepts what a comparison with the baseline finds there") {
    MemoryFiles files = files_of(2);
    run_command(files, "shardc plan model.yaml l/00.yaml -o plan.json");
    const std::string layout = files.files["l/00.yaml"];
    const auto codes = [&](const std::string& comment, const std::string& options) {
        files.files["l/00.yaml"] = comment + layout;
        std::vector<std::string> found;
        const CommandResult result = run_command(files, "shardc check model.yaml l/00.yaml --format json " + options);
        const nlohmann::json json = nlohmann::json::parse(result.out);
        for (const nlohmann::json& one : json["diagnostics"])
            if (one["code"] != "W0302") found.push_back(one["code"]);
        return found;
    };
    const std::string wider = "--set batch=128 --baseline plan.json";
    using Codes = std::vector<std::string>;
    CHECK(codes("", wider) == Codes{"P0107"});
    CHECK(codes("# shardc: allow P0107 until the next release\n", wider).empty());
    CHECK(codes("# shardc: allow P0107 until the next release\n", "--baseline plan.json") == Codes{"W0101"});
    CHECK(codes("# shardc: allow P0107 until the next release\n", "").empty()); // nothing to compare with
    run_command(files, "shardc check model.yaml l/01.yaml --baseline base.json --accept");
    CHECK(codes("", "--baseline base.json") == Codes{"W0701"});
    CHECK(codes("# shardc: allow W0701 a trial\n", "--baseline base.json").empty());
}

TEST_CASE("--fix writes what the patch holds, as often as there is something, and checks what files say then") {
    MemoryFiles files = files_of(0);
    std::string slip = model_text;
    slip.replace(slip.find("dot:"), 4, "dott:");
    files.files["model.yaml"] = slip;
    // Lines end as they did, also the last one, which ends in nothing.
    files.files["l.yaml"] = "mesh: {data: 2}\r\nrules:\r\n  - {heads: data}\r\n  - {bach: data}\r\n  - {embed: ~}\r\n"
                            "  - {out: ~}";
    const CommandResult fixed = run_command(files, "shardc check model.yaml l.yaml --fix --strict");
    CHECK(fixed.code == 0);
    CHECK(fixed.err == "mended model.yaml: 1 line\nmended l.yaml: 2 lines\n");
    CHECK(fixed.out.starts_with("ok "));
    CHECK(files.files["model.yaml"] == model_text);
    CHECK(files.files["l.yaml"] == "mesh: {data: 2}\r\nrules:\r\n  - {batch: data}\r\n  - {embed: ~}\r\n  - {out: ~}");
    const CommandResult again = run_command(files, "shardc check model.yaml l.yaml --fix");
    CHECK(again.err.empty());
    CHECK(again.out == fixed.out);
}

TEST_CASE("--fix of a configuration mends what its patterns name, and the baseline is of what is mended") {
    MemoryFiles files = files_of(2);
    files.files["shardc.yaml"] = "{models: [model.yaml], layouts: [\"l/*.yaml\"], baseline: base.json, stricct: true}";
    files.files["l/00.yaml"] =
        "mesh: {data: 2}\nrules:\n  - {batch: data}\n  - {heads: data}\n  - {embed: ~}\n  - {out: ~}\n";
    files.files.erase("l/01.yaml");
    const CommandResult result = run_command(files, "shardc check --fix --accept");
    CHECK(result.code == 0);
    CHECK(result.err ==
          "mended shardc.yaml: 1 line\nmended l/00.yaml: 1 line\naccepted the figures of 1 layout: base.json\n");
    CHECK(files.files["shardc.yaml"].find("strict: true") != std::string::npos);
    CHECK(files.files["l/00.yaml"].find("heads") == std::string::npos);
}

TEST_CASE("the line of a layout says that its plan does not fit the device") {
    MemoryFiles files = files_of(1);
    files.files["l/00.yaml"] += "hardware: h100\n";
    CHECK(run_command(files, "shardc check model.yaml l/00.yaml").out.find("KiB of 74.5 GiB; step") !=
          std::string::npos);
    const CommandResult large = run_command(files, "shardc check model.yaml l/00.yaml --set batch=4294967296");
    CHECK(large.out.find(", does not fit 74.5 GiB; step") != std::string::npos);
    CHECK(large.out.find("\nfinding  l/00.yaml") != std::string::npos);
    CHECK(large.code == 1); // it runs nowhere, whoever has no policy
    const std::string line = "shardc check model.yaml l/00.yaml --set batch=4294967296 --format ";
    CHECK(run_command(files, line + "markdown").out.find("| findings |") != std::string::npos);
    CHECK(run_command(files, line + "html")
              .out.find("<span class=\"bad strong\"><a href=\"#found-1\">findings</a></span>") != std::string::npos);
    // At the line that says what it does not fit, with what is alive at the peak: more than that is not there.
    CHECK(large.out.find("warning[W0401]: the plan needs ") != std::string::npos);
    CHECK(large.out.find("| hardware: h100") != std::string::npos);
    const nlohmann::json peak = nlohmann::json::parse(
        run_command(files, "shardc plan model.yaml l/00.yaml --set batch=4294967296 --format json").out)["memory"];
    std::int64_t named = 0;
    for (const nlohmann::json& value : peak["largest"]) {
        named += value["bytes"].get<std::int64_t>();
        CHECK(large.out.find("note: " + value["name"].get<std::string>() + ": ") != std::string::npos);
    }
    CHECK(named <= peak["peak"].get<std::int64_t>());
    CHECK(peak["others"] == 0);
}

TEST_CASE("a tolerance without a baseline is of no effect, and is refused") {
    MemoryFiles files = files_of(1);
    const CommandResult result = run_command(files, "shardc check model.yaml l/00.yaml --tolerance 3%");
    CHECK(result.code == 2);
    CHECK(result.out.find("error[E0701]: --tolerance is of a comparison, and there is no baseline") !=
          std::string::npos);
    run_command(files, "shardc plan model.yaml l/00.yaml -o plan.json");
    CHECK(run_command(files, "shardc check model.yaml l/00.yaml --baseline plan.json --tolerance 3%").code == 0);
}

TEST_CASE("a layout that the baseline does not know is said where the layout begins") {
    MemoryFiles files = files_of(3);
    run_command(files, "shardc plan model.yaml l/00.yaml -o plan.json");
    const CommandResult result =
        run_command(files, "shardc check model.yaml l/01.yaml l/02.yaml --baseline plan.json --format github");
    for (const std::string name : {"l/01.yaml", "l/02.yaml"})
        CHECK(result.out.find("::warning file=" + name + ",line=1,col=1,endColumn=5,title=W0701 ") !=
              std::string::npos);
    CHECK(result.out.find("it is the plan of model.yaml with l/00.yaml, forward") != std::string::npos);
}

TEST_CASE("a layout that was accepted and is checked no more is said") {
    MemoryFiles files = files_of(3);
    files.files["shardc.yaml"] = "models: [model.yaml]\nlayouts: [\"l/*.yaml\"]\nbaseline: base.json\n";
    run_command(files, "shardc check --accept");
    CHECK(run_command(files, "shardc check").out.find("W0702") == std::string::npos);
    files.files.erase("l/01.yaml");
    const CommandResult gone = run_command(files, "shardc check --format github");
    CHECK(gone.code == 0);
    CHECK(gone.out.find("::warning file=shardc.yaml,line=3,col=11,endColumn=20,title=W0702") != std::string::npos);
    CHECK(gone.out.find("base.json has figures of l/01.yaml, which is not checked") != std::string::npos);
    CHECK(run_command(files, "shardc check --strict").code == 1);
    // Another baseline stands in the place of the file's: that one says nothing.
    run_command(files, "shardc check model.yaml l/00.yaml l/02.yaml --baseline now.json --accept");
    CHECK(run_command(files, "shardc check --baseline now.json").out.find("W0702") == std::string::npos);
    CHECK(run_command(files, "shardc check --baseline base.json").out.find("W0702") != std::string::npos);
    run_command(files, "shardc check --accept");
    CHECK(run_command(files, "shardc check --strict").out.find("W0702") == std::string::npos);
}

TEST_CASE("one run writes several formats, each what it writes alone") {
    MemoryFiles files = files_of(3);
    const std::string command = "shardc check model.yaml l/00.yaml l/01.yaml l/02.yaml";
    const CommandResult result = run_command(
        files, command + " --format markdown --format sarif=a.sarif --format=json=a.json --format junit=a.xml");
    CHECK(result.out == run_command(files, command + " --format markdown").out);
    CHECK(files.files["a.sarif"] == run_command(files, command + " --format sarif").out);
    CHECK(files.files["a.json"] == run_command(files, command + " --format json").out);
    CHECK(files.files["a.xml"] == run_command(files, command + " --format junit").out);
    CHECK(run_command(files, command + " --format json=b.json").out == run_command(files, command).out);
    CHECK(run_command(files, command + " --format json=b.json --output c.txt").out.empty());
    CHECK(files.files["c.txt"] == run_command(files, command).out);
}

TEST_CASE("a baseline knows what it was made of: another model beside it changes nothing, another mode is said") {
    MemoryFiles files = files_of(2);
    files.files["other.yaml"] = model_text;
    CHECK(run_command(files, "shardc check model.yaml l/00.yaml --format json=base.json").code == 0);
    files.files["shardc.yaml"] = "{models: [\"*[lr].yaml\"], layouts: [l/00.yaml, l/*0.yaml], baseline: base.json}";
    const CommandResult both = run_command(files, "shardc check --config shardc.yaml --set batch=128 --format json");
    CHECK(both.code == 1);
    int risen = 0, unknown = 0;
    const nlohmann::json checked = nlohmann::json::parse(both.out);
    CHECK(checked["subjects"].size() == 2); // a layout that two patterns find is one
    for (const nlohmann::json& found : checked["diagnostics"]) {
        risen += found["code"] == "P0107" && found["subjects"][0] == "model.yaml + l/00.yaml" ? 1 : 0;
        unknown += found["code"] == "W0701" && found["subjects"][0] == "other.yaml + l/00.yaml" ? 1 : 0;
    }
    CHECK(risen > 0);
    CHECK(unknown == 1);
    files.files["train.json"] = files.files["base.json"];
    std::string& text = files.files["train.json"];
    text.replace(text.find("\"mode\": \"forward\""), 17, "\"mode\": \"train\"");
    const CommandResult mode = run_command(files, "shardc check model.yaml l/00.yaml --baseline train.json");
    CHECK(mode.out.find("train.json says nothing of this layout in mode forward") != std::string::npos);
}

TEST_CASE("what a figure that rose says to run is what was checked: settings, mode, and names for a shell") {
    MemoryFiles files = files_of(1);
    files.files["my model.yaml"] = model_text;
    const auto help = [&files](const std::string& more) {
        const std::string out = run_command(files, "shardc check 'my model.yaml' l/00.yaml " + more).out;
        const size_t at = out.find("  = help: ", out.find("error[P0107]"));
        REQUIRE(at != std::string::npos);
        return out.substr(at + 10, out.find('\n', at) - at - 10);
    };
    CHECK(run_command(files, "shardc check 'my model.yaml' l/00.yaml --baseline base.json --accept").code == 0);
    CHECK(help("--set batch=128 --baseline base.json") ==
          "`shardc plan 'my model.yaml' l/00.yaml --set batch=128` shows where it goes; if it is meant, check again "
          "with --accept");
    CHECK(run_command(files, "shardc plan 'my model.yaml' l/00.yaml -o 'my plan.json'").code == 0);
    CHECK(help("--set batch=128 --baseline 'my plan.json'")
              .starts_with("`shardc plan 'my model.yaml' l/00.yaml --set batch=128 -o new.json`, then `shardc diff "
                           "'my plan.json' new.json` shows"));
    // A configuration's settings, and the file where its entry has a name.
    files.files["shardc.yaml"] = "models: [{model: my model.yaml, name: small, layouts: [l/00.yaml], set: {batch: 64}, "
                                 "baseline: named.json}]\n";
    CHECK(run_command(files, "shardc check --accept").code == 0);
    CHECK(run_command(files, "shardc check --set batch=128")
              .out.find("`shardc plan 'my model.yaml' l/00.yaml --set batch=128` shows") != std::string::npos);
}

TEST_CASE("an entry that is called like another is said once, however many layouts it has") {
    MemoryFiles files = files_of(4);
    files.files["shardc.yaml"] = "models: [{model: model.yaml, layouts: [l/*.yaml]},\n"
                                 "         {model: model.yaml, layouts: [l/*.yaml], mode: train}]\n";
    const CommandResult result = run_command(files, "shardc check");
    CHECK(result.code == 2);
    const size_t first =
        result.out.find("error[E0712]: two checks are called 'model.yaml + l/00.yaml'\n --> shardc.yaml:2:");
    REQUIRE(first != std::string::npos);
    CHECK(result.out.find("E0712", first + 10) == std::string::npos);
    CHECK(result.out.find("= note: so are 3 more of this entry\n") != std::string::npos);
}

TEST_CASE(
    "--accept writes the baseline that the same command compares with, and replaces nothing that is something else") {
    MemoryFiles files = files_of(2);
    files.files["shardc.yaml"] = "{models: [model.yaml], layouts: [l/*.yaml], baseline: ci/base.json}";
    for (const std::string command : {"shardc check", "shardc check model.yaml l/00.yaml --baseline ci/base.json"}) {
        const CommandResult missing = run_command(files, command);
        CHECK(missing.out.find("error[E0702]: cannot read 'ci/base.json'") == 0);
        CHECK(missing.out.find("the same command with --accept writes it") != std::string::npos);
    }
    const CommandResult first = run_command(files, "shardc check --accept");
    CHECK(first.code == 0);
    CHECK(first.err == "accepted the figures of 2 layouts: ci/base.json\n");
    const std::string accepted = files.files["ci/base.json"];
    CHECK(run_command(files, "shardc check").code == 0);
    CHECK(run_command(files, "shardc check --set batch=128").code == 1);
    CHECK(run_command(files, "shardc check --set batch=128 --accept").code == 0);
    CHECK(files.files["ci/base.json"] != accepted);
    CHECK(run_command(files, "shardc check --set batch=128").code == 0);
    CHECK(run_command(files, "shardc check --accept").code == 0);
    CHECK(files.files["ci/base.json"] == accepted); // the same input gives the same bytes

    // One layout by name: the other stays as it was. By the configuration, what is not there any more is gone.
    const std::string one = "shardc check model.yaml l/00.yaml --baseline ci/base.json --set batch=128";
    CHECK(run_command(files, one + " --accept").code == 0);
    CHECK(run_command(files, one).code == 0);
    const nlohmann::json both = nlohmann::json::parse(files.files["ci/base.json"]),
                         before = nlohmann::json::parse(accepted);
    REQUIRE(both["subjects"].size() == 2);
    CHECK(both["subjects"][0]["peak_bytes"] > before["subjects"][0]["peak_bytes"]);
    CHECK(both["subjects"][1]["peak_bytes"] == before["subjects"][1]["peak_bytes"]);
    files.files.erase("l/01.yaml");
    CHECK(run_command(files, "shardc check --accept").code == 0);
    CHECK(nlohmann::json::parse(files.files["ci/base.json"])["subjects"].size() == 1);

    // Figures that were accepted in another mode stay.
    std::string& text = files.files["ci/base.json"];
    text.replace(text.find("\"mode\": \"forward\""), 17, "\"mode\": \"train\"");
    CHECK(run_command(files, "shardc check --accept").code == 0);
    const nlohmann::json modes = nlohmann::json::parse(files.files["ci/base.json"])["subjects"];
    REQUIRE(modes.size() == 2);
    CHECK(modes[0]["mode"] == "forward");
    CHECK(modes[1]["mode"] == "train");

    // A plan, another file, and a layout that cannot be planned.
    const std::string held = files.files["ci/base.json"];
    run_command(files, "shardc plan model.yaml l/00.yaml -o plan.json");
    const std::string plan = files.files["plan.json"];
    const CommandResult over_plan =
        run_command(files, "shardc check model.yaml l/00.yaml --baseline plan.json --accept");
    CHECK(over_plan.code == 2);
    CHECK(over_plan.err.find("error[E0711]: 'plan.json' is a plan") == 0);
    CHECK(files.files["plan.json"] == plan);
    CHECK(run_command(files, "shardc check model.yaml l/00.yaml --baseline model.yaml --accept").code == 2);
    CHECK(files.files["model.yaml"] == model_text);
    files.files["l/02.yaml"] = "mesh: {data: 7}\nrules: [{batch: data}, {embed: ~}, {out: ~}]\n";
    const CommandResult failed = run_command(files, "shardc check --accept");
    CHECK(failed.code == 2);
    CHECK(failed.err == "ci/base.json is left as it was, since l/02.yaml could not be planned\n");
    CHECK(files.files["ci/base.json"] == held);
    files.files["shardc.yaml"] = "{models: [model.yaml], layouts: [l/00.yaml]}";
    CHECK(run_command(files, "shardc check --accept").err.find("error[E0701]: --accept writes the baseline") == 0);
}

TEST_CASE("what shardc.yaml names and cannot be read is told at its line") {
    MemoryFiles files = files_of(1);
    files.files["shardc.yaml"] = "models: [model.yaml, none.yaml]\nlayouts: [l/00.yaml, l/none.yaml]\n"
                                 "policies: [p.yaml]\nbaseline: b.json\n";
    const nlohmann::json json = nlohmann::json::parse(run_command(files, "shardc check --format json").out);
    std::vector<std::string> places;
    for (const nlohmann::json& found : json["diagnostics"])
        places.push_back(fmt::format("{} {}:{}", found["code"].get<std::string>(), found["source"]["line"].get<int>(),
                                     found["source"]["column"].get<int>()));
    std::sort(places.begin(), places.end());
    CHECK(places == std::vector<std::string>{"E0702 1:22", "E0702 2:22", "E0702 3:12", "E0702 4:11"});
}

TEST_CASE("a program is read from stdin once, whatever is checked with it") {
    MemoryFiles files = files_of(2);
    const CommandResult result = run_command(files, "shardc check - l/00.yaml l/01.yaml", model_text);
    CHECK(result.code == 0);
    CHECK(run_command(files, "shardc check - -", model_text).out.find("error[E0701]") == 0);
    CHECK(run_command(files, "shardc check model.yaml").out.find("error[E0701]: a model is checked with layouts") == 0);
}

TEST_CASE("shardc.yaml is found from a folder below it, and its names do not depend on where it is asked") {
    const std::filesystem::path before = std::filesystem::current_path(),
                                root = std::filesystem::path(SHARDC_TEST_DIR) / fmt::format("config_{}", ::getpid());
    std::filesystem::create_directories(root / "sub" / "deep");
    std::filesystem::create_directories(root / ".git");
    const MemoryFiles written = files_of(2);
    std::filesystem::create_directories(root / "l");
    for (const auto& [path, text] : written.files) std::ofstream(root / path) << text;
    std::ofstream(root / "shardc.yaml") << "{models: [model.yaml], layouts: [l/*.yaml]}";
    const std::string program = SHARDC_EXECUTABLE;
    const auto run_in = [&](const std::filesystem::path& folder) {
        const std::string line =
            fmt::format("cd '{}' && '{}' check --format json --baseline '{}' > '{}'", folder.string(), program,
                        (root / "base.json").string(), (root / "out").string());
        CHECK(std::system(line.c_str()) == 0);
        std::ifstream out(root / "out");
        return nlohmann::json::parse(out);
    };
    CHECK(std::system(
              fmt::format("cd '{}' && '{}' check --format json=base.json > out", root.string(), program).c_str()) == 0);
    const nlohmann::json here = run_in(root), below = run_in(root / "sub" / "deep");
    CHECK(here["subjects"][1]["name"] == "l/01.yaml");
    CHECK(below["subjects"][1]["name"] == "l/01.yaml");
    CHECK(below["subjects"][1]["layout"] == "l/01.yaml");
    CHECK(below["diagnostics"][0]["source"]["file"] == "../../l/00.yaml");
    // A repository's end is where the search ends.
    std::filesystem::create_directories(root / "sub" / ".git");
    const std::string line =
        fmt::format("cd '{}' && '{}' check > '{}'", (root / "sub" / "deep").string(), program, (root / "out").string());
    CHECK(std::system(line.c_str()) != 0);
    CHECK(std::filesystem::current_path() == before);
    std::filesystem::remove_all(root);
}
