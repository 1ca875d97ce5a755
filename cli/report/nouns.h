// How meshes, shardings, types and places are written for people. Axes of size 1 are left out: they split nothing and
// hide what does.
#pragma once

#include "cli/terminal/table.h"
#include "plans/plan/report.h"

namespace shard {

// "data 2 x model 4 = 8 devices"; "1 device".
std::string mesh_text(const Mesh& mesh);

// "[data | -]".
std::string sharding_text(const Mesh& mesh, const Sharding& sharding);
// The same with a colour per mesh axis.
Cell sharding_cell(const Paint& paint, const Mesh& mesh, const Sharding& sharding);
// Paints the mesh axes that a text names.
std::string paint_axes(const Paint& paint, const Mesh& mesh, std::string_view text);

std::string axes_text(const Mesh& mesh, std::span<const AxisRef> axes); // "data,model" without trivial axes
std::string type_text(DType dtype, std::span<const i64> shape);         // "f32 (8, 1024)"
std::string type_text(DType dtype, std::span<const i64> shape,
                      std::span<const std::string> logical); // "f32 (batch 8, embed 1024)"

// "w  param  f32 (embed 8, mlp 32)  [- | model]", the name bold; in a narrow terminal in lines of their own, each of the
// name, the type and the sharding whole where it can be. `called` is the name, or that of several tensors.
std::string tensor_heading(const Paint& paint, const Mesh& mesh, std::string_view called, const TensorReport& tensor);

} // namespace shard
