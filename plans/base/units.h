// Figures as people read them. Three significant digits; the exact figure is given beside them where it matters.
//
//     human_bytes(24576)  "24.0 KiB"     exact_bytes(24576)  "24.0 KiB (24,576 B)"     human_seconds(1.2e-5)  "12.0 us"
#pragma once

#include "plans/base/base.h"

#include <string>

namespace shard {

std::string human_bytes(i64 bytes);          // binary units; plain "512 B" below 1 KiB
std::string exact_bytes(i64 bytes);          // with the exact count, unless it is below 1 KiB
std::string grouped(i64 number);             // "24,576"
std::string human_seconds(double seconds);   // "0 s", "1.20 us", "3.40 ms", "2.50 s"
std::string human_flops(i64 flops);          // "4.19 MFLOP"
std::string percent(double part, double of); // "12.5%", "<0.1%" for what would round to nothing; "-" if `of` is 0

// "1 collective", "2 collectives".
std::string counted(i64 count, const std::string& noun);

// "[####......]": `part` of `of`, at least one mark if part > 0.
std::string bar(double part, double of, int width);

} // namespace shard
