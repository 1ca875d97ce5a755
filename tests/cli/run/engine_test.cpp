// What --engine needs, and what it does not go together with; under mpirun it is tested in tests/mpi/.
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace shard {

TEST_CASE("the engine for MPI says what to install, and what it cannot do") {
    MemoryFiles files;
    files.files["model.yaml"] = "model: line\ninputs: {x: {shape: [8]}}\ngraph: [{y: {neg: x}}]\noutputs: [y]\n";
    files.files["layout.yaml"] = "mesh: {d: 2}\n";
    const auto says = [&files](const std::string& options, const std::string& text) {
        const CommandResult result = run_command(files, "run model.yaml layout.yaml " + options);
        CAPTURE(result.err);
        CHECK(result.code == 2);
        CHECK(result.out.empty());
        CHECK(result.err.find(text) != std::string::npos);
    };
    ::setenv("SHARDC_MPI_PLUGIN", "/nowhere.so", 1);
    says("--engine mpi",
         "error[E0616]: the plugin for MPI cannot be loaded: /nowhere.so: cannot open shared object file");
    ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    says("--engine mpi", "error[E0616]: srun started 4 processes that do not know of each other");
    ::unsetenv("SLURM_STEP_NUM_TASKS");
    ::unsetenv("SHARDC_MPI_PLUGIN");
    says("--timeout 5", "error[E0701]: --timeout says how long ranks wait");
    says("--collectives native", "error[E0701]: --collectives native are those of MPI");
    says("--root-reads", "error[E0701]: --root-reads says which rank reads");
    says("--engine mpi --timeout soon", "error[E0701]: --timeout takes a whole number of seconds");
    CHECK(run_command(files, "run - layout.yaml --engine mpi", files.files["model.yaml"]).err.find("reads no stdin") !=
          std::string::npos);
    CHECK(run_command(files, "run model.yaml layout.yaml --engine emulation").code == 0);
}

} // namespace shard
