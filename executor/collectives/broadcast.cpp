#include "executor/collective/share.h"

namespace shard {

void share_broadcast(const Share& share, Traffic& traffic) {
    copy_from(share, static_cast<size_t>(share.collective.root), traffic);
}

} // namespace shard
