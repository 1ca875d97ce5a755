// Reads texts in tests and writes what was reported as plain lines:
//     E0102 2:1+1 the key 'a' is written twice
//       label 1:1+1 first written here
//       note it is -4
//       help keep one of them      (left out where it is what is usual of the code)
#pragma once

#include "planner/model/layout.h"
#include "planner/model/model.h"

namespace shard {

std::string report_text(const Diagnostics& diagnostics);

// The reports of a text that is read as ...; empty if it was accepted. Checks that exactly the rejected have errors.
std::string yaml_problems(std::string text);
std::string model_problems(std::string text);
std::string layout_problems(std::string text);
std::string policy_problems(std::string text);

// What is read; fails the test (and shows the report) if there is any error.
Model model_of(std::string text);
Layout layout_of(std::string text);

} // namespace shard
