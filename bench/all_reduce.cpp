// all_reduce over 8 emulated devices against a floor measured beside it: one pass of all cores that reads every
// device's buffer and writes it, once. Any all_reduce must do at least that.
//
//     bench_all_reduce [mebibytes per device] [devices] [rounds] [in_place: 0 or 1]
#include "executor/devices/arenas.h"
#include "executor/run/run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace shard {
namespace {

int add(Plan& plan, const std::string& name, i64 elements) {
    Buffer buffer;
    buffer.id = static_cast<int>(plan.buffers.size());
    buffer.name = name;
    buffer.global_shape = buffer.shape = {elements};
    buffer.sharding = replicated_sharding(1);
    buffer.bytes = elements * 4;
    buffer.offset = plan.arena_bytes;
    plan.arena_bytes += (buffer.bytes + 63) / 64 * 64;
    plan.buffers.push_back(buffer);
    return buffer.id;
}

Plan all_reduce_plan(i64 devices, i64 elements, bool in_place) {
    Plan plan;
    plan.mesh.axes = {{"a", devices, ""}};
    // The output is an input too, so that its pages are there before the clock starts.
    const int in = add(plan, "in", elements), out = add(plan, "out", elements), end = add(plan, "end", 1);
    plan.inputs = {{in, {Fill{1}, {elements}, {}}}, {out, {Fill{0}, {elements}, {}}}, {end, {Fill{0}, {1}, {}}}};
    Start start;
    start.collective.def = find_collective("all_reduce");
    start.collective.axes = {plan.mesh.whole(0)};
    start.input = in;
    start.output = in_place ? in : out;
    plan.steps = {start, Wait{0}};
    plan.outputs = {{"end", end}}; // the result itself stays in the arenas
    return plan;
}

// The same kind of memory as the devices', so that page sizes do not decide.
double floor_seconds(const Arenas& arenas, i64 devices, i64 elements, int threads) {
    std::vector<std::chrono::steady_clock::time_point> ends(static_cast<size_t>(threads)), starts(ends.size());
    std::vector<std::thread> team;
    for (size_t t = 0; t < ends.size(); ++t)
        team.emplace_back([&, t] {
            starts[t] = std::chrono::steady_clock::now();
            for (i64 device = static_cast<i64>(t); device < devices; device += threads) {
                float* values = reinterpret_cast<float*>(arenas.of(device));
                for (i64 i = 0; i < elements; ++i) values[i] += 1.0f;
            }
            ends[t] = std::chrono::steady_clock::now();
        });
    for (std::thread& thread : team) thread.join();
    return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) -
                                         *std::min_element(starts.begin(), starts.end()))
        .count();
}

int run(int argc, char** argv) {
    const auto argument = [&](int i, i64 otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
    const i64 mebibytes = argument(1, 64), devices = argument(2, 8), rounds = argument(3, 5);
    const i64 elements = mebibytes * 1024 * 1024 / 4;
    const Plan plan = all_reduce_plan(devices, elements, argument(4, 0) != 0);
    Arenas arenas;
    if (!arenas.allocate(devices, elements * 4, 0, devices)) return 1;
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    std::printf("all_reduce of %lld MiB per device over %lld devices, %d cores\n", static_cast<long long>(mebibytes),
                static_cast<long long>(devices), cores);
    std::vector<double> ratios;
    for (i64 round = 0; round < rounds; ++round) {
        floor_seconds(arenas, devices, elements, cores); // the first touches the pages
        double floor = floor_seconds(arenas, devices, elements, cores);
        for (int again = 0; again < 4; ++again)
            floor = std::min(floor, floor_seconds(arenas, devices, elements, cores));
        RunOptions options;
        options.steps = 6;
        options.poison = false;
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
        if (!result) return 1;
        std::vector<double> seconds(result->seconds.begin() + 1, result->seconds.end());
        std::sort(seconds.begin(), seconds.end());
        ratios.push_back(seconds[seconds.size() / 2] / floor);
        std::printf("  floor %6.1f ms   all_reduce %6.1f ms (least %.1f)   ratio %.2f\n", floor * 1e3,
                    seconds[seconds.size() / 2] * 1e3, seconds.front() * 1e3, ratios.back());
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("median ratio %.2f\n", ratios[ratios.size() / 2]);
    return 0;
}

} // namespace
} // namespace shard

int main(int argc, char** argv) { return shard::run(argc, argv); }
