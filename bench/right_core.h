// Programs that are linked to OpenBLAS have the kernels that it took when they were started.
#pragma once

#include "executor/kernels/blas.h"

#include <cblas.h>
#include <cstdlib>
#include <unistd.h>

namespace shard {

// The program again, if OpenBLAS does not know this processor: with the kernels that the executor would ask for.
inline void start_with_right_core(char** argv) {
    constexpr const char* asked = "OPENBLAS_CORETYPE";
    const std::string core = core_in_place_of(openblas_get_corename());
    if (core.empty() || std::getenv(asked) != nullptr) return;
    ::setenv(asked, core.c_str(), 1);
    ::execv("/proc/self/exe", argv);
}

} // namespace shard
