// What is neither a model nor a layout is named for what it is.
#include "cli/inputs/foreign_file.h"

#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <string>

using namespace shard;
using namespace std::string_literals;

namespace {

std::string what(std::string_view text, std::string_view name = "file") {
    const std::optional<ForeignFile> foreign = foreign_file(name, text);
    return foreign ? std::string(foreign->what) : "";
}

} // namespace

TEST_CASE("programs and what they write are told by their first words") {
    for (const char* text :
         {"import jax\n", "# about\n\nfrom flax import nnx\n", "\"\"\"A doc.\"\"\"\n", "#!/usr/bin/env python3\n",
          "def f(x):\n  return x\n", "@jax.jit\ndef f(x): ...\n", "class Model(nnx.Module):\n"}) {
        CAPTURE(text);
        CHECK(what(text) == "a Python program");
    }
    CHECK(what("x = 1\n", "train.py") == "a Python program");
    CHECK(what("{\n \"cells\": [],\n \"nbformat\": 4\n}\n") == "a Jupyter notebook");
    CHECK(what("HloModule jit_f, entry_computation_layout={()->f32[]}\n") == "a program of HLO");
    CHECK(what("{ lambda ; a:f32[8]. let b:f32[8] = tanh a in (b,) }\n") == "a jaxpr");
    CHECK(what("ML\xEFR\x01"s) == "a program in MLIR's bytecode");
}

TEST_CASE("files of values are told by their first bytes") {
    CHECK(what("\x20\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}} "s) == "a file of safetensors");
    CHECK(what("\xFF\0\0\0\0\0\0\0{}"s) == ""); // the header would be longer than the file
    CHECK(what("\x93NUMPY\x01\0"s) == "an array of numpy");
    CHECK(what("PK\x03\x04"s) == "a zip archive, as numpy.savez and torch.save write");
    CHECK(what("\x89HDF\r\n"s) == "an HDF5 file");
    CHECK(what("\x80\x04\x95"s) == "a pickle of Python");
    CHECK(what("\x1F\x8B\x08"s) == "compressed by gzip");
}

TEST_CASE("configs that `rules` reads are told from layouts") {
    CHECK(what("[parallelism]\n", "job.toml") == "a file of TOML");
    CHECK(what("train.x = 1\n", "pretrain.gin") == "a file of gin");
    CHECK(what("base: 1\nlogical_axis_rules: [['batch', 'data']]\n") == "a config of MaxText");
}

TEST_CASE("models, layouts and what is nothing that is known are not foreign") {
    for (const char* text : {"", "\n", "model: m\n", "mesh: {data: 2}\n", "import: x\n", "from: y\n", "class: z\n",
                             "{\"format_version\": 1}\n", "- a\n", "a sentence about it\n"}) {
        CAPTURE(text);
        CHECK(what(text) == "");
    }
}

TEST_CASE("a program in the place of a model is said to be one, with the way to what it traces") {
    MemoryFiles files;
    files.files["l.yaml"] = "mesh: {data: 2}\n";
    files.files["m.yaml"] = "model: m\ninputs: {x: {shape: [4]}}\ngraph:\n  - y: {tanh: x}\noutputs: [y]\n";
    files.files["train.py"] = "import jax\n\ndef f(x):\n    return x\n";
    for (const char* command : {"plan train.py l.yaml", "run train.py l.yaml", "explain train.py l.yaml",
                                "show train.py l.yaml x", "diff train.py l.yaml l.yaml"}) {
        CAPTURE(command);
        const CommandResult result = run_command(files, command);
        CHECK(result.code == 2);
        CHECK(result.err.find("error[E0709]: 'train.py' is a Python program, and stands in the place of a model\n") ==
              0);
        CHECK(result.err.find("  = help: give the program that it traces: write jax.jit(f).lower(...).as_text(") !=
              std::string::npos);
        CHECK(result.err.find("E0101") == std::string::npos);
    }
    CHECK(run_command(files, "plan m.yaml train.py").err ==
          "error[E0709]: 'train.py' is a Python program, and stands in the place of a layout\n"
          "  = help: a layout is YAML with a `mesh`; `shardc init` writes one\n\n");
    files.files["job.toml"] = "[parallelism]\n";
    CHECK(run_command(files, "plan m.yaml job.toml").err.find("`shardc rules torchtitan FILE.toml` makes a layout") !=
          std::string::npos);
}

TEST_CASE("what is named .mlir, or imported, and is no text of a program is said to be what it is") {
    MemoryFiles files;
    files.files["l.yaml"] = "mesh: {data: 2}\n";
    files.files["p.mlir"] = "ML\xEFR\r\x01StableHLO";
    files.files["train.py"] = "import jax\n";
    for (const char* command : {"plan p.mlir l.yaml", "import p.mlir"}) {
        CAPTURE(command);
        CHECK(
            run_command(files, command).err ==
            "error[E0709]: 'p.mlir' is a program in MLIR's bytecode, not a text of StableHLO\n"
            "  = help: write it as text: jax.jit(f).lower(...).as_text(debug_info=True), or `stablehlo-opt FILE`\n\n");
    }
    CHECK(run_command(files, "import train.py").err.find("'train.py' is a Python program, not a text of StableHLO\n") !=
          std::string::npos);
    // A program may begin with anything that MLIR allows.
    files.files["p.mlir"] =
        "#map = affine_map<(d0) -> (d0)>\nmodule @jit_f {\n  func.func public @main(%a: tensor<4xf32>) "
        "-> tensor<4xf32> {\n    return %a : tensor<4xf32>\n  }\n}\n";
    CHECK(run_command(files, "import p.mlir").err.find("E0709") == std::string::npos);
}
