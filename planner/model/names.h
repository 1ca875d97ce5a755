// Names that users choose: letters, digits, '_' and '-', not starting with a digit or '-'.
#pragma once

#include "planner/model/declarations.h"

namespace shard {

struct Yaml;

bool is_name(std::string_view text); // by the rule above
// A name where a value is used: also paths ("embed.table"), and older bindings ("a#2").
bool is_value_name(std::string_view text);

// Begins as JAX's PartitionSpec is written: P(data, None).
bool is_partition_spec(std::string_view text);

// A scalar that is a name; reports E0113 or E0201 and returns nullopt otherwise. `what` is "axis", "parameter", ...
std::optional<Name> read_name(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
// E0201 unless it is one.
bool check_name(const std::string& text, Span span, std::string_view what, Diagnostics& diagnostics);
// One name or a list of names.
std::optional<std::vector<Name>> read_value_names(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);

// The texts of names, as candidates for nearest().
template<typename Range>
std::vector<std::string_view> name_texts(const Range& range) {
    std::vector<std::string_view> texts;
    for (const typename Range::value_type& item : range) texts.push_back(item.name.text);
    return texts;
}

// Adds "did you mean", or nothing if no candidate is near.
void suggest(DiagnosticBuilder error, std::string_view word, const std::vector<std::string_view>& candidates);

// Adds "did you mean" for a spelling of another program, as float32, or for a slip of the pen, and otherwise the list
// of the element types.
void suggest_dtype(DiagnosticBuilder error, std::string_view word);

} // namespace shard
