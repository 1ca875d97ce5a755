// Any bytes as a model and as a layout: refused with a diagnostic, or read; never a crash, never "this is a bug".
#include "planner/layout.h"
#include "planner/model.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    shard::Sources sources;
    const int model = sources.add("model.yaml", text);
    const int layout = sources.add("layout.yaml", text);
    shard::Diagnostics of_model;
    if (!shard::read_model(sources, model, of_model) && !of_model.has_error()) std::abort();
    shard::Diagnostics of_layout;
    if (!shard::read_layout(sources, layout, of_layout) && !of_layout.has_error()) std::abort();
    return 0;
}
