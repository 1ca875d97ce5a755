#include "executor/collective/share.h"

namespace shard {

void share_broadcast(const Share& share, Traffic& traffic) { copy_from(share, share.collective.root, traffic); }

} // namespace shard
