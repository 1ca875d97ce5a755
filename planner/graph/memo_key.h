// Makes one string out of what a memoised decision depends on. Only compared for equality.
#pragma once

#include "planner/graph/attributes.h"
#include "plans/sharding/sharding.h"

namespace shard {

class MemoKey {
public:
    MemoKey& add(i64 number) {
        bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
        return *this;
    }
    MemoKey& add(std::string_view word) {
        add(static_cast<i64>(word.size()));
        bytes_.append(word);
        return *this;
    }
    MemoKey& add(std::span<const AxisRef> axes) {
        add(static_cast<i64>(axes.size()));
        for (const AxisRef& ref : axes) add(ref.axis).add(ref.pre).add(ref.size);
        return *this;
    }
    MemoKey& add(const Sharding& sharding) {
        add(static_cast<i64>(sharding.dims.size()));
        for (const DimSharding& dim : sharding.dims) add(dim.axes);
        return add(sharding.partial).add(static_cast<i64>(sharding.reduce));
    }
    // Logical names change no decision, so layers that differ in them alone share one.
    MemoKey& add(const TensorType& type) {
        add(static_cast<i64>(type.dtype)).add(static_cast<i64>(type.shape.size()));
        for (i64 size : type.shape) add(size);
        return *this;
    }
    MemoKey& add(const Attributes& attributes);

    const std::string& text() const { return bytes_; }
    MemoKey& clear() { // for the next, in the same memory
        bytes_.clear();
        return *this;
    }

private:
    std::string bytes_;
};

} // namespace shard
