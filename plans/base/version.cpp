#include "plans/base/version.h"

namespace shard {

std::string tool_version() { return SHARDC_VERSION; }
std::string tool_text() { return "shardc " + tool_version(); }

} // namespace shard
