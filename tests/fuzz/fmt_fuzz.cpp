// fmt writes over files: of any bytes it refuses, or keeps tree and comments (styled_yaml compares them itself, and what
// it throws ends the run), and what it has laid out once stays.
#include "cli/style/yaml_style.h"
#include "tests/fuzz/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::check_reader<std::optional<std::string>>(data, size, shard::styled_yaml);
    shard::Sources sources;
    sources.add("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size));
    shard::Diagnostics diagnostics;
    const std::optional<std::string> once = shard::styled_yaml(sources, 0, diagnostics);
    if (!once) return 0;
    shard::Sources again;
    again.add("fuzz.yaml", *once);
    shard::require(shard::styled_yaml(again, 0, diagnostics) == once);
    return 0;
}
