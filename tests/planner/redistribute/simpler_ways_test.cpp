// What a report says of collectives that a body asks for without need.
#include "tests/support/prove.h"
#include "tests/support/region.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>
#include <regex>
#include <sstream>

namespace shard {

namespace {

// The remedies of all collectives of a region over x (4, 4), separated by bars.
std::string remedies(const std::string& in, const std::string& out, const std::string& body) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", region_model(in, out, body));
    request.layout_file = sources.add("layout.yaml", "mesh: {i: 2, j: 2}\n");
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    std::string text;
    for (const CollectiveReport& collective : compilation.plan->report.collectives) {
        CHECK(collective.cause.find("written by hand") != std::string::npos);
        text += (text.empty() ? "" : " | ") + collective.remedy;
    }
    return text;
}

const std::string next = "\n          ";

} // namespace

TEST_CASE("a collective of what is the same on all devices is not needed") {
    CHECK(remedies("{x: ~}", "{y: ~}", "- y: {psum: x, over: i}") ==
          "x is the same on all devices along i: {mul: [x, 2]} needs no collective");
    CHECK(remedies("{x: ~}", "{y: ~}", "- y: {pmax: x, over: i}") ==
          "x is the same on all devices along i: pmax of it is x");
    CHECK(remedies("{x: ~}", "{y: [i, ~]}", "- y: {ppermute: x, over: i, shift: 1}") ==
          "x is the same on all devices along i: passing it on changes nothing");
}

TEST_CASE("two reductions in a row are one") {
    CHECK(remedies("{x: [i, j]}", "{y: ~}", "- a: {psum: x, over: i}" + next + "- y: {psum: a, over: j}") ==
          "{psum: x, over: [i, j]} does what lines 10 to 11 do, and sends 24 B in place of 32 B | ");
}

TEST_CASE("what is gathered or summed to be cut again has a cheaper form") {
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {psum: x, over: i}" + next + "- y: {own_block: a, over: i, dim: 0}") ==
          "{psum_scatter: x, over: i, dim: 0, tiled: true} does what lines 10 to 11 do, and sends 16 B in place of 32 "
          "B");
    CHECK(remedies("{x: [i, ~]}", "{y: [~, i]}",
                   "- a: {all_gather: x, over: i, dim: 0, tiled: true}" + next +
                       "- y: {own_block: a, over: i, dim: 1}") ==
          "{all_to_all: x, over: i, split: 1, concat: 0, tiled: true} does what lines 10 to 11 do, and sends 16 B in "
          "place of 32 B");
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {all_gather: x, over: i, dim: 0, tiled: true}" + next +
                       "- y: {own_block: a, over: i, dim: 0}") ==
          "what lines 10 to 11 do comes to nothing: it is not needed");
}

TEST_CASE("longer runs are searched for cheaper ones") {
    CHECK(remedies("{x: [i, j]}", "{y: [i, j]}",
                   "- a: {all_gather: x, over: j, dim: 1, tiled: true}" + next +
                       "- b: {all_gather: a, over: i, dim: 0, tiled: true}" + next +
                       "- c: {own_block: b, over: j, dim: 1}" + next + "- y: {own_block: c, over: i, dim: 0}") ==
          "what lines 10 to 13 do comes to nothing: it is not needed | ");
    CHECK(remedies("{x: [i, j]}", "{y: [~, j]}",
                   "- a: {psum: x, over: j}" + next + "- b: {all_gather: a, over: i, dim: 0, tiled: true}" + next +
                       "- y: {own_block: b, over: j, dim: 1}") ==
          "{psum_scatter: x, over: j, dim: 1, tiled: true}, then {all_gather: that, over: i, dim: 0, tiled: true} does "
          "what lines 10 to 12 do, and sends 16 B in place of 32 B | ");
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {all_to_all: x, over: i, split: 1, concat: 0, tiled: true}" + next +
                       "- y: {all_to_all: a, over: i, split: 0, concat: 1, tiled: true}") ==
          "what lines 10 to 11 do comes to nothing: it is not needed | ");
}

TEST_CASE("a run that somebody else reads, or whose parts differ, is as it is") {
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {psum: x, over: i}" + next + "- b: {own_block: a, over: i, dim: 0}" + next +
                       "- s: {reduce_sum: a, dims: [0, 1]}" + next + "- y: {add: [b, s]}")
              .empty());
    // Each device's own rows of what is not the same on all.
    CHECK(remedies("{x: [i, ~]}", "{y: [i, ~]}",
                   "- a: {own_block: x, over: i, dim: 0}" + next + "- y: {all_gather: a, over: i, dim: 0, tiled: true}")
              .empty());
    CHECK(remedies("{x: ~}", "{y: [i, ~]}",
                   "- a: {own_block: x, over: i, dim: 0}" + next +
                       "- y: {all_gather: a, over: i, dim: 0, tiled: true}") ==
          "what lines 10 to 11 do comes to nothing: it is not needed");
}

TEST_CASE("a collective that is needed has no remedy") {
    CHECK(remedies("{x: [i, ~]}", "{y: ~}", "- y: {psum: x, over: i}").empty());
    CHECK(remedies("{x: [i, ~]}", "{y: ~}", "- y: {all_gather: x, over: i, dim: 0, tiled: true}").empty());
}

