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
    void define(const std::string& name, Meaning meaning);
    std::optional<MlirId> find(const std::string& name, int index) const;
    // What is defined in a region ends with it: leave() takes what enter() gave.
    size_t enter() const { return hidden_.size(); }
    void leave(size_t scope);

private:
    std::map<std::string, Meaning> defined_;
    std::vector<std::pair<std::string, std::optional<Meaning>>> hidden_; // what names meant before
};

} // namespace shard
