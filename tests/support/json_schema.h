// The part of JSON Schema draft-07 that schemas/ uses, so that a test can hold files against them: type, const, enum,
// oneOf, $ref into definitions, properties, required, additionalProperties, propertyNames, minProperties, items,
// minItems, maxItems, minimum, maximum, exclusiveMinimum, pattern. An unknown keyword is a failure, so that no schema
// relies on one that is not checked.
#pragma once

#include "plans/json/json_tree.h"

namespace shard {

// What does not fit, one line each with its path; empty if `value` is valid.
std::vector<std::string> schema_problems(const Json& schema, const Json& value);

} // namespace shard
