// The parts of a line of the text of a graph: types, attributes, shardings as written.
#pragma once

#include "planner/graph/op_def.h"
#include "planner/graph_text/line_scanner.h"

namespace shard {

// "f32 (embed: 4, 8)"
TensorType read_type(LineScanner& at);
Shape read_shape(LineScanner& at); // "(8, 4)"
// "[data | -] U{model}", and nothing else that is next.
Sharding read_sharding(LineScanner& at, const Mesh& mesh);
// "[0, 1]", "true", "\"ij,jk->ik\"": `type` says what an empty list is of, and which numbers are no integers.
AttributeValue read_attribute(LineScanner& at, std::optional<AttributeDef::Type> type);
std::vector<std::string> read_names(LineScanner& at); // "[batch, ~]"
ShardingSpec read_spec(LineScanner& at);              // "[data,model? | -]"

} // namespace shard
