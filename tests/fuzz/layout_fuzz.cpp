#include "planner/model/layout.h"
#include "planner/read/layout_reader.h"
#include "tests/fuzz/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::check_reader<std::optional<shard::Layout>>(data, size, shard::read_layout);
    return 0;
}
