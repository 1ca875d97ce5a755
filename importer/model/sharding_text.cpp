#include "importer/model/sharding_text.h"

#include "importer/model/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

// {"data", "model":(1)2, ?}p1 is one entry: data, "data:(1)2", with "?" where it is open and "@1" of a priority.
std::optional<std::string> dim_text(const MlirItem& dim) {
    if (dim.parts.empty() || dim.parts[0].kind != MlirAttribute::Kind::list) return std::nullopt;
    std::vector<std::string> axes;
    bool open = false;
    for (const MlirItem& axis : dim.parts[0].items) {
        if (axis.parts.empty()) return std::nullopt;
        const MlirAttribute& name = axis.parts[0];
        if (name.text == "?" && axis.parts.size() == 1) {
            open = true;
            continue;
        }
        if (axis.parts.size() != 1 || name.kind != MlirAttribute::Kind::text || name_text(name.text) != name.text)
            return std::nullopt;
        axes.push_back(name.text);
    }
    std::string after = open ? "?" : "";
    if (dim.parts.size() == 2 && dim.parts[1].text.starts_with('p')) after += "@" + dim.parts[1].text.substr(1);
    if (axes.size() > 1 && !after.empty()) return std::nullopt;
    if (axes.empty()) return open ? std::string("\"?\"") : std::string("~");
    if (axes.size() > 1) return fmt::format("[{}]", fmt::join(axes, ", "));
    return after.empty() ? axes[0] : fmt::format("\"{}{}\"", axes[0], after);
}

} // namespace

std::optional<size_t> sharding_rank(const MlirAttribute& sharding) {
    if (sharding.items.size() != 2 || sharding.items[1].parts.size() != 1) return std::nullopt;
    return sharding.items[1].parts[0].items.size();
}

std::optional<std::string> sharding_text(const MlirAttribute& sharding) {
    if (!sharding_rank(sharding)) return std::nullopt;
    std::vector<std::string> dims;
    std::set<std::string> split;
    for (const MlirItem& dim : sharding.items[1].parts[0].items) {
        if (!dim.parts.empty())
            for (const MlirItem& axis : dim.parts[0].items)
                if (axis.parts.size() == 1 && axis.parts[0].kind == MlirAttribute::Kind::text &&
                    !split.insert(axis.parts[0].text).second)
                    return std::nullopt; // one axis twice
        const std::optional<std::string> text = dim_text(dim);
        if (!text) return std::nullopt;
        dims.push_back(*text);
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::optional<std::string> sharding_over(const MlirAttribute& sharding, const std::vector<std::string>& axes) {
    if (sharding.items.size() != 2 || sharding.items[1].parts.size() != 1) return std::nullopt;
    std::vector<std::string> dims;
    for (const MlirItem& dim : sharding.items[1].parts[0].items) {
        if (dim.parts.empty() || dim.parts[0].kind != MlirAttribute::Kind::list) return std::nullopt;
        std::vector<std::string> own;
        for (const MlirItem& axis : dim.parts[0].items) {
            if (axis.parts.empty()) return std::nullopt;
            const std::string& name = axis.parts[0].text;
            const bool is_own = std::find(axes.begin(), axes.end(), name) != axes.end();
            if (is_own && axis.parts.size() != 1) return std::nullopt; // a part of the axis
            if (is_own) own.push_back(name);
        }
        dims.push_back(own.empty() ? "~" : own.size() == 1 ? own[0] : fmt::format("[{}]", fmt::join(own, ", ")));
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::string mesh_text(const ProgramMesh& mesh) {
    std::vector<std::string> axes;
    for (size_t i = 0; i < mesh.axes.size(); ++i) axes.push_back(fmt::format("{}: {}", mesh.axes[i], mesh.sizes[i]));
    return fmt::format("{{{}}}", fmt::join(axes, ", "));
}

} // namespace shard
