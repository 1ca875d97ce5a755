#include "planner/model/model.h"
#include "planner/read/model_reader.h"
#include "tests/fuzz/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::check_reader<std::optional<shard::Model>>(data, size, shard::read_model);
    return 0;
}
