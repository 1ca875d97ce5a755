#include "tests/support/tensors.h"

#include "executor/elements/element.h"

#include <cstring>

namespace shard {

Tensor make_tensor(DType dtype, Shape shape, const std::function<double(i64)>& f) {
    Tensor tensor = {{dtype, std::move(shape), {}}, {}};
    tensor.bytes.resize(static_cast<size_t>(tensor.type.bytes()));
    visit_dtype(dtype, [&](auto zero) {
        using T = decltype(zero);
        for (i64 i = 0; i < tensor.type.elements(); ++i) {
            const T value = convert_value<T>(f(i));
            std::memcpy(tensor.bytes.data() + i * static_cast<i64>(sizeof(T)), &value, sizeof(T));
        }
    });
    return tensor;
}

std::vector<double> values(const Tensor& tensor) {
    std::vector<double> result;
    visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        for (i64 i = 0; i < tensor.type.elements(); ++i) {
            T value;
            std::memcpy(&value, tensor.bytes.data() + i * static_cast<i64>(sizeof(T)), sizeof(T));
            result.push_back(convert_value<double>(value));
        }
    });
    return result;
}

} // namespace shard
