// Random models and layouts as the YAML a user would write. A case is decoded from a tape of numbers, so a
// property-test library that shrinks lists of numbers shrinks models: fewer and smaller numbers mean fewer, simpler
// ops. Every tape gives a valid model and layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shard {

struct RandomCase {
    std::string model, layout;
    int workers = 0; // to run it with; 0 = as many as fit
};

struct RandomCaseOptions {
    bool integers_only = false;        // only ops that keep small integers whole numbers
    bool f64_only = false;             // f64 wherever another case may have f32 or bf16
    std::int64_t most_elements = 8192; // of a value; a graph ends with a larger one
    bool uneven = false;               // axes need not divide dims, which are padded then; meshes are small
};

RandomCase random_case(const std::vector<std::uint32_t>& tape, const RandomCaseOptions& options = {});

} // namespace shard
