// Planning as a whole process. Started in turn, round after round, and compared by medians within the run:
//   version    `shardc --version`: the least that any run of the program costs
//   gpt2       examples/gpt2, 12 layers on 8 devices
//   gpt2 x 4   the same with 48 layers: time grows with the layers, not faster
//   8          examples/dot_relu_dot on 2 x 4 devices
//   1048576    the same on 1024 x 1024 devices: time does not grow with devices
//
//     bench_plan_gpt2 SHARDC [examples] [rounds]
#include "plans/disk/file.h"
#include "plans/disk/output_file.h"

#include <spawn.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

extern char** environ;

namespace {

// Seconds of one run with its output thrown away; negative if it failed.
double run_seconds(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    pid_t child = 0;
    int status = -1;
    const bool started = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
    if (started) waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    if (!started || status != 0) return -1;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A copy of a text file with `from` replaced; the path of the copy, empty if it cannot be made.
std::string changed(const std::string& folder, const std::string& name, const std::string& file,
                    const std::vector<std::pair<std::string, std::string>>& replacements) {
    std::string problem;
    std::optional<std::string> text = shard::read_file(file, problem);
    for (const auto& [from, to] : replacements) {
        const size_t at = text ? text->find(from) : std::string::npos;
        if (at == std::string::npos) {
            std::fprintf(stderr, "%s: no '%s' %s\n", file.c_str(), from.c_str(), problem.c_str());
            return {};
        }
        text->replace(at, from.size(), to);
    }
    const std::string path = folder + "/" + name;
    if (!text || !shard::write_file_atomically(path, *text, problem)) {
        std::fprintf(stderr, "%s: %s\n", path.c_str(), problem.c_str());
        return {};
    }
    return path;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Case {
    const char* name;
    std::vector<std::string> words;
    std::vector<double> seconds;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "bench_plan_gpt2 SHARDC [examples] [rounds]\n");
        return 2;
    }
    const std::string shardc = argv[1], examples = argc > 2 ? argv[2] : "examples";
    const int rounds = argc > 3 ? std::max(1, std::atoi(argv[3])) : 15;
    std::string pattern = (std::filesystem::temp_directory_path() / "bench_plan_XXXXXX").string();
    const char* folder = mkdtemp(pattern.data());
    if (folder == nullptr) return 1;
    const std::string gpt2 = examples + "/gpt2/", small = examples + "/dot_relu_dot/";
    const std::string deep = changed(folder, "deep.yaml", gpt2 + "model.yaml", {{"times: 12", "times: 48"}});
    const std::string wide_model =
        changed(folder, "model.yaml", small + "model.yaml", {{"batch: 8", "batch: 1048576"}});
    const std::string wide_layout =
        changed(folder, "layout.yaml", small + "layout.yaml", {{"data: 2", "data: 1024"}, {"model: 4", "model: 1024"}});
    std::vector<Case> cases = {{"version", {shardc, "--version"}, {}},
                               {"gpt2", {shardc, "plan", gpt2 + "model.yaml", gpt2 + "layout.yaml"}, {}},
                               {"gpt2 x 4", {shardc, "plan", deep, gpt2 + "layout.yaml"}, {}},
                               {"8", {shardc, "plan", small + "model.yaml", small + "layout.yaml"}, {}},
                               {"1048576", {shardc, "plan", wide_model, wide_layout}, {}}};
    int code = 0;
    for (int round = 0; round < rounds && code == 0; ++round)
        for (Case& one : cases) {
            one.seconds.push_back(run_seconds(one.words));
            if (one.seconds.back() >= 0) continue;
            std::fprintf(stderr, "%s failed\n", one.name);
            code = 1;
        }
    for (const std::string& file : {deep, wide_model, wide_layout}) unlink(file.c_str());
    rmdir(folder);
    if (code != 0) return code;
    std::printf("case        median ms   least ms   of --version\n");
    const double version = median(cases[0].seconds);
    for (const Case& one : cases)
        std::printf("%-10s %10.2f %10.2f %14.2f\n", one.name, median(one.seconds) * 1e3,
                    *std::min_element(one.seconds.begin(), one.seconds.end()) * 1e3, median(one.seconds) / version);
    std::printf("4 times the layers: %.2f times the time; 131072 times the devices: %.2f times the time\n",
                median(cases[2].seconds) / median(cases[1].seconds),
                median(cases[4].seconds) / median(cases[3].seconds));
    return 0;
}
