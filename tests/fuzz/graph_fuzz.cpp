#include "planner/graph_text/graph_parse.h"
#include "tests/fuzz/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::check_reader(data, size, shard::parse_graph);
    return 0;
}
