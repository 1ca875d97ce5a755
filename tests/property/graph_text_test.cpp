// The graph of every example, after every pass, on a trip through its text.
#include "planner/graph_text/graph_parse.h"
#include "planner/pipeline/graph_after.h"
#include "tests/support/graph_trip.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "test_paths.h"

using namespace shard;

namespace {

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Texts {
    std::map<std::string, std::string> models, layouts; // by file name
};

} // namespace

TEST_CASE("graph text: of every example after every pass it is read back, and the next pass makes the same of it") {
    std::map<std::string, Texts> folders;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::recursive_directory_iterator(SHARDC_SOURCE_DIR "/examples")) {
        if (entry.path().extension() != ".yaml") continue;
        const std::string text = text_of_file(entry.path());
        Texts& folder = folders[entry.path().parent_path().string()];
        if (text.find("model: ") == 0 || text.find("\nmodel: ") != std::string::npos)
            folder.models[entry.path().filename().string()] = text;
        else
            folder.layouts[entry.path().filename().string()] = text;
    }
    int trips = 0;
    for (const auto& [folder, texts] : folders)
        for (const auto& [model_name, model] : texts.models)
            for (const auto& [layout_name, layout] : texts.layouts)
                for (const char* mode : {"forward", "train"}) {
                    Sources sources;
                    PlanRequest request;
                    request.model_file = sources.add(folder + "/" + model_name, model);
                    request.layout_file = sources.add(folder + "/" + layout_name, layout);
                    request.mode = mode;
                    const std::vector<std::string> problems = graph_trip_problems(sources, request, &trips);
                    const std::string text = fmt::format("{} {} {} {}: {}", folder, model_name, layout_name, mode,
                                                         fmt::join(problems, "\n"));
                    CHECK_MESSAGE(problems.empty(), text);
                }
    CHECK(trips > 500);
}

TEST_CASE("graph text: with anything in it changed it is read or refused") {
    const std::string model = R"(model: stack
inputs: {x: {shape: [8, 16]}}
modules:
  block:
    params: {w: {shape: [16, 16]}}
    inputs: [h]
    graph:
      - y: {dot: [h, w]}
      - y: {tanh: y}
      - y: {slice: y, start: [0, 0], limit: [8, 16]}
    outputs: [y]
graph:
  - y: {repeat: block, times: 3, in: x, axis: layers, scan: true}
  - s: {reduce_sum: y, dims: [1]}
outputs: [s]
train:
  targets: {goal: {shape: [8, 16]}}
  loss: {mse: [y, goal]}
  optimizer: {adam: {learning_rate: 0.1}}
)";
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 2, b: 2}\nrules: []\ninputs: {x: [data, b]}\n");
    request.mode = "train";
    int refused = 0;
    for (const char* pass : {"grad", "seed", "propagate", "partition", "optimize", "land"}) {
        Diagnostics diagnostics;
        const std::optional<std::string> printed = graph_after(sources, request, pass, true, diagnostics);
        REQUIRE(printed);
        const std::string text = printed->substr(printed->find('\n') + 2); // behind the head
        std::uint32_t random = 1;
        const auto below = [&random](size_t bound) {
            random = random * 1664525U + 1013904223U;
            return static_cast<size_t>(random >> 8) % bound;
        };
        for (int n = 0; n < 2000; ++n) {
            std::string changed = text;
            for (size_t times = 1 + below(3); times > 0; --times) {
                const size_t at = below(changed.size()), length = 1 + below(6), from = below(text.size() - 6);
                changed.replace(at, below(2) == 0 ? length : 0, text.substr(from, below(length + 1)));
            }
            Sources alone;
            Diagnostics found;
            const bool is_read = parse_graph(alone, alone.add("graph", changed), found).has_value();
            CHECK(is_read != found.has_error());
            refused += is_read ? 0 : 1;
        }
    }
    CHECK(refused > 3000);
}
