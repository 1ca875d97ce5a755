// Any text, sealed with a right checksum, either is refused with a diagnostic or is a plan that prints and parses to
// itself. Without the seal the checksum would turn every mutation away at the door.
#include "plans/file/plan_json.h"
#include "plans/plan/plan.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    const std::string text = shard::seal_plan(std::string(reinterpret_cast<const char*>(data), size));
    shard::Diagnostics diagnostics;
    const std::optional<shard::Plan> plan = shard::parse_plan(text, diagnostics);
    if (!plan) {
        if (!diagnostics.has_error()) std::abort(); // refused without saying why
        return 0;
    }
    const std::string printed = shard::print_plan(*plan);
    const std::optional<shard::Plan> again = shard::parse_plan(printed, diagnostics);
    if (!again || shard::print_plan(*again) != printed) std::abort();
    return 0;
}
