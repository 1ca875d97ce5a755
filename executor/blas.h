// The border to OpenBLAS: one-thread GEMM that many workers may call at once.
#pragma once

#include "plans/diagnostic.h"
#include "plans/type.h"

namespace shard {

// Sets OpenBLAS to one thread per call. E0605 if the library that the machine loaded at run time is not the one build
// that is safe under several calling threads.
bool prepare_blas(Diagnostics& diagnostics);
// What that asks of a build: `threads` as openblas_get_parallel gives it, `config` in the library's own words.
bool check_blas_build(int threads, std::string_view config, Diagnostics& diagnostics);

// A row-major matrix, or its transpose if `transposed`; rows (columns) are ld elements apart.
template<typename T>
struct MatrixRef {
    T* data = nullptr;
    bool transposed = false;
    i64 ld = 1;
};

inline constexpr i64 most_blas_rows = (i64{1} << 31) - 1; // or columns; run_plan refuses plans beyond (E0608)

// out(m x n) = lhs(m x k) * rhs(k x n). Internal error beyond most_blas_rows.
void gemm(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out);
void gemm(i64 m, i64 n, i64 k, MatrixRef<const double> lhs, MatrixRef<const double> rhs, MatrixRef<double> out);

} // namespace shard
