// The executor on a chain of products (rows x width)(width x width) over 8 devices, against the same chain as plain
// OpenBLAS on all cores: prints both and the ratio. The weights are split by columns, so every product is followed by
// an all_gather.
//
//     bench_executor_chain [links] [rows] [width] [rounds]
#include "bench/right_core.h"
#include "executor/run/run.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace shard {
namespace {

class ChainBuilder {
public:
    ChainBuilder(i64 devices, i64 rows, i64 width) : rows_(rows), width_(width) {
        plan_.mesh.axes = {{"model", devices, ""}};
    }

    Plan build(int links) {
        int x = add("x", {rows_, width_}, {}, true);
        const std::vector<AxisRef> axes = {plan_.mesh.whole(0)};
        const int part = add("part", {rows_, width_}, axes, false), other = add("y", {rows_, width_}, {}, false);
        const int buffers[2] = {other, x};
        for (int link = 0; link < links; ++link) {
            const int w = add(std::string("w").append(std::to_string(link)), {width_, width_}, axes, true);
            const int y = buffers[link % 2];
            Compute product;
            product.kernel = Contract{{0, 1}, {1, 2}, {0, 2}};
            product.inputs = {x, w};
            product.output = part;
            plan_.steps.push_back(product);
            Start gather;
            gather.collective.def = find_collective("all_gather");
            gather.collective.axes = axes;
            gather.collective.moves = {{1, -1, axes}};
            gather.input = part;
            gather.output = y;
            gather.token = link;
            plan_.steps.push_back(gather);
            plan_.steps.push_back(Wait{link});
            x = y;
        }
        plan_.outputs = {{"y", x}};
        return plan_;
    }

private:
    // Split by the last dim over `axes`.
    int add(const std::string& name, Shape shape, std::vector<AxisRef> axes, bool input) {
        Buffer buffer;
        buffer.id = static_cast<int>(plan_.buffers.size());
        buffer.name = name;
        buffer.sharding = replicated_sharding(2);
        buffer.sharding.dims[1].axes = std::move(axes);
        buffer.shape = local_shape(shape, buffer.sharding);
        buffer.bytes = element_count(buffer.shape) * 4;
        buffer.offset = plan_.arena_bytes;
        plan_.arena_bytes += (buffer.bytes + 63) / 64 * 64;
        if (input) {
            Random random;
            random.distribution.kind = DistributionKind::normal;
            random.distribution.scale = 1 / 64.0;
            plan_.inputs.push_back({buffer.id, {random, shape, {}}});
        }
        buffer.global_shape = std::move(shape);
        plan_.buffers.push_back(buffer);
        return buffer.id;
    }

    i64 rows_, width_;
    Plan plan_;
};

double plain_chain(int links, i64 rows, i64 width, int threads) {
    openblas_set_num_threads(threads);
    std::vector<float> x(static_cast<size_t>(rows * width), 0.01f), y(x.size());
    std::vector<std::vector<float>> weights(static_cast<size_t>(links),
                                            std::vector<float>(static_cast<size_t>(width * width), 0.01f));
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    const int m = static_cast<int>(rows), n = static_cast<int>(width);
    for (const std::vector<float>& w : weights) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, n, 1, x.data(), n, w.data(), n, 0, y.data(), n);
        std::swap(x, y);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The products alone, as devices make them: columns split over `devices`, each by one thread, as many at a time as there
// are cores.
double split_chain(int links, i64 rows, i64 width, i64 devices, int cores) {
    openblas_set_num_threads(1);
    const i64 columns = width / devices;
    const std::vector<float> x(static_cast<size_t>(rows * width), 0.01f);
    std::vector<std::vector<float>> weights(static_cast<size_t>(links * devices),
                                            std::vector<float>(static_cast<size_t>(width * columns), 0.01f));
    std::vector<std::vector<float>> parts(static_cast<size_t>(devices),
                                          std::vector<float>(static_cast<size_t>(rows * columns)));
    const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(width);
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    const auto work = [&](i64 first) {
        for (i64 device = first; device < devices; device += cores)
            for (int link = 0; link < links; ++link)
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x.data(), k,
                            weights[static_cast<size_t>(device * links + link)].data(), n, 0,
                            parts[static_cast<size_t>(device)].data(), n);
    };
    std::vector<std::thread> threads;
    for (int core = 1; core < cores; ++core) threads.emplace_back(work, core);
    work(0);
    for (std::thread& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(int argc, char** argv) {
    const auto argument = [&](int i, i64 otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
    const int links = static_cast<int>(argument(1, 4));
    const i64 rows = argument(2, 1024), width = argument(3, 4096), rounds = argument(4, 5);
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const Plan plan = ChainBuilder(8, rows, width).build(links);
    const double flop = 2.0 * static_cast<double>(links) * static_cast<double>(rows) * static_cast<double>(width) *
                        static_cast<double>(width);
    std::printf("%d products (%lld x %lld)(%lld x %lld) over 8 devices, %d cores\n", links,
                static_cast<long long>(rows), static_cast<long long>(width), static_cast<long long>(width),
                static_cast<long long>(width), cores);
    std::vector<double> ratios;
    plain_chain(links, rows, width, cores); // the first one pays for the library's threads
    for (i64 round = 0; round < rounds; ++round) {
        const double plain = plain_chain(links, rows, width, cores), split = split_chain(links, rows, width, 8, cores);
        RunOptions options;
        options.steps = 2; // the first touches the arenas
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
        for (const Diagnostic& diagnostic : diagnostics.all()) std::fprintf(stderr, "%s\n", diagnostic.message.c_str());
        if (!result) return 1;
        const double ours = result->seconds.back();
        ratios.push_back(plain / ours);
        std::printf("  plain OpenBLAS %7.1f GFLOP/s   as devices make them %7.1f GFLOP/s   executor %7.1f GFLOP/s   "
                    "ratio %.3f\n",
                    flop / plain / 1e9, flop / split / 1e9, flop / ours / 1e9, plain / ours);
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("median ratio %.3f (aim 0.9)\n", ratios[ratios.size() / 2]);
    return 0;
}

} // namespace
} // namespace shard

int main(int argc, char** argv) {
    shard::start_with_right_core(argv);
    return shard::run(argc, argv);
}
