#include "executor/collective/share.h"

namespace shard {

void share_all_to_all(const Share& share, Traffic& traffic) { exchange_blocks(share, traffic); }

} // namespace shard
