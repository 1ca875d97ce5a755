// In which order the keys at the top of a file stand: that of its schema.
#pragma once

#include <string_view>
#include <vector>

namespace shard {

// For the keys of a file as they are written, which of them comes first, second, ... The kind of file is the first of
// model, layout, shardc.yaml, policy, modules and hardware profile that has all of them; where none has,
// they stay as they are.
std::vector<size_t> key_order(const std::vector<std::string_view>& keys);
// Whether one of them is a key of any of these kinds, or of names of a checkpoint: a file without one is another
// program's.
bool has_known_key(const std::vector<std::string_view>& keys);

} // namespace shard
