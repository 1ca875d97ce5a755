// Words that several panels write alike: mesh axes in their colours, places that lead to the line of the source.
#pragma once

#include "cli/html/markup.h"
#include "plans/plan/plan.h"

namespace shard {

// The class that colours what belongs to a mesh axis: "a0" ... "a5", then again.
std::string axis_class(int axis);

// The class that colours what bytes are held for: "m-optimizer-state".
std::string memory_class(std::string_view role);

// A text in which the mesh axes that it names are coloured: "[data | -]".
void write_axes(Markup& out, const Mesh& mesh, std::string_view text, std::string_view tag = "b");

// "model.yaml:7", a link to the line if the plan holds its text. `shown` is what stands there, as "model.yaml:7 +2".
void write_place(Markup& out, const Plan& plan, const SourceRef& source, std::string_view shown);
std::string line_id(size_t source, int line); // of the line of plan.sources[source]

// A cell of a number: what is shown, and what it is sorted by.
void write_number(Markup& out, std::string_view shown, double value);

// A cell of a name, which breaks behind commas where it has to: "block.{wq,wk}".
void write_name(Markup& out, std::string_view name, std::string_view kind = "name");

// The head of a table: "-time" stands right, as numbers do.
void write_head(Markup& out, std::initializer_list<std::string_view> columns);

} // namespace shard
