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
    int rounds = 5;
};

struct Calibration {
    int cores = 0;
    double flops_f32 = 0, flops_f64 = 0, flops_bf16 = 0; // per second; bf16 is multiplied as f32
    double memory_bandwidth = 0;                         // bytes/s that a = b + c reads and writes
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
