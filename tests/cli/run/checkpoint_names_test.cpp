// What can be wrong with a file of names, said where it is.
#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

CommandResult restored(const std::string& names) {
    MemoryFiles files;
    files.files["model.yaml"] = "model: line\ncheckpoint_names: names.yaml\naxes: {batch: 4, in: 2, out: 6}\n"
                                "inputs: {x: {axes: [batch, in]}}\nparams: {w: {axes: [in, out]}}\n"
                                "graph: [{y: {dot: [x, w]}}]\noutputs: [y]\n";
    files.files["layout.yaml"] = "mesh: {}\n";
    if (!names.empty()) files.files["names.yaml"] = names;
    return run_command(files, std::string("shardc run model.yaml layout.yaml --restore ") + SHARDC_SOURCE_DIR +
                                  "/tests/cli/run/huggingface/qwen2");
}

} // namespace

TEST_CASE("a mistake in a file of names is E0615, with its place") {
    const auto says = [](const std::string& entry, const std::string& problem, const std::string& code = "E0615") {
        const CommandResult result = restored("tensors: {" + entry + "}\n");
        CAPTURE(entry);
        CAPTURE(result.err);
        CHECK(result.code == 2);
        CHECK(result.err.find(code) != std::string::npos);
        CHECK(result.err.find(problem) != std::string::npos);
        return result.err.find("names.yaml:1:") != std::string::npos;
    };
    CHECK(says("v: weight", "the model has no parameter 'v'"));
    CHECK(says("w: \"{layer\"", "in braces stands a name"));
    CHECK(says("w: \"{2/layer}\"", "in braces stands a name"));
    CHECK(says("w: {rearrange: \"a b -> b a\"}", "`from` is missing"));
    CHECK(says("w: {from: a, rearrange: \"a b\"}", "expected \"STORED -> PARAMETER\""));
    CHECK(says("w: {from: a, rearrange: \"(a b -> a b\"}", "expected \"STORED -> PARAMETER\""));
    CHECK(says("w: {from: a, rearrange: \"a b -> (a b)\"}", "joined in what is stored alone"));
    CHECK(says("w: {from: a, rearrange: \"a a b -> a b\"}", "'a' stands twice"));
    CHECK(says("w: {from: a, rearrange: \"c a b -> a b\"}", "no `part` says which of it is meant"));
    CHECK(says("w: {from: a, rearrange: \"a b -> a b\", part: {c: 0 of 3}}", "does not stand before the arrow"));
    CHECK(says("w: {from: a, rearrange: \"a b -> a b\", part: {a: 3 of 3}}", "expected where it begins"));
    CHECK(says("w: {from: a, part: {a: 1 of 3}}", "`part` is of `rearrange`"));
    CHECK(says("w: {from: a, with: b}", "unknown key", "E0114"));
    // What shows only beside the parameter's shape has no place there.
    CHECK_FALSE(says("w: {from: a, rearrange: \"a -> a\"}", "it has 2 dims, and 1 stand behind the arrow"));
    CHECK_FALSE(says("w: {from: a, rearrange: \"a b -> a b\", part: {a: 1 of 2}}", "are more than 2"));
    CHECK_FALSE(says("w: {from: a, rearrange: \"b -> a b\"}", "its name there lacks {a}"));
    CHECK_FALSE(says("w: \"a.{layer}\"", "is neither a layer nor a dim that is not stored"));
}

TEST_CASE("a file of names that is not there is E0122") {
    const CommandResult result = restored("");
    CHECK(result.code == 2);
    CHECK(result.err.find("error[E0122]: the file of names names.yaml cannot be read") != std::string::npos);
    CHECK(result.err.find("model.yaml:2:19") != std::string::npos);
}

} // namespace shard
