// The parts of the pointwise interpreter: block registers, loading and storing blocks, and one block of one
// instruction.
#pragma once

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/kernels.h"

#include <memory>

namespace shard {

constexpr i64 block_elements = 1024;

// A block of values, as what they are computed as: bf16 as float, i8 as i32, rounded or wrapped after every step.
struct Register {
    alignas(64) std::byte bytes[block_elements * 8];
    template<typename T>
    T* as() {
        return reinterpret_cast<T*>(bytes);
    }
};

// Where the values of a block are: in a register, or in the memory of an input.
struct LaneBlock {
    const std::byte* bytes = nullptr;
    template<typename T>
    const T* as() const {
        return reinterpret_cast<const T*>(bytes);
    }
};

// An input as seen from the output: per (joined) output dim its extent and the input's stride, 0 where it is broadcast.
struct BlockSource {
    Operand operand;
    std::vector<CopyDim> dims; // `to` is the row-major stride of the output
    bool is_uniform() const;   // one element is all of every block
    bool is_in_place() const;  // a block of the output is one of the input, as registers hold it
};
BlockSource block_source(const Operand& operand, const std::vector<int>& dims, const Shape& output);

// Elements [first, first + width) of the output's row-major order.
void load_block(Register& to, const BlockSource& source, i64 first, i64 width);
// The index of the step's dim for each element, counted from `start`, the global offset of the output's first one.
void index_block(Register& to, const ScalarStep& step, i64 start, const Shape& output, i64 first, i64 width);
void fill_constant(Register& to, const ScalarStep& step);
void store_block(LaneBlock from, const Result& output, i64 first, i64 width);

} // namespace shard
