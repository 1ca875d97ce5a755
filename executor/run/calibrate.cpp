#include "executor/run/calibrate.h"

#include "executor/run/run.h"
#include "plans/kernel/kernel_scratch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace shard {

namespace {

// Buffers one behind the other on a mesh of one axis; every device computes the same, or exchanges with its neighbours.
class Bench {
public:
    explicit Bench(i64 devices) { plan_.mesh.axes = {{"device", devices, ""}}; }

    int buffer(const std::string& name, DType dtype, Shape shape, bool input) {
        Buffer made;
        made.id = static_cast<int>(plan_.buffers.size());
        made.name = name;
        made.dtype = dtype;
        made.sharding = replicated_sharding(static_cast<int>(shape.size()));
        made.shape = made.global_shape = shape;
        made.bytes = element_count(shape) * byte_size(dtype);
        made.offset = take(made.bytes);
        if (input) plan_.inputs.push_back({made.id, {Fill{0.5}, std::move(shape), {}}});
        plan_.buffers.push_back(std::move(made));
        return plan_.buffers.back().id;
    }

    void compute(Kernel kernel, std::vector<int> inputs, int output) {
        std::vector<TensorType> types;
        for (int id : inputs) types.push_back(type_of(id));
        Compute step;
        step.scratch_bytes = scratch_bytes(kernel, types, type_of(output));
        step.scratch_offset = take(step.scratch_bytes);
        step.kernel = std::move(kernel);
        step.inputs = std::move(inputs);
        step.output = output;
        plan_.steps.push_back(std::move(step));
    }

    // Every device receives the vectors of all.
    void all_gather(int input, int output) {
        Start start;
        start.collective.def = collective_with({.from = true});
        start.collective.axes = {plan_.mesh.whole(0)};
        start.collective.moves = {{0, -1, start.collective.axes}};
        start.input = input;
        start.output = output;
        start.token = tokens_++;
        plan_.steps.push_back(start);
        plan_.steps.push_back(Wait{start.token});
    }

    // The least of some runs; the first, which touches the memory, does not count.
    std::optional<double> seconds(int rounds, Diagnostics& diagnostics) {
        RunOptions options;
        options.steps = rounds + 1;
        options.poison = false;
        const std::optional<RunResult> result = run_plan(plan_, options, diagnostics);
        if (!result) return std::nullopt;
        return std::max(1e-9, *std::min_element(result->seconds.begin() + 1, result->seconds.end()));
    }

private:
    TensorType type_of(int id) const {
        const Buffer& buffer = plan_.buffers[id];
        return {buffer.dtype, buffer.shape, {}};
    }
    i64 take(i64 bytes) {
        const i64 offset = plan_.arena_bytes;
        plan_.arena_bytes += (bytes + 63) / 64 * 64;
        plan_.peak_bytes = plan_.arena_bytes;
        return offset;
    }
    Plan plan_;
    int tokens_ = 0;
};

// Bytes of the cache that is farthest from a core; 0: the system does not say.
double last_cache() {
    for (const int index : {4, 3, 2}) {
        std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
        i64 size = 0;
        char unit = 0;
        if (file >> size >> unit && size > 0) return static_cast<double>(size) * (unit == 'M' ? 1 << 20 : 1 << 10);
    }
    return 0;
}

// Of two vectors: each step takes the result of the one before, and the second vector if it takes two operands.
Pointwise chain(std::span<const ScalarOp> ops) {
    Pointwise kernel;
    kernel.input_dims = {{0}, {0}};
    ScalarStep step;
    step.dtype = DType::f32;
    step.op = ScalarOp::input;
    step.args[0] = 1;
    kernel.steps.push_back(step);
    step.args[0] = 0;
    kernel.steps.push_back(step);
    for (const ScalarOp op : ops) {
        step.op = op;
        step.args = {static_cast<int>(kernel.steps.size()) - 1, arity(op) == 2 ? 0 : -1, -1};
        kernel.steps.push_back(step);
    }
    return kernel;
}

// Of one of `products` of `rows` rows with a square matrix, each with its own.
std::optional<double> product_seconds(i64 devices, i64 rows, int products, DType dtype, const CalibrateOptions& options,
                                      Diagnostics& diagnostics) {
    const i64 n = options.matrix;
    Bench bench(devices);
    const int a = bench.buffer("a", dtype, {rows, n}, true), c = bench.buffer("c", dtype, {rows, n}, false);
    for (int product = 0; product < products; ++product)
        bench.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {a, bench.buffer("b", dtype, {n, n}, true)}, c);
    const std::optional<double> seconds = bench.seconds(options.rounds, diagnostics);
    return seconds ? std::optional(*seconds / products) : std::nullopt;
}

