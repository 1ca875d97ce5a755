// A train step of the Flax NNX guide's model (two products, mean squared error, Adam) on the guide's mesh of 2 x 4
// devices, against its bare products: the two of the forward pass and the three of the backward pass, whole, as plain
// OpenBLAS on all cores. Steps and products take turns.
//
//     bench_train_step [examples] [depth] [batch] [steps]
#include "bench/right_core.h"
#include "executor/run/run.h"
#include "planner/pipeline/pipeline.h"
#include "plans/disk/file.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace shard {
namespace {

std::optional<Plan> train_plan(const std::string& folder, i64 depth, i64 batch) {
    std::string problem;
    std::optional<std::string> model = read_file(folder + "/model.yaml", problem),
                               layout = read_file(folder + "/layout.yaml", problem);
    const std::string sizes = "{batch: 8, embed: 1024, hidden: 1024}";
    const size_t at = model && layout ? model->find(sizes) : std::string::npos;
    if (at == std::string::npos) {
        std::fprintf(stderr, "%s: no model with the axes %s %s\n", folder.c_str(), sizes.c_str(), problem.c_str());
        return std::nullopt;
    }
    const std::string size = std::to_string(depth);
    model->replace(at, sizes.size(),
                   "{batch: " + std::to_string(batch) + ", embed: " + size + ", hidden: " + size + "}");
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", *model);
    request.layout_file = sources.add("layout.yaml", *layout);
    request.mode = "train";
    Compilation compilation = compile(sources, request);
    for (const Diagnostic& diagnostic : compilation.diagnostics.all())
        std::fprintf(stderr, "%s\n", diagnostic.message.c_str());
    return compilation.plan;
}

// The products of a step, with operands as they lie there: z = relu(x w1) w2 and, of their gradients,
// w2' = a^T z', a' = z' w2^T, w1' = x^T a'.
class Products {
public:
    Products(i64 depth, i64 batch) : depth_(static_cast<int>(depth)), batch_(static_cast<int>(batch)) {
        for (std::vector<float>* rows : {&x_, &y_, &z_}) rows->assign(static_cast<size_t>(batch * depth), 0.01f);
        for (std::vector<float>* weights : {&w1_, &w2_, &g1_, &g2_})
            weights->assign(static_cast<size_t>(depth * depth), 0.01f);
    }

    double flop() const { return 5 * 2.0 * batch_ * depth_ * depth_; }

    double seconds(int threads) {
        openblas_set_num_threads(threads);
        const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
        rows(CblasNoTrans, x_, w1_, y_);
        rows(CblasNoTrans, y_, w2_, z_);
        weights(y_, z_, g2_);
        rows(CblasTrans, z_, w2_, y_);
        weights(x_, y_, g1_);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        openblas_set_num_threads(1); // as the executor has it
        return elapsed.count();
    }

private:
    void rows(CBLAS_TRANSPOSE transpose, const std::vector<float>& a, const std::vector<float>& w,
              std::vector<float>& out) const {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose, batch_, depth_, depth_, 1, a.data(), depth_, w.data(),
                    depth_, 0, out.data(), depth_);
    }
    void weights(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& out) const {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, depth_, depth_, batch_, 1, a.data(), depth_, b.data(),
                    depth_, 0, out.data(), depth_);
    }

    int depth_, batch_;
    std::vector<float> x_, y_, z_, w1_, w2_, g1_, g2_;
};

int run(int argc, char** argv) {
    const auto argument = [&](int i, i64 otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
    const std::string examples = argc > 1 ? argv[1] : "examples";
    const i64 depth = argument(2, 4096), batch = argument(3, 1024), steps = argument(4, 7);
    const std::optional<Plan> plan = train_plan(examples + "/nnx_guide", depth, batch);
    if (!plan) return 1;
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    Products products(depth, batch);
    std::printf("a train step of depth %lld and batch %lld on %lld devices, %d cores\n", static_cast<long long>(depth),
                static_cast<long long>(batch), static_cast<long long>(plan->mesh.device_count()), cores);
    std::vector<double> ratios;
    RunOptions options;
    options.steps = static_cast<int>(steps) + 1;
    options.poison = false;
    options.after_step = [&](const StepView& view) {
        const double bare = products.seconds(cores);
        if (view.step == 0) return true; // touches the arenas and starts the library's threads
        ratios.push_back(bare / view.seconds);
        std::printf("  bare products %7.1f ms (%5.1f GFLOP/s)   step %7.1f ms   ratio %.3f\n", bare * 1e3,
                    products.flop() / bare / 1e9, view.seconds * 1e3, ratios.back());
        return true;
    };
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(*plan, options, diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.all()) std::fprintf(stderr, "%s\n", diagnostic.message.c_str());
    if (!result || ratios.empty()) return 1;
    std::sort(ratios.begin(), ratios.end());
    std::printf("median ratio %.3f, from %.3f to %.3f (aim 0.8)\n", ratios[ratios.size() / 2], ratios.front(),
                ratios.back());
    return 0;
}

} // namespace
} // namespace shard

int main(int argc, char** argv) {
    shard::start_with_right_core(argv);
    return shard::run(argc, argv);
}
