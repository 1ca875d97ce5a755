#include "executor/collective/share.h"

namespace shard {

void share_all_gather(const Share& share, Traffic& traffic) { exchange_blocks(share, traffic); }

} // namespace shard
