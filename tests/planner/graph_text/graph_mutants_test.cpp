// Texts of graphs with lines, words and numbers changed: each is refused in words or read, and what is read is printed
// and read again. SHARDC_MUTANTS=20000 looks further than every day. The text that is read is kept in a file beside the
// other files of tests, so that a crash can be told.
#include "planner/graph_text/graph_parse.h"
#include "planner/pipeline/graph_after.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "test_paths.h"

using namespace shard;

namespace {

std::string file_text(const std::string& path) {
    std::ifstream stream(SHARDC_SOURCE_DIR "/examples/" + path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

// Global and local graphs with regions, loops, collectives and an optimizer.
std::vector<std::string> seeds() {
    struct Case {
        const char *model, *layout, *mode;
    };
    constexpr Case cases[] = {
        {"manual/ring_matmul/model.yaml", "manual/ring_matmul/layout.yaml", "forward"},
        {"manual/ulysses/model.yaml", "manual/ulysses/layout.yaml", "forward"},
        {"linen_guide/scanned.yaml", "linen_guide/scanned_layout.yaml", "train"},
        {"zero/model.yaml", "zero/zero3.yaml", "train"},
    };
    std::vector<std::string> texts;
    for (const Case& one : cases)
        for (const char* pass : {"grad", "fsdp", "partition", "land"}) {
            Sources sources;
            PlanRequest request;
            request.model_file = sources.add(one.model, file_text(one.model));
            request.layout_file = sources.add(one.layout, file_text(one.layout));
            request.mode = one.mode;
            Diagnostics diagnostics;
            const std::optional<std::string> text = graph_after(sources, request, pass, true, diagnostics);
            REQUIRE_MESSAGE(text.has_value(), one.model, " ", one.layout);
            const size_t local = text->find("local graph on"); // below a line about the pass
            texts.push_back(text->substr(local == std::string::npos ? text->find("graph on") : local));
        }
    return texts;
}

class Mutator {
public:
    explicit Mutator(std::uint32_t seed) : random_(seed) {}
    size_t below(size_t limit) { return random_() % limit; }

    // Cut into lines, and a line into words, numbers and what is between them.
    std::string operator()(const std::string& text) {
        std::vector<std::string> lines;
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('\n', at), text.size());
            lines.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        for (size_t change = 1 + below(3); change > 0 && !lines.empty(); --change) {
            const size_t n = below(lines.size());
            switch (below(8)) {
            case 0:
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(n));
                break;
            case 1:
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())), lines[n]);
                break;
            case 2:
                std::swap(lines[n], lines[below(lines.size())]);
                break;
            default:
                change_word(lines[n], lines[below(lines.size())]);
            }
        }
        std::string changed;
        for (const std::string& line : lines) changed += line + '\n';
        return changed;
    }

private:
    static bool is_of_word(char c) { return std::string_view(" ,:()[]{}|\"").find(c) == std::string_view::npos; }

    static std::vector<std::string> parts_of(const std::string& line) {
        std::vector<std::string> parts;
        for (char c : line) {
            if (parts.empty() || !is_of_word(c) || !is_of_word(parts.back().back())) parts.emplace_back();
            parts.back() += c;
        }
        return parts;
    }

    // A word becomes another one, of this text or an extreme.
    void change_word(std::string& line, const std::string& other) {
        std::vector<std::string> parts = parts_of(line);
        const std::vector<std::string> others = parts_of(other);
        if (parts.empty() || others.empty()) return;
        constexpr const char* extremes[] = {"0",
                                            "-1",
                                            "1",
                                            "2",
                                            "3",
                                            "9223372036854775807",
                                            "65536",
                                            "1e400",
                                            "",
                                            "[]",
                                            "4611686018427387904",
                                            "-2147483649",
                                            "true",
                                            "null",
                                            "nan",
                                            "~",
                                            "\xff",
                                            "999999"};
        std::string& part = parts[below(parts.size())];
        part = below(2) == 0 ? others[below(others.size())] : extremes[below(std::size(extremes))];
        line.clear();
        for (const std::string& each : parts) line += each;
    }

    std::mt19937 random_;
};

} // namespace

TEST_CASE("a graph's text in which anything is changed is refused in words, or read") {
    const char* const wanted = std::getenv("SHARDC_MUTANTS");
    const size_t count = wanted == nullptr ? 1500 : static_cast<size_t>(std::atoll(wanted));
    const std::vector<std::string> texts = seeds();
    size_t read = 0;
    for (size_t n = 0; n < count; ++n) {
        Mutator mutate(static_cast<std::uint32_t>(n));
        const std::string changed = mutate(texts[n % texts.size()]);
        std::ofstream(SHARDC_TEST_DIR "/graph_mutant", std::ios::binary) << changed;
        Sources sources;
        Diagnostics diagnostics;
        const int file = sources.add("graph", changed);
        const std::optional<GraphState> state = parse_graph(sources, file, diagnostics);
        REQUIRE(state.has_value() == !diagnostics.has_error());
        if (!state) continue;
        ++read;
        const std::string printed = graph_text(*state, {&sources, true});
        CAPTURE(printed);
        const std::optional<GraphState> again = parse_graph(sources, sources.add("again", printed), diagnostics);
        REQUIRE(again.has_value());
        CHECK(graph_text(*again, {&sources, true}) == printed);
    }
    CHECK(read > count / 20);
    CHECK(read < count);
}
