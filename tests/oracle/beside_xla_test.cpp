// Plans beside what XLA makes of the same programs: the same values, and no more bytes than recorded. In
// docs/beside_xla.md stand the means and every case that sends more than XLA, with its reason. SHARDC_REWRITE=1 in the
// environment writes what became better; what became worse is written by nobody.
#include "tests/support/beside_xla.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fnmatch.h>
#include <fstream>
#include <iterator>
#include <sstream>

#include "test_paths.h"

using namespace shard;

namespace {

const std::string root = SHARDC_SOURCE_DIR;
const std::string page = root + "/docs/beside_xla.md", bars = root + "/tests/oracle/bytes.txt";

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

bool is_rewriting() { return std::getenv("SHARDC_REWRITE") != nullptr; }

std::map<std::string, i64> recorded_bytes() {
    std::istringstream lines(read_text(bars));
    std::map<std::string, i64> found;
    i64 bytes = 0;
    for (std::string name; lines >> bytes && std::getline(lines >> std::ws, name);) found[name] = bytes;
    return found;
}

// "pattern: reason", one a line.
std::vector<std::pair<std::string, std::string>> reasons(const std::string& file = "reasons.txt") {
    std::istringstream lines(read_text(root + "/tests/oracle/" + file));
    std::vector<std::pair<std::string, std::string>> found;
    for (std::string line; std::getline(lines, line);)
        if (const size_t colon = line.find(": "); colon != std::string::npos && line[0] != '#')
            found.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    return found;
}

// The page with a table between its marks.
std::string with_table(const std::string& text, const std::string& mark, const std::string& table) {
    const std::string begin = fmt::format("<!-- {} -->\n", mark), end = fmt::format("<!-- end of {} -->", mark);
    const size_t from = text.find(begin), to = text.find(end);
    REQUIRE(from != std::string::npos);
    REQUIRE(to != std::string::npos);
    return text.substr(0, from + begin.size()) + table + text.substr(to);
}

void compare_values(bool (*is_meant)(const OracleCase&)) {
    for (const OracleCase& of : oracle_cases()) {
        if (!is_meant(of)) continue;
        const std::string differences = differences_from_xla(of, plan_of(of));
        CHECK_MESSAGE(differences.empty(), of.name, "\n", differences);
    }
}

} // namespace

TEST_CASE("plans send no more than was reached beside XLA, and the page says how much") {
    const std::map<std::string, i64> recorded = recorded_bytes();
    const std::vector<OracleCase> cases = oracle_cases();
    CHECK(cases.size() >= 120);
    std::vector<BesideXla> rows;
    std::string reached;
    for (const OracleCase& of : cases) {
        const Plan plan = plan_of(of);
        const std::string changed = changed_since(of, plan);
        CHECK_MESSAGE(changed.empty(), of.name, ": XLA was asked before this changed: ", changed,
                      "; tests/oracle/xla_answers.py asks it again");
        const i64 bytes = wire_bytes(plan);
        rows.push_back({&of, bytes, plan.report.flops_per_device, plan.peak_bytes});
        const auto bar = recorded.find(of.name);
        if (bar != recorded.end())
            CHECK_MESSAGE(bytes <= bar->second, of.name, ": sends ", bytes, " bytes, and sent ", bar->second,
                          " before; if that is wanted, say so in tests/oracle/bytes.txt");
        reached += fmt::format("{:>10} {}\n", bar == recorded.end() ? bytes : std::min(bytes, bar->second), of.name);
    }
    const std::vector<std::pair<std::string, std::string>> why = reasons();
    for (const auto& [pattern, reason] : why)
        CHECK_MESSAGE(std::any_of(rows.begin(), rows.end(),
                                  [&, &pattern = pattern](const BesideXla& row) {
                                      return is_above(row) && fnmatch(pattern.c_str(), row.of->name.c_str(), 0) == 0;
                                  }),
                      "tests/oracle/reasons.txt has a reason for '", pattern, "', which sends no more than XLA");
    const std::string above = above_table(rows, why);
    CHECK_MESSAGE(above.find("no reason is given") == std::string::npos,
                  "tests/oracle/reasons.txt lacks why a case sends more than XLA:\n", above);
    const std::string text = read_text(page);
    const std::string written = with_table(with_table(text, "groups", groups_table(rows)), "above", above);
    if (is_rewriting()) {
        if (written != text) std::ofstream(page, std::ios::binary) << written;
        if (reached != read_text(bars)) std::ofstream(bars, std::ios::binary) << reached;
        return;
    }
    CHECK_MESSAGE(written == text, "docs/beside_xla.md is not current: SHARDC_REWRITE=1 writes it");
    CHECK_MESSAGE(reached == read_text(bars), "tests/oracle/bytes.txt is not current: SHARDC_REWRITE=1 writes it");
}

TEST_CASE("plans as XLA would make them send what XLA:TPU sends, by kind, in most cases, and the page says why not") {
    std::vector<AsXla> rows;
    for (const OracleCase& of : oracle_cases()) rows.push_back({of, sent_by_kind(plan_as_xla(of))});
    const i64 alike = std::count_if(rows.begin(), rows.end(), [](const AsXla& row) { return is_alike(row); });
    CHECK(alike >= 0.85 * static_cast<double>(rows.size()));
    const std::vector<std::pair<std::string, std::string>> why = reasons("as_xla_reasons.txt");
    for (const auto& [pattern, reason] : why)
        CHECK_MESSAGE(std::any_of(rows.begin(), rows.end(),
                                  [&, &pattern = pattern](const AsXla& row) {
                                      return !is_alike(row) && fnmatch(pattern.c_str(), row.of.name.c_str(), 0) == 0;
                                  }),
                      "tests/oracle/as_xla_reasons.txt has a reason for '", pattern, "', which is as XLA's");
    const std::string unlike = unlike_table(rows, why);
    CHECK_MESSAGE(unlike.find("no reason is given") == std::string::npos,
                  "tests/oracle/as_xla_reasons.txt lacks why a case is not as XLA's:\n", unlike);
    const std::string text = read_text(page);
    const std::string written = with_table(with_table(text, "alike", alike_table(rows)), "unlike", unlike);
    if (is_rewriting() && written != text) std::ofstream(page, std::ios::binary) << written;
    CHECK_MESSAGE((is_rewriting() || written == text), "docs/beside_xla.md is not current: SHARDC_REWRITE=1 writes it");
}

TEST_CASE("single ops compute what XLA computes") {
    compare_values([](const OracleCase& of) { return of.group == "ops"; });
}

TEST_CASE("forward passes compute what XLA computes") {
    compare_values([](const OracleCase& of) { return of.group != "ops" && of.mode == "forward"; });
}

TEST_CASE("train steps compute what XLA computes") {
    compare_values([](const OracleCase& of) { return of.mode == "train"; });
}
