#include "importer/mlir/mlir_names.h"

namespace shard {

void MlirNames::define(const std::string& name, Meaning meaning) {
    const std::map<std::string, Meaning>::iterator it = defined_.find(name);
    hidden_.emplace_back(name, it == defined_.end() ? std::nullopt : std::optional<Meaning>(it->second));
    defined_[name] = meaning;
}

std::optional<MlirId> MlirNames::find(const std::string& name, int index) const {
    const std::map<std::string, Meaning>::const_iterator it = defined_.find(name);
    if (it == defined_.end() || index < 0 || index >= it->second.count) return std::nullopt;
    return it->second.first + index;
}

void MlirNames::leave(size_t scope) {
    for (; hidden_.size() > scope; hidden_.pop_back()) {
        if (hidden_.back().second)
            defined_[hidden_.back().first] = *hidden_.back().second;
        else
            defined_.erase(hidden_.back().first);
    }
}

} // namespace shard
