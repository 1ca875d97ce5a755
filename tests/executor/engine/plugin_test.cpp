#include "executor/engine/plugin.h"

#include <doctest/doctest.h>

#include <string>

namespace shard {

TEST_CASE("whose mpirun started the process follows from the variables that it sets") {
    const auto with = [](std::string_view set) {
        return started_by([set](const char* name) { return set == name ? "0" : nullptr; });
    };
    CHECK(with("OMPI_COMM_WORLD_SIZE") == MpiLibrary::open_mpi);
    CHECK(with("PMIX_RANK") == MpiLibrary::open_mpi);
    CHECK(with("PMI_RANK") == MpiLibrary::mpich);
    CHECK(with("PMI_SIZE") == MpiLibrary::mpich);
    CHECK_FALSE(with("HOME"));
}

} // namespace shard
