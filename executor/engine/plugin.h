// Finds and loads what a plan is run over several processes with: libshardc_openmpi.so or libshardc_mpich.so, beside the
// program, or where it is installed. The program links neither library, whose loading would cost every command 4 ms.
#pragma once

#include "executor/engine/transport.h"
#include "plans/diagnostics/diagnostic.h"

#include <functional>
#include <memory>
#include <optional>

namespace shard {

enum class MpiLibrary { open_mpi, mpich };

// Whose mpirun started this process, as the variables say that it sets; of Slurm's srun, the one that its interface is
// usual for. nullopt if nothing says that one did.
using ReadVariable = std::function<const char*(const char* name)>;
std::optional<MpiLibrary> started_by(const ReadVariable& variable);

// nullptr with E0616 if the plugin, or the library it is for, is not there. `SHARDC_MPI_PLUGIN` names another file.
std::unique_ptr<Transport> load_mpi(Diagnostics& diagnostics);

} // namespace shard
