// The Python that exported modules have in common: exporter/python/*.py.
#pragma once

#include "plans/base/embedded.h"

#include <span>

namespace shard {

std::span<const EmbeddedText> embedded_python();
std::string_view embedded_text(std::string_view name); // internal error if there is none

} // namespace shard
