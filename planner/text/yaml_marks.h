// Marks of YAML that yaml-cpp takes for others, or where YAML has none: what is read differently elsewhere is refused.
#pragma once

#include "planner/text/yaml.h"
#include "planner/text/yaml_text.h"

namespace shard {

// Letters, digits, '_', '-' and '.': of `&x:` another reader makes a key.
bool is_anchor_name(std::string_view name);
// `--- a` and `... a`, which begin or end a document where they begin a line.
bool is_document_mark(std::string_view plain);
// Whether ~ or null stands behind the anchors at a place, and is no key.
bool writes_null(std::string_view text, size_t offset);
// The # of `|#`, where a block text begins at `offset`: a comment begins after a blank.
std::optional<size_t> comment_in_block_header(std::string_view text, size_t offset);
// The ? that marks what stands at a place as a key. A comment and a text without quotes may end in one too.
// `map`: what is there already of the map that the key is of.
std::optional<size_t> question_mark_before(const TextPlaces& places, size_t offset, bool in_flow, const YamlMap& map);
// Whether a line, up to and with a place, ends in a ?: an unquoted one is what most of yaml-cpp's complaints are about.
bool at_question_mark(std::string_view text, size_t offset);
// Whether a value is further right than its key, or not the first on its line.
bool stands_right_of(const TextPlaces& places, size_t offset, const Span& key);
// Of a plain scalar at a place.
int plain_length(std::string_view text, size_t offset);

} // namespace shard
