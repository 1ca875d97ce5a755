// The layout that `init` writes: meshes of the devices, with what a layout may split over them, each planned, and the
// fastest that fits taken.
#pragma once

#include "cli/inputs/inputs.h"
#include "importer/huggingface/family.h"

#include <functional>

namespace shard {

struct LayoutCandidate {
    i64 replica = 1, data = 1, model = 1; // sizes of mesh axes; their product is the number of devices
    bool fsdp = false;                    // parameters split over data
    bool sequence = false;                // between blocks, sequences split over model
    bool experts_over_data = false;
    std::string text = {}; // the layout file
    std::optional<Plan> plan = {};
    std::string problem = {}; // the code of the first error, where there is no plan
    bool fits = false;
};

struct LayoutAsked {
    i64 devices = 8;
    std::string hardware;
    std::vector<FamilyAxis> axes; // of the model
    std::string mode = "train";
    std::vector<std::string> settings; // as of --set
};

// "data 8 x model 8, fsdp"
std::string candidate_name(const LayoutCandidate& candidate);

// All of them planned, the best first: those that fit by the time of a step, then the others by memory, then those
// without a plan. `tell` hears of each that is planned, how many are and of how many; one call at a time.
std::vector<LayoutCandidate> planned_candidates(const LoadedModel& model, const LayoutAsked& asked,
                                                const std::function<void(size_t, size_t)>& tell = {});

} // namespace shard
