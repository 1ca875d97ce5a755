#include "executor/kernels/blas.h"
#include "executor/machine/wide_registers.h"

#include "test_paths.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

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

TEST_CASE("OpenBLAS that is missing, and a library that is something else, are named") {
    const auto refusal = [](const std::vector<std::string>& candidates) {
        Diagnostics diagnostics;
        CHECK_FALSE(try_blas(candidates, diagnostics));
        REQUIRE(diagnostics.all().size() == 1);
        CHECK(diagnostics.all()[0].help == "install libopenblas0-pthread; `shardc plan` does not need it");
        return diagnostics.all()[0].code + " " + diagnostics.all()[0].message;
    };
    CHECK(refusal({"/nowhere/libopenblas.so.0"}) ==
          "E0605 OpenBLAS cannot be loaded: /nowhere/libopenblas.so.0: cannot open shared object file: No such file or "
          "directory");
    CHECK(refusal({"/nowhere/libopenblas.so.0", "libm.so.6"}) ==
          "E0605 OpenBLAS cannot be loaded: libm.so.6 is not OpenBLAS");
}

TEST_CASE("OpenBLAS is loaded without threads of its own, and gives as many callers room as ask for it") {
    Diagnostics diagnostics;
    const auto threads = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                             std::filesystem::directory_iterator());
    };
    const std::ptrdiff_t before = threads();
    REQUIRE(load_blas(diagnostics));
    CHECK(threads() == before);
    CHECK(reserve_blas(3, diagnostics) == 3);
    CHECK(reserve_blas(2, diagnostics) == 2); // they are there already
    CHECK(diagnostics.all().empty());
}

TEST_CASE("OpenBLAS that does not know the processor takes the kernels that it has") {
    CHECK(core_in_place_of("Zen").empty());
    CHECK(core_in_place_of("Cooperlake").empty());
    CHECK(core_in_place_of("Prescott").empty() == !has_wide_registers());
    Diagnostics diagnostics;
    REQUIRE(load_blas(diagnostics));
    if (std::getenv("OPENBLAS_CORETYPE") == nullptr) CHECK(core_in_place_of(blas_core()).empty());
}

TEST_CASE("the program itself does not load OpenBLAS") {
    FILE* pipe = popen("ldd " SHARDC_EXECUTABLE, "r");
    REQUIRE(pipe != nullptr);
    std::string printed;
    for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    CHECK(printed.find("libstdc++") != std::string::npos);
    CHECK(printed.find("blas") == std::string::npos);
}

} // namespace shard