namespace {

// A body of ops in a row on x (4, 4) that enters by `in`: v1, v2, ..., the last is y.
std::vector<std::string> random_run(std::mt19937& random, std::vector<i64> shape) {
    const auto any = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    std::vector<std::string> lines;
    const int length = 2 + any(3);
    while (static_cast<int>(lines.size()) < length) {
        const std::string operand = lines.empty() ? "x" : fmt::format("v{}", lines.size());
        const std::string axis = any(2) == 0 ? "i" : "j";
        const size_t dim = static_cast<size_t>(any(2));
        const bool halves = shape[dim] % 2 == 0;
        std::string op;
        switch (any(5)) {
        case 0:
            op = fmt::format("psum: {}, over: {}", operand, axis);
            break;
        case 1:
            if (shape[dim] > 8) continue;
            op = fmt::format("all_gather: {}, over: {}, dim: {}, tiled: true", operand, axis, dim);
            shape[dim] *= 2;
            break;
        case 2:
            if (!halves) continue;
            op = fmt::format("psum_scatter: {}, over: {}, dim: {}, tiled: true", operand, axis, dim);
            shape[dim] /= 2;
            break;
        case 3:
            if (!halves) continue;
            op = fmt::format("own_block: {}, over: {}, dim: {}", operand, axis, dim);
            shape[dim] /= 2;
            break;
        default:
            if (!halves) continue;
            op = fmt::format("all_to_all: {}, over: {}, split: {}, concat: {}, tiled: true", operand, axis, dim,
                             1 - dim);
            shape[dim] /= 2;
            shape[1 - dim] *= 2;
        }
        lines.push_back(fmt::format("- v{}: {{{}}}", lines.size() + 1, op));
    }
    return lines;
}

std::string body_of(const std::vector<std::string>& lines, const std::string& last) {
    return fmt::format("{}{}- y: {{add: [{}, 0]}}", fmt::join(lines, next), next, last);
}

// The lines with what the remedy says in place of those that it names.
std::vector<std::string> follow(std::vector<std::string> lines, const std::string& remedy) {
    constexpr int first_line = 10; // of the body in region_model's text
    std::smatch found;
    REQUIRE(std::regex_search(remedy, found, std::regex("lines? (\\d+)(?: to (\\d+))? do")));
    const size_t from = static_cast<size_t>(std::stoi(found[1]) - first_line);
    const size_t to = found[2].matched ? static_cast<size_t>(std::stoi(found[2]) - first_line) : from;
    std::vector<std::string> made;
    const std::regex op("\\{([a-z_]+: )([a-z0-9]+)(,[^{}]*)\\}");
    std::string operand = from == 0 ? "x" : fmt::format("v{}", from);
    for (std::sregex_iterator it(remedy.begin(), remedy.end(), op); it != std::sregex_iterator(); ++it) {
        CHECK((*it)[2] == (made.empty() ? operand : "that"));
        const std::string result = fmt::format("t{}", made.size());
        made.push_back(fmt::format("- {}: {{{}{}{}}}", result, (*it)[1].str(),
                                   made.empty() ? operand : fmt::format("t{}", made.size() - 1), (*it)[3].str()));
    }
    const std::string end = made.empty() ? operand : fmt::format("t{}", made.size() - 1);
    made.push_back(fmt::format("- v{}: {{add: [{}, 0]}}", to + 1, end));
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from), lines.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(from), made.begin(), made.end());
    return lines;
}

i64 bytes_sent(const std::string& in, const std::string& body) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", region_model(in, "{y: [i, j]}", body));
    request.layout_file = sources.add("layout.yaml", "mesh: {i: 2, j: 2}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    i64 bytes = 0;
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        bytes += collective.wire_bytes_total;
    return bytes;
}

} // namespace

// Random runs: who follows a remedy has the same result, and sends less.
TEST_CASE("what a remedy says of a run does the same for less") {
    std::mt19937 random(20);
    int followed = 0;
    for (int round = 0; round < 150; ++round) {
        const bool rows = random() % 2 == 0, columns = random() % 2 == 0;
        const std::string in = fmt::format("{{x: [{}, {}]}}", rows ? "i" : "~", columns ? "j" : "~");
        const std::vector<std::string> lines = random_run(random, {rows ? 2 : 4, columns ? 2 : 4});
        const std::string last = fmt::format("v{}", lines.size());
        const std::string body = body_of(lines, last);
        CAPTURE(in);
        CAPTURE(body);
        std::istringstream parts(remedies(in, "{y: [i, j]}", body));
        std::string remedy;
        for (std::string part; std::getline(parts, part, '|');)
            if (remedy.empty() && part.find("does what line") != std::string::npos) remedy = part;
        if (remedy.empty()) continue;
        CAPTURE(remedy);
        const std::string better = body_of(follow(lines, remedy), last);
        CAPTURE(better);
        CHECK(region_result(in, "{y: [i, j]}", better, "{i: 2, j: 2}") ==
              region_result(in, "{y: [i, j]}", body, "{i: 2, j: 2}"));
        CHECK(bytes_sent(in, better) < bytes_sent(in, body));
        ++followed;
    }
    CHECK(followed >= 20);
}

TEST_CASE("what is gathered to enter a region says so") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", R"(model: enters
inputs: {x: {shape: [8, 8], mesh: [i, ~]}}
graph:
  - y: {manual: {in: {x: ~}, out: {y: ~}, body: [{y: {tanh: x}}]}}
outputs: [y]
)");
    request.layout_file = sources.add("layout.yaml", "mesh: {i: 2}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    REQUIRE(compilation.plan->report.collectives.size() == 1);
    CHECK(compilation.plan->report.collectives[0].cause ==
          "the manual region takes it whole, but it is split over i along dim 0");
    CHECK(compilation.plan->report.collectives[0].remedy.find("`in`") != std::string::npos);
}

} // namespace shard
