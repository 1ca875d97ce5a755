// The question that helps where a name is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// "did you mean 'relu'?", with the candidate that is nearest to `word`; `otherwise` if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates,
                         std::string otherwise = {});

} // namespace shard
