// A file that is neither a model nor a layout, named for what it is by its content: whoever gives a Python program wants
// to hear how to get at what it computes, not what in it is no YAML.
#pragma once

#include <optional>
#include <string_view>

namespace shard {

struct ForeignFile {
    std::string_view what;                // "a Python program"
    std::string_view as_model, as_layout; // what to do where one of them is wanted
};

// nullopt: nothing that is known here. A model or a layout may look like one of them only where it is broken.
std::optional<ForeignFile> foreign_file(std::string_view name, std::string_view text);

} // namespace shard
