// The kernel classes on one device: each reads dense row-major operands and writes a dense row-major result. They know
// nothing of devices or plans beyond the affine context in which offsets are evaluated.
#pragma once

#include "executor/kernels/team.h"
#include "plans/kernel/kernel.h"

#include <cstddef>

namespace shard {

// Views: shape and data are the caller's, and outlive the call.
struct Operand {
    DType dtype = DType::f32;
    const Shape* shape = nullptr;
    const std::byte* data = nullptr;

    TensorType type() const { return {dtype, *shape, {}}; }
};

struct Result {
    DType dtype = DType::f32;
    const Shape* shape = nullptr;
    std::byte* data = nullptr;

    TensorType type() const { return {dtype, *shape, {}}; }
    i64 bytes() const { return element_count(*shape) * byte_size(dtype); }
};

// The step's part of the arena. Kernels ask for what they use, so the high-water mark is what was really touched.
class Scratch {
public:
    Scratch(std::byte* begin, i64 size) : begin_(begin), size_(size) {}
    std::byte* at(i64 offset, i64 bytes) {
        internal_check(offset >= 0 && offset + bytes <= size_, "a kernel needs more scratch than the plan gives it");
        if (offset + bytes > used_) used_ = offset + bytes;
        return begin_ + offset;
    }
    i64 used() const { return used_; }

private:
    std::byte* begin_;
    i64 size_;
    i64 used_ = 0;
};

struct KernelCall {
    std::span<const Operand> inputs;
    Result output;
    Scratch& scratch;
    const AffineContext& context;
    Team* team = nullptr; // nobody helps

    void share(i64 count, const std::function<void(i64)>& part) const {
        if (team != nullptr && count > 1) return team->share(count, part);
        for (i64 i = 0; i < count; ++i) part(i);
    }
};

// By its class.
void run_kernel(const Kernel& kernel, const KernelCall& call);

} // namespace shard
