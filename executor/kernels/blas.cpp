#include "executor/kernels/blas.h"

#include "executor/machine/memory.h"

#include <cblas.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>

namespace shard {

namespace {

constexpr i64 mebibyte = i64{1} << 20;
constexpr i64 library_bytes = 64 * mebibyte; // that loading maps: OpenBLAS and the Fortran runtime
constexpr i64 buffer_bytes = 129 * mebibyte; // OpenBLAS's BUFFER_SIZE for a caller, and its alignment
constexpr i64 spare_bytes = 64 * mebibyte;   // of address space that is left for the rest of the run
constexpr int most_callers = 128;            // buffers that Debian's build can count

struct Library {
    void* handle = nullptr;
    std::string problem = "no library was looked for"; // if the handle is nullptr
    bool is_out_of_memory = false;
    decltype(&cblas_sgemm) sgemm = nullptr;
    decltype(&cblas_dgemm) dgemm = nullptr;
    decltype(&openblas_set_num_threads) set_num_threads = nullptr;
    decltype(&openblas_get_parallel) get_parallel = nullptr;
    decltype(&openblas_get_config) get_config = nullptr;
    decltype(&openblas_get_corename) get_corename = nullptr;
    // A caller's buffer: what gemm takes while it runs, and gives back to the next caller.
    void* (*take_buffer)(int) = nullptr;
    void (*give_buffer)(void*) = nullptr;
};

template<typename Function>
bool find(void* handle, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    return function != nullptr;
}

// The library again with the kernels of this core, which it asks the environment for while it is loaded.
void* load_again(void* handle, const std::string& candidate, const std::string& core) {
    constexpr const char* asked = "OPENBLAS_CORETYPE";
    dlclose(handle);
    ::setenv(asked, core.c_str(), 1);
    void* const again = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    ::unsetenv(asked);
    return again;
}

Library load(std::span<const std::string> candidates) {
    Library library;
    if (!can_map(library_bytes)) {
        library.is_out_of_memory = true;
        return library;
    }
    ::setenv("OPENBLAS_NUM_THREADS", "1", 1); // read while it is loaded: otherwise it starts a thread for each core
    for (const std::string& candidate : candidates) {
        void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr && find(handle, "openblas_get_corename", library.get_corename) &&
            std::getenv("OPENBLAS_CORETYPE") == nullptr)
            if (const std::string core = core_in_place_of(library.get_corename()); !core.empty())
                handle = load_again(handle, candidate, core);
        if (handle == nullptr) {
            library.problem = dlerror();
            continue;
        }
        if (find(handle, "cblas_sgemm", library.sgemm) && find(handle, "cblas_dgemm", library.dgemm) &&
            find(handle, "openblas_set_num_threads", library.set_num_threads) &&
            find(handle, "openblas_get_parallel", library.get_parallel) &&
            find(handle, "openblas_get_config", library.get_config) &&
            find(handle, "openblas_get_corename", library.get_corename) &&
            find(handle, "blas_memory_alloc", library.take_buffer) &&
            find(handle, "blas_memory_free", library.give_buffer)) {
            library.handle = handle;
            library.set_num_threads(1); // somebody else in the process may have loaded it before
            return library;
        }
        library.problem = fmt::format("{} is not OpenBLAS", candidate);
        dlclose(handle);
    }
    return library;
}

// The one that was found when the program was configured; if that is gone, any that the loader finds.
const Library& loaded() {
    static const Library library = load(std::array<std::string, 3>{
        SHARDC_OPENBLAS_FOLDER "/libopenblas.so.0", SHARDC_OPENBLAS_FOLDER "/libopenblas.so", "libopenblas.so.0"});
    return library;
}

bool accepts(const Library& library, Diagnostics& diagnostics) {
    if (library.handle != nullptr) return check_blas_build(library.get_parallel(), library.get_config(), diagnostics);
    if (library.is_out_of_memory)
        diagnostics.error("E0601", {}, "there is not enough memory to load OpenBLAS")
            .help("ulimit -v limits what a process may map; `shardc plan` needs no OpenBLAS");
    else
        diagnostics.error("E0605", {}, fmt::format("OpenBLAS cannot be loaded: {}", library.problem))
            .help("install libopenblas0-pthread; `shardc plan` does not need it");
    return false;
}

blasint narrow(i64 value) {
    internal_check(value <= std::numeric_limits<blasint>::max(), "matrix too large for BLAS");
    return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE op(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

template<typename T, typename Gemm>
void gemm_of(Gemm* call, i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out, T scale,
             bool adds) {
    internal_check(call != nullptr, "a product without OpenBLAS");
    if (out.transposed) { // out^T = rhs^T * lhs^T
        lhs.transposed = !lhs.transposed;
        rhs.transposed = !rhs.transposed;
        out.transposed = false;
        return gemm_of(call, n, m, k, rhs, lhs, out, scale, adds);
    }
    call(CblasRowMajor, op(lhs.transposed), op(rhs.transposed), narrow(m), narrow(n), narrow(k), scale, lhs.data,
         narrow(lhs.ld), rhs.data, narrow(rhs.ld), adds ? 1 : 0, out.data, narrow(out.ld));
}

} // namespace

std::string core_in_place_of([[maybe_unused]] std::string_view core) {
#if defined(__x86_64__)
    if (core != "Prescott") return {};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return {};
}

std::string blas_core() {
    internal_check(loaded().handle != nullptr, "OpenBLAS is loaded before it is used");
    return loaded().get_corename();
}

bool check_blas_build(int threads, std::string_view config, Diagnostics& diagnostics) {
    constexpr int pthread_build = 1; // 0 is serial, 2 is OpenMP
    if (threads == pthread_build) return true;
    diagnostics.error("E0605", {}, fmt::format("the OpenBLAS that was loaded is not the pthread build: {}", config))
        .help("install libopenblas-pthread-dev and choose it with update-alternatives");
    return false;
}

bool try_blas(std::span<const std::string> candidates, Diagnostics& diagnostics) {
    const Library library = load(candidates);
    const bool fine = accepts(library, diagnostics);
    if (library.handle != nullptr) dlclose(library.handle);
    return fine;
}

bool load_blas(Diagnostics& diagnostics) { return accepts(loaded(), diagnostics); }

int reserve_blas(int callers, Diagnostics& diagnostics) {
    const Library& library = loaded();
    internal_check(library.handle != nullptr, "OpenBLAS is loaded before it is used");
    static std::atomic<int> mapped = 0; // buffers, by this run or those before it
    std::array<void*, most_callers> buffers = {};
    const int wanted = std::min(callers, most_callers);
    int count = 0;
    for (; count < wanted; ++count) {
        if (count >= mapped && !can_map(count == 0 ? buffer_bytes : buffer_bytes + spare_bytes)) break;
        buffers[count] = library.take_buffer(0);
    }
    for (int i = 0; i < count; ++i) library.give_buffer(buffers[i]); // they stay mapped
    mapped = std::max(mapped.load(), count);
    if (count == 0)
        diagnostics.error("E0601", {}, "there is not enough memory to multiply: OpenBLAS maps 128 MiB")
            .help("ulimit -v limits what a process may map");
    return count;
}

void gemm(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out,
          float scale, bool adds) {
    gemm_of<float>(loaded().sgemm, m, n, k, lhs, rhs, out, scale, adds);
}

void gemm(i64 m, i64 n, i64 k, MatrixRef<const double> lhs, MatrixRef<const double> rhs, MatrixRef<double> out,
          double scale, bool adds) {
    gemm_of<double>(loaded().dgemm, m, n, k, lhs, rhs, out, scale, adds);
}

} // namespace shard
