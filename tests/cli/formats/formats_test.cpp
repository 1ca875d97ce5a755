// Every format renders the same two subjects: one with an error in a layout, one clean with figures and a policy
// finding.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects.h"
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
    std::string render(std::string_view format) const { return find_format(format)->check(subjects, false); }
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
                                      "  = help: did you mean 'data'?\n"
                                      "\n"
                                      "error[P0103]: 1 collective, <0> allowed\n"
                                      " --> good.yaml:2:10\n"
                                      "  |\n"
                                      "2 | policy: {max_collectives: 0}\n"
                                      "  |          ^^^^^^^^^^^^^^^\n"
                                      "  = note: all_reduce of z\n"
                                      "  = help: raise it\n"
                                      "\n"
                                      "error    a b.yaml\n"
                                      "finding  good.yaml  1 collective; peak 2.05 MiB\n");
}

TEST_CASE("github escapes what its workflow commands would read") {
    CHECK(Fixture().render("github") ==
          "::error file=a b.yaml,line=3,col=13,endColumn=16,title=E0701 bad command line::"
          "there is no mesh axis 'dta': 100%25, really%0Adid you mean 'data'?\n"
          "::error file=good.yaml,line=2,col=10,endColumn=25,title=P0103 policy%3A number of collectives::"
          "1 collective, <0> allowed%0Aall_reduce of z%0Araise it\n");
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
          "| severity | code | place | message | what to do |\n"
          "|---|---|---|---|---|\n"
          "| error | E0701 | a b.yaml:3:13 | there is no mesh axis 'dta': 100%, really | did you mean 'data'? |\n"
          "| finding | P0103 | good.yaml:2:10 | 1 collective, \\<0> allowed | raise it |\n"
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

    Sources moved;
    moved.add("a b.yaml", "# a comment\nmesh: {data: 2}\nrules:\n    - {batch: dta}\n");
    Diagnostics diagnostics;
    diagnostics.error("E0701", {0, 4, 15, 3}, "there is no mesh axis 'dta': 100%, really");
    Placed before{&fixture.subjects[0].diagnostics[0], &fixture.bad}, after{&diagnostics.all()[0], &moved};
    CHECK(fingerprint(before) == fingerprint(after));
    CHECK(fingerprint(before).size() == 40);
}

TEST_CASE("a mistake in a file that subjects share is shown once, except by junit") {
    Sources first, second;
    first.add("model.yaml", "model: x\n");
    second.add("model.yaml", "model: x\n");
    Diagnostics diagnostics;
    diagnostics.error("E0701", {0, 1, 1, 5}, "wrong");
    diagnostics.error("E0701", {0, 1, 1, 5}, "wrong");
    std::vector<Subject> subjects = {{"a", "", &first, diagnostics.all()}, {"b", "", &second, diagnostics.all()}};
    CHECK(flatten(subjects).size() == 2); // both of the first subject
    CHECK(exit_code(subjects) == 2);
    CHECK(find_format("junit")->check(subjects, false).find("errors=\"2\"") != std::string::npos);
}
