// Lines of the traced program: the user's own, or those of a package that has models.
#include "importer/mlir/mlir_places.h"
#include "importer/mlir/mlir_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// Of ops of places "model.py:3 < /u/train.py:7", callee and caller, the lines of each, in /home/u.
std::string lines_of(const std::vector<std::string>& places) {
    std::string text = "func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {\n", locations;
    for (size_t i = 0; i < places.size(); ++i) {
        text += fmt::format("  %v{} = stablehlo.sine %v{} : tensor<4xf32> loc(#loc{})\n", i + 1, i, i);
        std::string place;
        for (size_t begin = 0; begin < places[i].size();) {
            const size_t end = std::min(places[i].find(" < ", begin), places[i].size());
            const std::string one = places[i].substr(begin, end - begin);
            const size_t colon = one.rfind(':');
            const std::string at = fmt::format("\"{}\":{}:1", one.substr(0, colon), one.substr(colon + 1));
            place = place.empty() ? at : fmt::format("callsite({} at {})", place, at);
            begin = end + 3;
        }
        locations += fmt::format("#loc{} = loc({})\n", i, place);
    }
    text += fmt::format("  return %v{} : tensor<4xf32>\n}}\n{}", places.size(), locations);
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<MlirModule> module = read_mlir(sources, sources.add("p.mlir", text), diagnostics);
    if (!module) return diagnostics.all().at(0).message;
    const TracedLines lines(*module, "/home/u");
    std::string found;
    for (size_t i = 0; i < places.size(); ++i) found += lines.of(module->functions[0].body.ops[i].location) + "\n";
    return found;
}

std::string in_packages(const std::string& file) { return "/venv/lib/python3.12/site-packages/" + file; }

} // namespace

TEST_CASE("a line is the innermost of the user's own, named from the folder") {
    CHECK(lines_of({in_packages("flax/linen/linear.py:9") + " < /home/u/model.py:3 < /home/u/train.py:7",
                    "/home/u/model.py:4 < /home/u/train.py:7", "/elsewhere/helpers.py:2 < /home/u/train.py:7"}) ==
          "model.py:3\nmodel.py:4\n/elsewhere/helpers.py:2\n");
}

TEST_CASE("where most ops come from one line of the user's, it is the innermost of a package with models") {
    std::vector<std::string> places;
    std::string expected;
    for (int i = 0; i < 24; ++i) {
        const std::string package = fmt::format("models/layers.py:{}", 10 + i);
        if (i == 20) { // the user's own
            places.push_back("/home/u/train.py:9");
            expected += "train.py:9\n";
        } else if (i == 21) { // what the library does at that line
            places.push_back(in_packages("optax/transform.py:5") + " < /home/u/train.py:7");
            expected += "train.py:7\n";
        } else if (i == 22) { // traced apart, without the user's line
            places.push_back(in_packages("jax/nn.py:5") + " < " + in_packages(package));
            expected += package + "\n";
        } else {
            places.push_back(in_packages("flax/linear.py:8") + " < " + in_packages(package) + " < /home/u/train.py:7");
            expected += package + "\n";
        }
    }
    CHECK(lines_of(places) == expected);
    places[0] = in_packages("six.py:3") + " < /home/u/train.py:7"; // of no package
    CHECK(lines_of(places).starts_with("train.py:7\nmodels/layers.py:11\n"));
    // Of few ops one line may be all that there is.
    CHECK(lines_of({places[0], places[1]}) == "train.py:7\ntrain.py:7\n");
}

} // namespace shard
