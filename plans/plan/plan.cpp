#include "plans/plan/plan.h"

#include "plans/base/sha1.h"

#include <fmt/format.h>

namespace shard {

bool Loop::operator==(const Loop&) const = default;

std::string digest_of(std::string_view text) {
    std::string out;
    for (std::uint8_t byte : sha1(text)) out += fmt::format("{:02x}", byte);
    return out;
}

} // namespace shard
