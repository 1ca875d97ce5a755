// Which line of the traced program an op comes from.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

// "model.py:214", or empty: the innermost line that is the user's own, named from `folder` if it lies there. Lines of
// installed packages, which Python keeps in folders called site-packages, are those of no user.
std::string own_line(const MlirModule& module, int location, const std::string& folder);

} // namespace shard
