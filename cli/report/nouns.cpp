#include "cli/report/nouns.h"

#include "cli/terminal/wrap.h"
#include "plans/base/printable.h"
#include "plans/base/units.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace shard {

std::string mesh_text(const Mesh& mesh) {
    std::vector<std::string> axes;
    for (const MeshAxis& axis : mesh.axes)
        if (axis.size > 1) axes.push_back(fmt::format("{} {}", axis.name, axis.size));
    std::string devices = counted(mesh.device_count(), "device");
    return axes.empty() ? devices : fmt::format("{} = {}", fmt::join(axes, " x "), devices);
}

std::string sharding_text(const Mesh& mesh, const Sharding& sharding) {
    return text(mesh, without_unit_axes(sharding));
}

std::string paint_axes(const Paint& paint, const Mesh& mesh, std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size();) {
        size_t end = i;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
            ++end;
        if (end == i) {
            result += text[i++];
            continue;
        }
        std::string_view word = text.substr(i, end - i);
        std::optional<int> axis = mesh.find(word);
        result += axis ? paint(axis_color(*axis), word) : std::string(word);
        i = end;
    }
    return result;
}

Cell sharding_cell(const Paint& paint, const Mesh& mesh, const Sharding& sharding) {
    Cell cell(sharding_text(mesh, sharding));
    cell.painted = paint_axes(paint, mesh, cell.text);
    return cell;
}

std::string axes_text(const Mesh& mesh, std::span<const AxisRef> axes) { return text(mesh, without_unit_axes(axes)); }

std::string type_text(DType dtype, std::span<const i64> shape) {
    return fmt::format("{} {}", name(dtype), shape_text(shape));
}

std::string type_text(DType dtype, std::span<const i64> shape, std::span<const std::string> logical) {
    std::vector<std::string> dims;
    for (size_t i = 0; i < shape.size(); ++i) {
        bool named = i < logical.size() && !logical[i].empty();
        dims.push_back(named ? fmt::format("{} {}", logical[i], shape[i]) : std::to_string(shape[i]));
    }
    return fmt::format("{} ({})", name(dtype), fmt::join(dims, ", "));
}

std::string tensor_heading(const Paint& paint, const Mesh& mesh, std::string_view called, const TensorReport& tensor) {
    constexpr size_t indent = 4; // of what goes on in the next line
    const std::string head = hanging(called, paint.width, indent);
    std::string out = paint.strong(head);
    size_t column = display_width(std::string_view(head).substr(head.rfind('\n') + 1)); // npos + 1 is 0
    for (const std::string& part :
         {std::string(name(tensor.role)), type_text(tensor.dtype, tensor.shape, tensor.logical),
          sharding_text(mesh, tensor.sharding)}) {
        const bool fits = paint.width == 0 || column + 2 + display_width(part) <= paint.width;
        out += fits ? "  " : "\n" + std::string(indent, ' ');
        column = (fits ? column + 2 : indent) + display_width(part);
        out += paint_axes(paint, mesh, hanging(part, paint.width, indent));
    }
    return out;
}

} // namespace shard
