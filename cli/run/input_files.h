// --input and --data of `run`: arrays of .npy files in place of what initializers make.
#pragma once

#include "cli/command/command.h"
#include "executor/formats/tensor.h"
#include "plans/plan/plan.h"

#include <map>

namespace shard {

// One file for each name, and one name for each output, so that none of them is silently left aside: E0701.
void check_given_once(const Arguments& arguments, Diagnostics& diagnostics);

// The files of the option, in the types of the plan's inputs. E0706 for an unknown name, E06xx for a file that does not
// fit, W0602 and W0603 for one that is converted.
std::map<std::string, Tensor> read_tensors(const Arguments& arguments, std::string_view option, const Plan& plan,
                                           Diagnostics& diagnostics);

} // namespace shard
