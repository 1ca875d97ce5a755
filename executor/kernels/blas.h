// The border to OpenBLAS: one-thread GEMM that many workers may call at once.
//
// The library is loaded at the first product, and never by commands that multiply nothing: loaded at the start it costs
// every command 40 MB of address space, and with threads of its own a spinning thread for each that finds no memory.
// Here it has no threads, and what it maps for its callers is mapped before they call: OpenBLAS asks again for ever
// when that is refused.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/sharding/type.h"

#include <span>

namespace shard {

// False with E0605 if the library is missing or is not the one build that is safe under several calling threads, with
// E0601 if the memory to load it is missing.
bool load_blas(Diagnostics& diagnostics);

// How many threads may multiply at the same time: at most `callers`, fewer if memory does not suffice for so many. 0
// with E0601 if it suffices for none. After load_blas.
int reserve_blas(int callers, Diagnostics& diagnostics);

// Whose kernels multiply, in OpenBLAS's words: "Haswell", "SkylakeX", ... After load_blas.
std::string blas_core();

// OpenBLAS before 0.3.25 takes Intel's processors that are newer than it for Prescott, of 2004, whose kernels go at a
// sixth of their speed (OpenMathLib/OpenBLAS, issue 4267). The core whose kernels this processor runs; "" where `core`
// is not so taken, or is right. Who sets OPENBLAS_CORETYPE is not asked.
std::string core_in_place_of(std::string_view core);

// What load_blas asks of a library. `threads` as openblas_get_parallel gives it, `config` in the library's own words.
bool check_blas_build(int threads, std::string_view config, Diagnostics& diagnostics);
// Whether one of these is OpenBLAS and can be loaded; if not, why, for the last of them.
bool try_blas(std::span<const std::string> candidates, Diagnostics& diagnostics);

// A row-major matrix, or its transpose if `transposed`; rows (columns) are ld elements apart.
template<typename T>
struct MatrixRef {
    T* data = nullptr;
    bool transposed = false;
    i64 ld = 1;
};

inline constexpr i64 most_blas_rows = (i64{1} << 31) - 1; // or columns; run_plan refuses plans beyond (E0608)

// out(m x n) = scale * lhs(m x k) * rhs(k x n), added to what it holds if `adds`. Internal error beyond most_blas_rows,
// and without a library.
void gemm(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out,
          float scale = 1, bool adds = false);
void gemm(i64 m, i64 n, i64 k, MatrixRef<const double> lhs, MatrixRef<const double> rhs, MatrixRef<double> out,
          double scale = 1, bool adds = false);

} // namespace shard
