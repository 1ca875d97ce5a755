// Programs of any bytes: what a reader promises, and what is made of a program that is read.
#include "importer/program/import_program.h"
#include "tests/fuzz/reading_fuzz.h"

namespace {

std::optional<shard::ImportedProgram> import(const shard::Sources& sources, int file, shard::Diagnostics& diagnostics) {
    const shard::ImportRequest request = {[](const std::string& path) { return path.size() % 2 == 0; }};
    return shard::import_program(sources, file, request, diagnostics);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::check_reader<std::optional<shard::ImportedProgram>>(data, size, import);
    return 0;
}
