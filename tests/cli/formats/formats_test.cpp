// Every format renders the same two subjects: one with an error in a layout, one clean with figures and a policy
// finding.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects.h"
#include "cli/terminal/paint.h"
#include "plans/diagnostics/codes.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace shard;

namespace {

struct Fixture {
    Sources bad, good;
    std::vector<Subject> subjects;

    Fixture() {
        bad.add("a b.yaml", "mesh: {data: 2}\nrules:\n  - {batch: dta}\n");
        good.add("good.yaml", "mesh: {data: 2}\npolicy: {max_collectives: 0}\n");
        Diagnostics errors, findings;
        errors.error("E0701", {0, 3, 13, 3}, "there is no mesh axis 'dta': 100%, really")
            .label({0, 1, 8, 4}, "the mesh")
            .help("did you mean 'data'?");
        findings.finding("P0103", {0, 2, 10, 15}, "1 collective, <0> allowed").note("all_reduce of z").help("raise it");
        subjects.push_back({"a b.yaml", "", &bad, errors.all()});
        subjects.push_back({"good.yaml", "1 collective; peak 2.05 MiB", &good, findings.all()});
    }
    std::string render(std::string_view format) const { return find_format(format)->check({subjects}, Paint{}); }
};

} // namespace

TEST_CASE("text shows each diagnostic with its excerpt, then a verdict per subject") {
    CHECK(Fixture().render("text") == "error[E0701]: there is no mesh axis 'dta': 100%, really\n"
                                      " --> a b.yaml:3:13\n"
                                      "  |\n"
                                      "3 |   - {batch: dta}\n"
                                      "  |             ^^^\n"
                                      " ::: a b.yaml:1:8\n"
                                      "  |\n"
                                      "1 | mesh: {data: 2}\n"
                                      "  |        ---- the mesh\n"
                                      "  = layout: a b.yaml\n"
                                      "  = help: did you mean 'data'?\n"
                                      "\n"
                                      "error[P0103]: 1 collective, <0> allowed\n"
                                      " --> good.yaml:2:10\n"
                                      "  |\n"
                                      "2 | policy: {max_collectives: 0}\n"
                                      "  |          ^^^^^^^^^^^^^^^\n"
                                      "  = layout: good.yaml\n"
                                      "  = note: all_reduce of z\n"
                                      "  = help: raise it\n"
                                      "\n"
                                      "error    a b.yaml\n"
                                      "finding  good.yaml  1 collective; peak 2.05 MiB\n");
}

TEST_CASE("github escapes what its workflow commands would read") {
    CHECK(Fixture().render("github") ==
          "::error file=a b.yaml,line=3,col=13,endColumn=16,title=E0701 bad command line::"
          "there is no mesh axis 'dta': 100%25, really%0Alayout: a b.yaml%0Adid you mean 'data'?\n"
          "::error file=good.yaml,line=2,col=10,endColumn=25,title=P0103 policy%3A number of collectives::"
          "1 collective, <0> allowed%0Alayout: good.yaml%0Aall_reduce of z%0Araise it\n");
}

TEST_CASE("junit has a test case per subject, errors and findings apart") {
    CHECK(Fixture().render("junit") ==
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuites>\n"
          "  <testsuite name=\"shardc\" tests=\"2\" failures=\"1\" errors=\"1\">\n"
          "    <testcase classname=\"shardc\" name=\"a b.yaml\">\n"
          "      <error type=\"E0701\" message=\"there is no mesh axis 'dta': 100%, really\">"
          "a b.yaml:3:13: error[E0701]: there is no mesh axis 'dta': 100%, really&#10;help: did you mean "
          "'data'?</error>\n"
          "    </testcase>\n"
          "    <testcase classname=\"shardc\" name=\"good.yaml\">\n"
          "      <failure type=\"P0103\" message=\"1 collective, &lt;0&gt; allowed\">"
          "good.yaml:2:10: error[P0103]: 1 collective, &lt;0&gt; allowed&#10;note: all_reduce of z&#10;help: raise "
          "it</failure>\n"
          "      <system-out>1 collective; peak 2.05 MiB</system-out>\n"
          "    </testcase>\n"
          "  </testsuite>\n"
          "</testsuites>\n");
}

TEST_CASE("markdown has a table of verdicts and one of diagnostics") {
    CHECK(Fixture().render("markdown") ==
          "| checked | verdict | figures |\n"
          "|---|---|---|\n"
          "| a b.yaml | error |  |\n"
          "| good.yaml | findings | 1 collective; peak 2.05 MiB |\n"
          "\n"
          "| severity | code | layout | place | message | what to do |\n"
          "|---|---|---|---|---|---|\n"
          "| error | E0701 | a b.yaml | a b.yaml:3:13 | there is no mesh axis 'dta': 100%, really | did you mean "
          "'data'? |\n"
          "| finding | P0103 | good.yaml | good.yaml:2:10 | 1 collective, \\<0> allowed | raise it |\n"
          "\n");
}

