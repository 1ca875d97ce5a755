// Any bytes either are an array whose elements fill its shape, or are refused with a diagnostic.
#include "executor/formats/npy_read.h"
#include "executor/formats/tensor.h"
#include "tests/fuzz/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::Diagnostics diagnostics;
    const std::optional<shard::Tensor> tensor =
        shard::parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy", diagnostics);
    shard::require(tensor.has_value() == !diagnostics.has_error());
    if (tensor) shard::require(tensor->type.bytes() == static_cast<shard::i64>(tensor->bytes.size()));
    return 0;
}
