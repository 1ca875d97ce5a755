#include "executor/engine/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace shard {

namespace {

struct PluginOf {
    std::string_view name, file, package, headers;
};

PluginOf plugin_of(MpiLibrary library) {
    if (library == MpiLibrary::open_mpi) return {"Open MPI", "libshardc_openmpi.so", "openmpi-bin", "libopenmpi-dev"};
    return {"MPICH", "libshardc_mpich.so", "mpich", "libmpich-dev"};
}

// Beside the program in a build, in lib/shardc/ of where it is installed.
std::vector<std::string> folders() {
    std::array<char, 4096> path = {};
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    if (length <= 0) return {};
    const std::string program(path.data(), static_cast<size_t>(length));
    const std::string folder = program.substr(0, program.rfind('/'));
    return {folder, folder + "/../" SHARDC_PLUGIN_FOLDER};
}

std::string find_plugin(std::string_view file) {
    for (const std::string& folder : folders()) {
        const std::string path = fmt::format("{}/{}", folder, file);
        if (::access(path.c_str(), R_OK) == 0) return path;
    }
    return {};
}

// Global: the library loads parts of its own, which look for its names.
std::unique_ptr<Transport> load(const std::string& path, std::string& problem) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) {
        problem = dlerror();
        return nullptr;
    }
    const MakeTransport make = reinterpret_cast<MakeTransport>(dlsym(handle, make_transport_name));
    std::unique_ptr<Transport> transport(make == nullptr ? nullptr : make(transport_version));
    if (!transport) problem = path + " is of another version of shardc";
    return transport;
}

} // namespace

std::optional<MpiLibrary> started_by(const ReadVariable& variable) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"})
        if (variable(name) != nullptr) return MpiLibrary::open_mpi;
    for (const char* name : {"PMI_RANK", "PMI_SIZE", "PMI_FD"})
        if (variable(name) != nullptr) return MpiLibrary::mpich;
    return std::nullopt;
}

std::unique_ptr<Transport> load_mpi(Diagnostics& diagnostics) {
    const std::optional<MpiLibrary> started = started_by([](const char* name) { return std::getenv(name); });
    std::string problem, path;
    if (const char* named = std::getenv("SHARDC_MPI_PLUGIN")) path = named;
    const MpiLibrary first = started.value_or(MpiLibrary::open_mpi);
    if (path.empty()) path = find_plugin(plugin_of(first).file);
    if (path.empty() && !started) path = find_plugin(plugin_of(MpiLibrary::mpich).file);
    // Processes that srun started without an interface to MPI would each take themselves for the only one.
    const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
    if (!started && tasks != nullptr && std::string_view(tasks) != "1") {
        diagnostics.error("E0616", {}, fmt::format("srun started {} processes that do not know of each other", tasks))
            .help("srun --mpi=pmix is for Open MPI, srun --mpi=pmi2 for MPICH");
        return nullptr;
    }
    if (!path.empty())
        if (std::unique_ptr<Transport> transport = load(path, problem)) return transport;
    const PluginOf plugin = plugin_of(first);
    if (path.empty())
        diagnostics
            .error("E0616", {},
                   started ? fmt::format("{} started this process, and this shardc was built without it", plugin.name)
                           : "this shardc was built without an MPI library")
            .help(fmt::format("install {} (or {}) and build shardc again: its plugin is {}", plugin.headers,
                              first == MpiLibrary::open_mpi ? "libmpich-dev" : "libopenmpi-dev", plugin.file));
    else
        diagnostics.error("E0616", {}, fmt::format("the plugin for MPI cannot be loaded: {}", problem))
            .help(fmt::format("install {}, whose mpirun starts the ranks", plugin.package));
    return nullptr;
}

} // namespace shard
