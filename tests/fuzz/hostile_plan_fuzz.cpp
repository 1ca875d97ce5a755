// A plan file, sealed with a right checksum, and changes to its fields: what the check of a plan accepts runs inside
// its memory. The input is the changes as 32-bit numbers, a line "====", and the file.
#include "executor/run/run.h"
#include "plans/file/plan_json.h"
#include "plans/plan/plan_check.h"
#include "tests/fuzz/reading_fuzz.h"
#include "tests/support/mutate_plan.h"

#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    constexpr std::string_view divider = "\n====\n";
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const size_t middle = text.find(divider);
    if (middle == std::string_view::npos) return 0;
    std::vector<std::uint32_t> tape(middle / sizeof(std::uint32_t));
    if (!tape.empty()) std::memcpy(tape.data(), data, tape.size() * sizeof(std::uint32_t));
    shard::Diagnostics diagnostics;
    std::optional<shard::Plan> plan =
        shard::parse_plan(shard::seal_plan(std::string(text.substr(middle + divider.size()))), diagnostics);
    if (!plan) return 0;
    if (!tape.empty()) shard::mutate_plan(*plan, tape);
    if (!shard::plan_problems(*plan).empty() || !shard::is_small(*plan)) return 0;
    shard::RunOptions options;
    options.workers = 1;
    const std::optional<shard::RunResult> result = shard::run_plan(*plan, options, diagnostics);
    if (result) shard::require(result->touched_peak_bytes <= plan->peak_bytes);
    return 0;
}
