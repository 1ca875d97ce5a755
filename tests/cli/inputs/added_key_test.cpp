#include "cli/inputs/added_key.h"

#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

std::string with(const std::string& text, const std::string& path, const std::string& value) {
    Sources sources;
    const int file = sources.add("f.yaml", text);
    Diagnostics diagnostics;
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    REQUIRE(yaml != nullptr);
    return with_added_key(text, *yaml, path, value).value_or("none");
}

} // namespace

TEST_CASE("a key is added in the braces where it belongs, after what is there") {
    CHECK(with("fsdp: {axis: data}\n", "fsdp.min_size", "64") == "fsdp: {axis: data, min_size: 64}\n");
    CHECK(with("a: {}\n", "a.b", "1") == "a: {b: 1}\n");
    CHECK(with("{a: {b: [1, {c: 2}]}, d: 3}\n", "a.e.f", "x") == "{a: {b: [1, {c: 2}], e: {f: x}}, d: 3}\n");
    CHECK(with("a:\n  {b: '}''{',   # }\n   c: \"\\\"}\",\n   d: it's}\nz: 1\n", "a.e", "1") ==
          "a:\n  {b: '}''{',   # }\n   c: \"\\\"}\",\n   d: it's, e: 1}\nz: 1\n");
}

TEST_CASE("a key that no braces are for ends the file") {
    CHECK(with("a: 1", "b", "2") == "a: 1\nb: 2\n");
    CHECK(with("a: 1\n", "b.c", "2") == "a: 1\nb: {c: 2}\n");
    CHECK(with("a: 1\nb:\n    c: 2\n", "b.d", "3") == "a: 1\nb:\n    c: 2\n    d: 3\n");
}

TEST_CASE("nothing is added to what is no map") {
    CHECK(with("a: 1\n", "a.b", "2") == "none");
    CHECK(with("a: [1]\n", "a.b", "2") == "none");
    CHECK(with("a: ~\n", "a.b", "2") == "none");
    CHECK(with("a: 1\n", "a", "2") == "none");
}

TEST_CASE("--set adds keys, and refuses those that would move lines or are none") {
    MemoryFiles files;
    files.files["m.yaml"] = "model: m\nprecision:\n  params: f32\ninputs: {x: {shape: [8]}}\n"
                            "graph: [{y: {neg: x}}]\noutputs: [y]\n";
    files.files["l.yaml"] = "mesh: {d: 2}\n";
    const auto plan = [&](const std::string& set) { return run_command(files, "plan m.yaml l.yaml --set " + set); };
    CHECK(plan("hardware=h100").code == 0);
    CHECK(plan("rng.seed=7").code == 0);
    CHECK(plan("precision.compute=bf16").err.find("cannot be added there") != std::string::npos);
    CHECK(plan("hardware=h100}").err.find("cannot be added there") == std::string::npos);
    CHECK(plan("mesh.e=2").err.find("there is no 'mesh.e'") != std::string::npos);
    CHECK(plan("policy.max_colectives=2").err.find("did you mean 'policy.max_collectives'?") != std::string::npos);
    for (const std::string value : {"'1}", "{1", "#", "a: b", "&x", "'1, x: 2'"})
        CHECK_MESSAGE(plan(fmt::format("fsdp.min_size='{}'", value)).code == 2, value);
}
