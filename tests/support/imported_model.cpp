#include "tests/support/imported_model.h"

#include "plans/disk/file.h"

#include <doctest/doctest.h>

#include "test_paths.h"

namespace shard {

ImportedProgram imported_program(const std::string& text) {
    Sources sources;
    const int file = sources.add("program.mlir", text);
    Diagnostics diagnostics;
    const ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    return *std::move(program);
}

std::string recorded_program(const std::string& name) {
    std::string problem;
    return read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/" + name + ".mlir", problem).value_or("");
}

} // namespace shard