TEST_CASE("json is one object with a version, the verdict and all places") {
    nlohmann::json json = nlohmann::json::parse(Fixture().render("json"));
    CHECK(json["format_version"] == 1);
    CHECK(json["verdict"] == "error");
    CHECK(json["subjects"][1]["verdict"] == "findings");
    CHECK(json["diagnostics"][0]["source"] == nlohmann::json{{"file", "a b.yaml"}, {"line", 3}, {"column", 13}});
    CHECK(json["diagnostics"][0]["labels"][1]["text"] == "the mesh");
    CHECK(json["diagnostics"][1]["finding"] == true);
    CHECK(json["diagnostics"][1]["notes"][0] == "all_reduce of z");
}

TEST_CASE("sarif names its rules, places results, and keeps fingerprints when lines move") {
    Fixture fixture;
    nlohmann::json json = nlohmann::json::parse(fixture.render("sarif"));
    CHECK(json["version"] == "2.1.0");
    const nlohmann::json& run = json["runs"][0];
    CHECK(run["tool"]["driver"]["rules"].size() == all_codes().size());
    const nlohmann::json& result = run["results"][0];
    CHECK(result["ruleId"] == "E0701");
    CHECK(run["tool"]["driver"]["rules"][result["ruleIndex"].get<size_t>()]["id"] == "E0701");
    CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.yaml");
    CHECK(result["locations"][0]["physicalLocation"]["region"] ==
          nlohmann::json{{"startLine", 3}, {"startColumn", 13}, {"endColumn", 16}});
    CHECK(result["relatedLocations"].size() == 1);
    CHECK(run["results"][1]["level"] == "error");
    CHECK(run["results"][1].find("relatedLocations") == run["results"][1].end());

    Sources moved;
    moved.add("a b.yaml", "# a comment\nmesh: {data: 2}\nrules:\n    - {batch: dta}\n");
    Diagnostics diagnostics;
    diagnostics.error("E0701", {0, 4, 15, 3}, "there is no mesh axis 'dta': 100%, really");
    Placed before{&fixture.subjects[0].diagnostics[0], &fixture.bad}, after{&diagnostics.all()[0], &moved};
    CHECK(fingerprint(before, {}) == fingerprint(after, {}));
    CHECK(fingerprint(before, {}).size() == 40);
}

TEST_CASE("a fingerprint of a finding is that of other figures, and not that of another layout or figure") {
    Sources sources;
    sources.add("policy.yaml", "max_memory_per_device: 4 MiB\n");
    const Subject first{"first.yaml", "", &sources, {}}, second{"second.yaml", "", &sources, {}};
    const auto of = [&](std::string_view code, const std::string& message, const Subject& subject) {
        Diagnostics diagnostics;
        diagnostics.finding(code, {0, 1, 24, 5}, message);
        return fingerprint({&diagnostics.all()[0], &sources, {&subject}}, {});
    };
    const std::string peak = of("P0107", "peak memory rose from 512 B to 4.08 MiB (4,276,224 B), by 835100.0%", first);
    CHECK(peak == of("P0107", "peak memory rose from 1.00 KiB (1,024 B) to 1.01 KiB (1,034 B), by 1.0%", first));
    CHECK(peak != of("P0107", "peak memory rose from 512 B to 4.08 MiB (4,276,224 B), by 835100.0%", second));
    CHECK(peak != of("P0107", "the time of a step rose from 8.45 us to 16.9 us, by 100.0%", first));
    CHECK(of("P0106", "a step takes 1.00 s on h100, the limit is 1.00 s", first) ==
          of("P0106", "a step takes 12.1 ms on h100, the limit is 2.00 s", first));
    CHECK(of("E0313", "dim 0 of 'x' has size 8", first) != of("E0313", "dim 1 of 'x' has size 8", first));
}

