// Which line of the traced program an op comes from.
#pragma once

#include "importer/mlir/mlir_module.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace shard {

class TracedLines {
public:
    // Lines of files in `folder` are named from there. The module has to outlive it.
    TracedLines(const MlirModule& module, std::string folder);

    // "model.py:214", or empty: the innermost line that is the user's own. Lines of installed packages, which Python keeps
    // in folders called site-packages, are those of no user. But where most ops come from one line, as of a program that
    // calls a package's model, that says nothing: then, in its place or where there is none, the innermost line of a
    // package that has models, and is no library that they are written with: "maxtext/layers/attentions.py:97".
    std::string of(int location) const;

    // Lines of what the program has in a jax.checkpoint, or computes again for one.
    std::set<std::string> checkpointed() const;

private:
    using Line = std::pair<std::string_view, int>; // file and number

    const MlirModule& module_;
    std::string folder_;
    Line most_ = {}; // where most ops come from, or of no file
};

} // namespace shard
