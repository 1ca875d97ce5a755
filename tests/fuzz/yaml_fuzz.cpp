#include "planner/text/yaml.h"
#include "tests/fuzz/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::check_reader<shard::YamlDocument>(data, size, shard::parse_yaml);
    return 0;
}
