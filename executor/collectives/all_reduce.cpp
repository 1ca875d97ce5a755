// Reduces elements [rank*count/n, (rank+1)*count/n) of all inputs and writes them to all outputs.
#include "executor/collective/share.h"

namespace shard {

void share_all_reduce(const Share& share, Traffic& traffic) {
    const i64 n = static_cast<i64>(share.members.size()), rank = static_cast<i64>(share.rank);
    const i64 count = share.before.elements(), element = byte_size(share.before.dtype);
    const i64 begin = rank * count / n, end = (rank + 1) * count / n;
    std::vector<const std::byte*> sources(share.inputs.begin(), share.inputs.end());
    std::vector<std::byte*> targets(share.outputs.begin(), share.outputs.end());
    for (const std::byte*& source : sources) source += begin * element;
    for (std::byte*& target : targets) target += begin * element;
    traffic.reduce(targets, sources, share.collective.reduce, share.before.dtype, {{end - begin, 1, 1}});
}

} // namespace shard
