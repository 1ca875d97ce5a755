// What of a size that does not divide --set can change: each number that is proposed was planned with.
#include "cli/inputs/dividing_sizes.h"

#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

std::string model(const std::string& axes, const std::string& more = "") {
    return fmt::format("model: m\n{}axes: {{{}}}\ninputs:\n  x: {{axes: [batch, embed]}}\ngraph:\n  - y: {{tanh: x}}\n"
                       "outputs: [y]\n",
                       more, axes);
}

// The helps of what goes wrong.
std::string helps(const std::string& text, const std::string& layout, const std::string& more = "") {
    MemoryFiles files;
    files.files["m.yaml"] = text;
    files.files["l.yaml"] = layout;
    const CommandResult result = run_command(files, "plan m.yaml l.yaml" + more);
    CHECK(result.code == 2);
    std::string out;
    for (size_t at = result.err.find("= help: "); at != std::string::npos; at = result.err.find("= help: ", at + 1))
        out += result.err.substr(at + 8, result.err.find('\n', at) - at - 7);
    return out;
}

const std::string usual = "choose other axes for this dim, leave it whole (~), or pad it (`divisibility: pad`)";
const std::string by_data = "mesh: {data: 4}\nrules: [{batch: data}]\n";

} // namespace

TEST_CASE("the nearest sizes that divide are proposed, smaller and larger") {
    CHECK(helps(model("batch: 10, embed: 8"), by_data) ==
          usual + "; or set another size: --set batch=8 or --set batch=12\n");
    CHECK(helps(model("batch: 3, embed: 8"), by_data) == usual + "; or set another size: --set batch=4\n");
    CHECK(helps(model("batch: 8, embed: 8"), by_data, " --set batch=10") ==
          usual + "; or set another size: --set batch=8 or --set batch=12\n");
}

TEST_CASE("of a size that is computed a number that it is made of is proposed") {
    const std::string by_embed = "mesh: {model: 8}\nrules: [{embed: model}]\n";
    // 3 heads of 4: one dim of 12, which two or four heads let 8 devices split.
    CHECK(helps(model("batch: 8, heads: 3, head: 4, embed: heads*head"), by_embed) ==
          usual + "; or set another size: --set heads=2 or --set heads=4\n");
    CHECK(helps(model("batch: $n, embed: 8", "args: {n: 10}\n"), by_data) ==
          usual + "; or set another size: --set n=8 or --set n=12\n");
}

TEST_CASE("what would not help is not proposed") {
    // No name says where the size comes from.
    CHECK(helps("model: m\ninputs:\n  x: {shape: [10, 4], mesh: [data, ~]}\ngraph:\n  - y: {tanh: x}\noutputs: [y]\n",
                "mesh: {data: 4}\n") == usual + "\n");
    // A multiple of 4 that 7 columns of 11 can be cut to is not found: other sizes of `batch` break the reshape.
    CHECK(helps("model: m\naxes: {batch: 10, embed: 4}\ninputs:\n  x: {axes: [batch, embed]}\ngraph:\n"
                "  - y: {reshape: x, shape: [5, 8]}\noutputs: [y]\n",
                by_data) == usual + "\n");
}

TEST_CASE("of two that do not divide each has its proposal") {
    CHECK(helps(model("batch: 10, embed: 6"), "mesh: {data: 4, model: 4}\nrules: [{batch: data}, {embed: model}]\n") ==
          usual + "; or set another size: --set batch=8 or --set batch=12\n" + usual +
              "; or set another size: --set embed=4 or --set embed=8\n");
}

TEST_CASE("a batch that microbatches do not divide has proposals, and --fit begins there") {
    MemoryFiles files;
    files.files["m.yaml"] = "model: m\naxes: {batch: 10, embed: 8}\ninputs:\n  x: {axes: [batch, embed]}\nparams:\n"
                            "  w: {shape: [8, 8]}\ngraph:\n  - y: {dot: [x, w]}\noutputs: [y]\n"
                            "train: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.1}}, microbatches: 4}\n";
    files.files["l.yaml"] = by_data + "policy: {max_memory_per_device: 1 MiB}\n";
    CHECK(
        run_command(files, "plan m.yaml l.yaml --mode train")
            .err.find(
                "= help: these numbers divide it: 2, 5, 10; or set another size: --set batch=8 or --set batch=12\n") !=
        std::string::npos);
    const CommandResult fit = run_command(files, "plan m.yaml l.yaml --mode train --fit batch");
    CHECK(fit.code == 0);
    CHECK(fit.err == "");
    CHECK(fit.out.find(" is the largest of the multiples of 4 that fits: batch=") != std::string::npos);
}
