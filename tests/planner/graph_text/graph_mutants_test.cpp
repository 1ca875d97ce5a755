// Texts of graphs with lines, words and numbers changed: each is refused in words or read, and what is read is printed
// and read again. SHARDC_MUTANTS=20000 looks further than every day. The text that is read is kept in a file beside the
// other files of tests, so that a crash can be told.
#include "planner/graph_text/graph_parse.h"
#include "planner/pipeline/graph_after.h"
#include "tests/support/text_mutator.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

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

} // namespace

TEST_CASE("a graph's text in which anything is changed is refused in words, or read") {
    const char* const wanted = std::getenv("SHARDC_MUTANTS");
    const size_t count = wanted == nullptr ? 1500 : static_cast<size_t>(std::atoll(wanted));
    const std::vector<std::string> texts = seeds();
    size_t read = 0;
    for (size_t n = 0; n < count; ++n) {
        TextMutator mutate(static_cast<std::uint32_t>(n), " ,:()[]{}|\"");
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
