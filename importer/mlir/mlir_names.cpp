#include "importer/mlir/mlir_names.h"

#include <utility>

namespace shard {

bool MlirNames::define(const std::string& name, Meaning meaning) {
    const std::map<std::string, std::pair<Meaning, size_t>>::iterator it = defined_.find(name);
    if (it != defined_.end() && it->second.second >= region_) return false;
    hidden_.push_back({name, it == defined_.end() ? std::nullopt : std::optional(it->second)});
    defined_.insert_or_assign(name, std::pair(meaning, hidden_.size() - 1));
    return true;
}

std::optional<MlirId> MlirNames::find(const std::string& name, int index) const {
    const std::map<std::string, std::pair<Meaning, size_t>>::const_iterator it = defined_.find(name);
    if (it == defined_.end() || index < 0 || index >= it->second.first.count) return std::nullopt;
    return it->second.first.first + index;
}

size_t MlirNames::enter() { return std::exchange(region_, hidden_.size()); }

void MlirNames::leave(size_t outer) {
    for (; hidden_.size() > region_; hidden_.pop_back()) {
        if (hidden_.back().before)
            defined_.insert_or_assign(hidden_.back().name, *hidden_.back().before);
        else
            defined_.erase(hidden_.back().name);
    }
    region_ = outer;
}

} // namespace shard
