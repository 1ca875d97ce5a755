// Amounts as people read them, the same in messages and reports: three or four digits and a unit.
//
//     bytes_text(24576) "24 KiB"    bytes_text(1000) "1000 B"    seconds_text(2.33e-5) "23.3 us"    seconds_text(0) "0
//     s"
#pragma once

#include "plans/base.h"

#include <string>

namespace shard {

std::string bytes_text(i64 bytes);
std::string seconds_text(double seconds);

} // namespace shard