// FLOP/s of attention with heads of `width` elements.
std::optional<double> attention_rate(i64 devices, i64 width, AttendPart part, const CalibrateOptions& options,
                                     Diagnostics& diagnostics) {
    const i64 length = std::max<i64>(1, options.matrix / 16); // short ones are what is run on emulated devices
    const Shape shape = {1, length, 4, width}, rows = {1, length, 4};
    Bench bench(devices);
    const AttendInputs at = attend_inputs(part);
    std::vector<int> inputs(static_cast<size_t>(at.count));
    std::vector<TensorType> types;
    for (int i = 0; i < at.count; ++i) {
        const Shape& of = i == at.logsumexp || i == at.mean ? rows : shape;
        inputs[static_cast<size_t>(i)] = bench.buffer("x" + std::to_string(i), DType::f32, of, true);
        types.push_back({DType::f32, of, {}});
    }
    Attend attend;
    attend.part = part;
    const double flops = static_cast<double>(attend_flops(attend, attend_sizes(part, types)));
    bench.compute(std::move(attend), inputs, bench.buffer("y", DType::f32, shape, false));
    const std::optional<double> seconds = bench.seconds(options.rounds, diagnostics);
    return seconds ? std::optional(flops * static_cast<double>(devices) / *seconds) : std::nullopt;
}

// Of one of `kernels` kernels that apply `ops` to vectors.
std::optional<double> chain_seconds(i64 devices, i64 elements, std::span<const ScalarOp> ops, int kernels,
                                    const CalibrateOptions& options, Diagnostics& diagnostics) {
    Bench bench(devices);
    const int a = bench.buffer("a", DType::f32, {elements}, true), b = bench.buffer("b", DType::f32, {elements}, true);
    const int c = bench.buffer("c", DType::f32, {elements}, false);
    for (int kernel = 0; kernel < kernels; ++kernel) bench.compute(chain(ops), {a, b}, c);
    const std::optional<double> seconds = bench.seconds(options.rounds, diagnostics);
    return seconds ? std::optional(*seconds / kernels) : std::nullopt;
}

// Of one of `collectives` all_gathers, one after the other, to each of a group.
std::optional<double> gather_seconds(i64 group, i64 elements, int collectives, const CalibrateOptions& options,
                                     Diagnostics& diagnostics) {
    Bench bench(group);
    const int part = bench.buffer("part", DType::f32, {elements}, true);
    const int whole = bench.buffer("whole", DType::f32, {group * elements}, false);
    for (int n = 0; n < collectives; ++n) bench.all_gather(part, whole);
    const std::optional<double> seconds = bench.seconds(options.rounds, diagnostics);
    return seconds ? std::optional(*seconds / collectives) : std::nullopt;
}

} // namespace

