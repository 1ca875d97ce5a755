// Measures this machine as plans use it: small plans that run on emulated devices, the best of a few runs. Rates are
// those of the whole machine with as many devices as cores; a profile with `cores` says so, and a mesh of more devices
// gives each its part.
#pragma once

#include "plans/base/base.h"
#include "plans/diagnostics/diagnostic.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shard {

struct CalibrateOptions {
    i64 matrix = 1024;                 // products of matrix x matrix
    i64 bytes = i64{64} * 1024 * 1024; // of every operand of a copy; far beyond the caches
    int rounds = 9;
};

struct Calibration {
    int cores = 0;
    double flops_f32 = 0, flops_f64 = 0, flops_bf16 = 0; // per second; bf16 is multiplied as f32
    double memory_bandwidth = 0;                         // bytes/s that a = b + c reads and writes
    double product_bandwidth = 0; // bytes/s of a product's operands that are put in the order it needs
    double cache_bytes = 0;       // of the last cache; 0: not known
    double cache_bandwidth = 0, cache_product_bandwidth = 0; // the same of what lies there
    // The share of flops_f32 that attention reaches, by the elements of a head, ascending: values, and a gradient.
    std::vector<std::pair<i64, double>> attention, attention_gradient;
    // Bytes/s that all devices receive in an all_gather, by the bytes of the whole value, ascending.
    std::vector<std::pair<double, double>> link_bandwidth;
    double kernel_launch = 0;            // seconds of a kernel on one element
    double collective_launch = 0;        // seconds of a collective of one element, of a device at its turn
    double pointwise = 0, functions = 0; // steps per second: sums and their kind; exp, tanh, log
};

// nullopt after an error of run_plan, for instance too little memory.
std::optional<Calibration> calibrate(const CalibrateOptions& options, Diagnostics& diagnostics);

// A hardware profile that a layout can name: `hardware: host.yaml`.
std::string calibration_yaml(const Calibration& calibration);

} // namespace shard
