// A text has words of its own; users may give these names to anything.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

using namespace shard;

namespace {

using Problems = std::vector<std::string>;

const char* const words[] = {"with",  "as",     "of",    "end",     "loop",    "carry", "output",       "update",
                             "loss",  "region", "sum",   "stack",   "yield",   "copy",  "block",        "fused",
                             "over",  "local",  "graph", "input",   "param",   "state", "microbatches", "because",
                             "remat", "trips",  "f32",   "varying", "pattern", "on",    "gradient",     "reverse"};

// The model, with `WORD` in its place.
std::string called(const std::string& model, const std::string& word) {
    return std::regex_replace(model, std::regex("WORD"), word);
}

} // namespace

TEST_CASE("a graph's text is read back whatever its values are called") {
    const std::string model =
        "model: m\naxes: {b: 8, e: 4, f: 4}\ninputs: {WORD: {axes: [b, e]}}\nparams: {w: {axes: [e, f]}}\n"
        "graph:\n- WORD: {mul: [WORD, 0.5]}\n- WORD: {tanh: WORD}\n- WORD: {dot: [WORD, w]}\n"
        "- h: {add: [WORD, WORD]}\n- WORD: {constrain: h, axes: [b, f]}\noutputs: [WORD, h]\n";
    for (const std::string word : words) {
        CAPTURE(word);
        CHECK(prove(called(model, word), "mesh: {data: 2}\nrules: [{b: data}]\n") == Problems{});
    }
}

TEST_CASE("a graph's text is read back whatever its blocks, axes and regions are called") {
    const std::string model =
        "model: m\naxes: {WORD: 8, e: 4}\ninputs: {x: {axes: [WORD, e]}}\nmodules:\n"
        "  WORD:\n    inputs: [h]\n    params: {WORD: {shape: [4, 4]}}\n"
        "    graph: [{h: {dot: [h, WORD]}}, {h: {tanh: h}}]\n    outputs: [h]\n"
        "graph:\n- h: {repeat: WORD, times: 3, in: x, scan: true}\n"
        "- WORD: {manual: {in: {x: {of: h}}, out: {y: ~}, body: [{y: {mul: [x, 2]}}]}}\noutputs: [WORD]\n";
    for (const std::string word : words) {
        CAPTURE(word);
        CHECK(prove(called(model, word), called("mesh: {WORD: 2}\nrules: [{WORD: WORD}]\n", word)) == Problems{});
    }
}
