// Any bytes either are an array whose elements fill its shape, or are refused with a diagnostic.
#include "executor/formats/tensor.h"
#include "tests/fuzz/reading_fuzz.h"
#include "tests/support/natural_npy.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    shard::Diagnostics diagnostics;
    const std::optional<shard::Tensor> tensor = shard::read_natural(
        shard::NpyFile::open_text({reinterpret_cast<const char*>(data), size}, "fuzz.npy", diagnostics), diagnostics);
    shard::require(tensor.has_value() == !diagnostics.has_error());
    if (tensor) shard::require(tensor->type.bytes() == static_cast<shard::i64>(tensor->bytes.size()));
    return 0;
}
