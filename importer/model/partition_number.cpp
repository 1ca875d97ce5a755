#include "importer/model/partition_number.h"

#include "importer/model/device_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

DraftId index_of(OpContext& context, const std::vector<std::string>& axes, DType dtype) {
    const DraftId index = context.draft.axis_index(axes);
    return context.draft.cast(index, dtype);
}

} // namespace

DraftId partition_number(OpContext& context, DType dtype) {
    return index_of(context, mesh_of(context.module).axes, dtype);
}

std::optional<DraftId> index_along_axis(OpContext& context, DraftId value, i64 size) {
    if (context.region_axes() == nullptr) return std::nullopt;
    const Draft& draft = context.draft;
    const DType dtype = draft.type(value).dtype;
    const DraftEntry* entry = draft.entry_of(value);
    i64 divisor = 1;
    if (entry != nullptr && entry->op == "div") {
        const std::optional<DraftNumber>& number = draft[entry->operands[1]].number;
        if (!number) return std::nullopt;
        divisor = number->integer;
        entry = draft.entry_of(entry->operands[0]);
    }
    if (entry != nullptr && entry->op == "cast") entry = draft.entry_of(entry->operands[0]);
    const ProgramMesh mesh = mesh_of(context.module);
    if (entry == nullptr || entry->op != "axis_index" || entry->over != mesh.axes) return std::nullopt;
    i64 behind = 1;
    for (size_t axis = mesh.axes.size(); axis-- > 0; behind *= mesh.sizes[axis]) {
        const std::vector<std::string>& own = *context.region_axes();
        if (behind == divisor && mesh.sizes[axis] == size &&
            std::find(own.begin(), own.end(), mesh.axes[axis]) != own.end())
            return index_of(context, {mesh.axes[axis]}, dtype);
    }
    return std::nullopt;
}

} // namespace shard
