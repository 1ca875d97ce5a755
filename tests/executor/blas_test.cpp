#include "executor/blas.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("the pthread build of OpenBLAS is taken, a serial one and one of OpenMP are not") {
    Diagnostics diagnostics;
    CHECK(check_blas_build(1, "OpenBLAS 0.3.21", diagnostics));
    CHECK(diagnostics.all().empty());
    for (const int threads : {0, 2}) {
        CHECK_FALSE(check_blas_build(threads, "OpenBLAS 0.3.21 SINGLE_THREADED", diagnostics));
        CHECK(diagnostics.all().back().code == "E0605");
        CHECK(diagnostics.all().back().message ==
              "the OpenBLAS that was loaded is not the pthread build: OpenBLAS 0.3.21 SINGLE_THREADED");
    }
}

} // namespace shard