std::optional<Calibration> calibrate(const CalibrateOptions& options, Diagnostics& diagnostics) {
    Calibration found;
    found.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const i64 devices = found.cores;
    const double n = static_cast<double>(options.matrix);
    for (const auto& [dtype, flops] : {std::pair(DType::f32, &found.flops_f32), std::pair(DType::f64, &found.flops_f64),
                                       std::pair(DType::bf16, &found.flops_bf16)}) {
        const std::optional<double> seconds = product_seconds(devices, options.matrix, 1, dtype, options, diagnostics);
        if (!seconds) return std::nullopt;
        *flops = 2 * n * n * n * static_cast<double>(devices) / *seconds;
    }
    // What few rows take beyond their arithmetic is the way of the matrix into its order. Several matrices take turns,
    // as other kernels come between two uses of a parameter.
    const i64 few = std::max<i64>(1, options.matrix / 64);
    for (const auto& [matrices, rate] :
         {std::pair(4, &found.product_bandwidth), std::pair(1, &found.cache_product_bandwidth)}) {
        const std::optional<double> skinny = product_seconds(devices, few, matrices, DType::f32, options, diagnostics);
        if (!skinny) return std::nullopt;
        const double multiplying = 2 * n * n * static_cast<double>(few * devices) / found.flops_f32;
        *rate = (n + 2 * static_cast<double>(few)) * n * static_cast<double>(byte_size(DType::f32) * devices) /
                std::max(*skinny - multiplying, *skinny / 10);
    }
    for (const auto& [part, shares] : {std::pair(AttendPart::values, &found.attention),
                                       std::pair(AttendPart::query_gradient, &found.attention_gradient)}) {
        for (const i64 width : {8, 16, 32, 64, 128}) {
            const std::optional<double> reached = attention_rate(devices, width, part, options, diagnostics);
            if (!reached) return std::nullopt;
            shares->emplace_back(width, std::min(1.0, *reached / found.flops_f32));
        }
    }

    const i64 elements = std::max<i64>(1, options.bytes / byte_size(DType::f32));
    const double bytes = static_cast<double>(elements * byte_size(DType::f32));
    constexpr ScalarOp addition[] = {ScalarOp::add};
    constexpr int many = 1000;
    const std::optional<double> sums = chain_seconds(devices, elements, addition, 1, options, diagnostics);
    const i64 cached = std::max<i64>(1, elements / 256);
    const std::optional<double> nearby = chain_seconds(devices, cached, addition, 10, options, diagnostics);
    const std::optional<double> small = chain_seconds(1, 1, addition, many, options, diagnostics);
    if (!sums || !nearby || !small) return std::nullopt;
    found.memory_bandwidth = 3 * bytes * static_cast<double>(devices) / *sums;
    found.cache_bandwidth = 3 * bytes / static_cast<double>(elements / cached) * static_cast<double>(devices) / *nearby;
    found.cache_bytes = last_cache();
    found.kernel_launch = *small;

    // What lies in the nearest cache, so that nothing is waited for.
    constexpr i64 near = 2048;
    constexpr ScalarOp steps[] = {ScalarOp::mul, ScalarOp::add, ScalarOp::max, ScalarOp::sub,
                                  ScalarOp::mul, ScalarOp::add, ScalarOp::min, ScalarOp::sub};
    constexpr ScalarOp functions[] = {ScalarOp::exp, ScalarOp::tanh, ScalarOp::exp, ScalarOp::log};
    const auto rate = [&](std::span<const ScalarOp> ops) -> std::optional<double> {
        const std::optional<double> seconds = chain_seconds(devices, near, ops, many / 10, options, diagnostics);
        if (!seconds) return std::nullopt;
        return static_cast<double>(devices * near * std::ssize(ops)) / *seconds;
    };
    const std::optional<double> of_steps = rate(steps), of_functions = rate(functions);
    if (!of_steps || !of_functions) return std::nullopt;
    found.pointwise = *of_steps;
    found.functions = *of_functions;

    // As meshes are emulated: more devices than cores, whose turns at a collective are part of what it takes.
    const i64 group = std::max<i64>(2, devices), crowd = 4 * group;
    const std::optional<double> turns = gather_seconds(crowd, 1, many / 10, options, diagnostics);
    const std::optional<double> launched = gather_seconds(group, 1, many / 10, options, diagnostics);
    if (!turns || !launched) return std::nullopt;
    found.collective_launch = *turns * static_cast<double>(devices) / static_cast<double>(crowd);
    for (i64 part = elements; part * byte_size(DType::f32) >= 4096; part /= 16) {
        const std::optional<double> gathered = gather_seconds(group, part, 1, options, diagnostics);
        if (!gathered) return std::nullopt;
        const double size = static_cast<double>(group * part * byte_size(DType::f32));
        found.link_bandwidth.insert(found.link_bandwidth.begin(), {size, size * static_cast<double>(group - 1) /
                                                                             std::max(*gathered - *launched, 1e-9)});
    }
    return found;
}

