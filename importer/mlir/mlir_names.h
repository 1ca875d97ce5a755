// What the names of values stand for, %0 and %x, in the regions that a place is in.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

// A name with its first value, and how many there are: %0:2 is %0#0 and %0#1.
class MlirNames {
public:
    struct Meaning {
        MlirId first = 0;
        int count = 0;
    };
    bool define(const std::string& name, Meaning meaning); // false if this region has the name already
    std::optional<MlirId> find(const std::string& name, int index) const;
    // What is defined in a region ends with it: leave() takes what enter() gave.
    size_t enter();
    void leave(size_t outer);

private:
    struct Hidden {
        std::string name;
        std::optional<std::pair<Meaning, size_t>> before; // what it meant, and where that stands in `hidden_`
    };
    std::map<std::string, std::pair<Meaning, size_t>> defined_;
    std::vector<Hidden> hidden_; // one for each definition of the regions that the place is in
    size_t region_ = 0;          // where those of the innermost region begin
};

} // namespace shard
