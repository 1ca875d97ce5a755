#include "executor/blas.h"

#include <cblas.h>
#include <fmt/format.h>

#include <limits>

namespace shard {

namespace {

blasint narrow(i64 value) {
    internal_check(value <= std::numeric_limits<blasint>::max(), "matrix too large for BLAS");
    return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE op(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

void call_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n, blasint k, const float* a, blasint lda,
               const float* b, blasint ldb, float* c, blasint ldc) {
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}
void call_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n, blasint k, const double* a, blasint lda,
               const double* b, blasint ldb, double* c, blasint ldc) {
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}

template<typename T>
void gemm_of(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out) {
    if (out.transposed) { // out^T = rhs^T * lhs^T
        lhs.transposed = !lhs.transposed;
        rhs.transposed = !rhs.transposed;
        out.transposed = false;
        return gemm_of(n, m, k, rhs, lhs, out);
    }
    call_gemm(op(lhs.transposed), op(rhs.transposed), narrow(m), narrow(n), narrow(k), lhs.data, narrow(lhs.ld),
              rhs.data, narrow(rhs.ld), out.data, narrow(out.ld));
}

} // namespace

bool check_blas_build(int threads, std::string_view config, Diagnostics& diagnostics) {
    constexpr int pthread_build = 1; // 0 is serial, 2 is OpenMP
    if (threads == pthread_build) return true;
    diagnostics.error("E0605", {}, fmt::format("the OpenBLAS that was loaded is not the pthread build: {}", config))
        .help("install libopenblas-pthread-dev and choose it with update-alternatives");
    return false;
}

bool prepare_blas(Diagnostics& diagnostics) {
    if (!check_blas_build(openblas_get_parallel(), openblas_get_config(), diagnostics)) return false;
    openblas_set_num_threads(1);
    return true;
}

void gemm(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out) {
    gemm_of<float>(m, n, k, lhs, rhs, out);
}

void gemm(i64 m, i64 n, i64 k, MatrixRef<const double> lhs, MatrixRef<const double> rhs, MatrixRef<double> out) {
    gemm_of<double>(m, n, k, lhs, rhs, out);
}

} // namespace shard