std::string calibration_yaml(const Calibration& c) {
    const std::string source = "source: measured by shardc calibrate";
    double fastest = 1;
    for (const auto& [size, bandwidth] : c.link_bandwidth) fastest = std::max(fastest, bandwidth);
    // More is never sent in less time, whatever was measured.
    std::vector<std::string> shares;
    double least_seconds = 0;
    for (const auto& [size, bandwidth] : c.link_bandwidth) {
        least_seconds = std::max(size / bandwidth, least_seconds * 1.001);
        shares.push_back(fmt::format("{:.0f} B: {:.4g}", size, size / least_seconds / fastest));
    }
    const auto by_width = [](const std::vector<std::pair<i64, double>>& of) {
        std::vector<std::string> texts;
        for (const auto& [width, share] : of) texts.push_back(fmt::format("{}: {:.4g}", width, share));
        return fmt::format("{{{}}}", fmt::join(texts, ", "));
    };
    return fmt::format("hardware: measured\n"
                       "doc: \"this machine, as the executor uses it\"\n"
                       "cores: {} # that the devices of a mesh share; rates are those of all of them together\n"
                       "flops: # per second\n"
                       "  f32: {{value: {:.4e}, {}}}\n"
                       "  f64: {{value: {:.4e}, {}}}\n"
                       "  bf16: {{value: {:.4e}, {}}} # multiplied as f32\n"
                       "  pointwise: {{value: {:.4e}, {}}} # sums, products, comparisons of elements\n"
                       "  functions: {{value: {:.4e}, {}}} # exponentials, logarithms and their kind\n"
                       "attention_efficiency: # the share of f32 by the elements of a head\n"
                       "  forward: {{value: {}, {}}}\n"
                       "  gradient: {{value: {}, {}}}\n"
                       "roofline: add # a kernel's arithmetic and its bytes\n"
                       "kernel_launch: {{value: {:.4e}, {}}} # seconds\n"
                       "collective_launch: {{value: {:.4e}, {}}} # seconds\n"
                       "latency: add\n"
                       "memory:\n"
                       "  bandwidth: {{value: {:.4e}, {}}} # bytes/s\n"
                       "  products: {{value: {:.4e}, {}}} # bytes/s that they put in the order of their blocks\n"
                       "  cached: # where all that the devices touch in a step fits into the last cache\n"
                       "    bytes: {{value: {:.0f}, {}}}\n"
                       "    bandwidth: {{value: {:.4e}, {}}}\n"
                       "    products: {{value: {:.4e}, {}}}\n"
                       "links:\n"
                       "  memory:\n"
                       "    topology: uniform\n"
                       "    bandwidth: {{value: {:.4e}, {}}} # bytes/s that all devices receive\n"
                       "    efficiency: {{value: {{{}}}, {}}} # the share of it by bytes of the value\n",
                       c.cores, c.flops_f32, source, c.flops_f64, source, c.flops_bf16, source, c.pointwise, source,
                       c.functions, source, by_width(c.attention), source, by_width(c.attention_gradient), source,
                       c.kernel_launch, source, c.collective_launch, source, c.memory_bandwidth, source,
                       c.product_bandwidth, source, c.cache_bytes, source, c.cache_bandwidth, source,
                       c.cache_product_bandwidth, source, fastest, source, fmt::join(shares, ", "), source);
}

} // namespace shard