TEST_CASE("what a finding notes with its place is a related location of sarif, and the first a notice of github") {
    Sources sources;
    sources.add("policy.yaml", "max_collectives: 0\n");
    sources.add("a (b).yaml", "model: m\n  - y: {dot: [x, w]}\n");
    Diagnostics diagnostics;
    diagnostics.finding("P0103", {0, 1, 18, 1}, "2 collectives, 0 allowed")
        .note("all_gather of x: 16 B, why (a (b).yaml:2)")
        .note("all_reduce of y: 8 B (other.yaml:2)")
        .note("and 3 more (of them)");
    const Subject subject{"layout.yaml", "", &sources, diagnostics.all()};
    const CheckPayload payload{{&subject, 1}};
    const nlohmann::json json = nlohmann::json::parse(find_format("sarif")->check(payload, Paint{}));
    const nlohmann::json related = json["runs"][0]["results"][0]["relatedLocations"];
    REQUIRE(related.size() == 1);
    CHECK(related[0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20(b).yaml");
    CHECK(related[0]["physicalLocation"]["region"] ==
          nlohmann::json{{"startLine", 2}, {"startColumn", 3}, {"endColumn", 21}});
    CHECK(related[0]["message"]["text"] == "all_gather of x: 16 B, why");
    const std::string github = find_format("github")->check(payload, Paint{});
    CHECK(github.find("\n::notice file=a (b).yaml,line=2,col=3,endColumn=21,title=P0103 policy%3A number of "
                      "collectives::all_gather of x: 16 B, why\n") != std::string::npos);
    CHECK(github.find("::notice", github.find("::notice") + 1) == std::string::npos);
}

TEST_CASE("a mistake in a file that subjects share is shown once, except by junit") {
    Sources first, second;
    first.add("model.yaml", "model: x\n");
    second.add("model.yaml", "model: x\n");
    Diagnostics diagnostics;
    diagnostics.error("E0701", {0, 1, 1, 5}, "wrong");
    diagnostics.error("E0701", {0, 1, 1, 5}, "wrong");
    std::vector<Subject> subjects = {{"a", "", &first, diagnostics.all()}, {"b", "", &second, diagnostics.all()}};
    REQUIRE(flatten(subjects).size() == 2); // both of the first subject
    for (const Placed& placed : flatten(subjects)) {
        CHECK(placed.names() == std::vector<std::string>{"a", "b"});
        CHECK(names_text(placed, 2) == "all 2 layouts");
        CHECK(names_text(placed, 3) == "a, b");
    }
    CHECK(exit_code(subjects) == 2);
    CHECK(find_format("junit")->check({subjects}, Paint{}).find("errors=\"2\"") != std::string::npos);
}

TEST_CASE("a test case of junit has one failure, which holds all that is wrong") {
    Sources sources;
    sources.add("a.yaml", "mesh: {data: 2}\n");
    Diagnostics diagnostics;
    diagnostics.finding("P0103", {0, 1, 1, 4}, "too many");
    diagnostics.warning("W0302", {0, 1, 1, 4}, "unused");
    diagnostics.error("E0301", {0, 1, 1, 4}, "too small");
    const Subject subject{"a.yaml", "", &sources, diagnostics.all()};
    const std::string text = find_format("junit")->check({std::span<const Subject>(&subject, 1)}, Paint{});
    CHECK(text.find("<error type=\"E0301\" message=\"too small (and 1 more)\">a.yaml:1:1: error[P0103]: too many") !=
          std::string::npos);
    CHECK(text.find("<failure") == std::string::npos);
    CHECK(text.find("<error", text.find("<error") + 1) == std::string::npos);
    CHECK(text.find("<system-out>a.yaml:1:1: warning[W0302]: unused") != std::string::npos);
}

TEST_CASE("a terminal's width is where texts of findings are broken, at spaces") {
    Fixture fixture;
    Diagnostics diagnostics;
    diagnostics.finding("P0103", {0, 1, 1, 4}, "a message that is somewhat longer than the terminal is wide")
        .note("a note that is somewhat longer than the terminal is wide")
        .help("do it");
    const Subject subject{"good.yaml", "1 collective, 24.0 KiB sent per device; peak 2.05 MiB", &fixture.good,
                          diagnostics.all()};
    const std::span<const Subject> one(&subject, 1);
    const std::string wide = find_format("text")->check({one}, Paint{false, 50});
    CHECK(wide == find_format("text")->check({one}, Paint{}));
    std::string text = find_format("text")->check({one}, Paint{true, 50});
    for (size_t at; (at = text.find('\x1b')) != std::string::npos;) text.erase(at, text.find('m', at) - at + 1);
    CHECK(text == "error[P0103]: a message that is somewhat longer\n"
                  "              than the terminal is wide\n"
                  " --> good.yaml:1:1\n"
                  "  |\n"
                  "1 | mesh: {data: 2}\n"
                  "  | ^^^^\n"
                  "  = note: a note that is somewhat longer than the\n"
                  "          terminal is wide\n"
                  "  = help: do it\n"
                  "\n"
                  "finding  good.yaml  1 collective, 24.0 KiB sent\n"
                  "                    per device; peak 2.05 MiB\n");
}

TEST_CASE("json lists what was checked, and of what has no name the diagnostics alone") {
    Fixture fixture;
    fixture.subjects[0].name.clear();
    const nlohmann::json payload = nlohmann::json::parse(fixture.render("json"));
    REQUIRE(payload["subjects"].size() == 1);
    CHECK(payload["subjects"][0]["name"] == "good.yaml");
    CHECK(payload["diagnostics"].size() == 2);
}
