#include "plans/collective/launch.h"

#include "plans/base/saturating.h"

namespace shard {

namespace {

bool can_join(const CollectiveDef::Uses& uses) { return !uses.orders && !uses.root && !(uses.from && uses.to); }

} // namespace

bool Launch::would_join(const Collective& collective, const TensorType& type) const {
    if (!first_ || !can_join(collective.def->uses)) return false;
    const Collective& first = first_->collective;
    if (collective.def != first.def || collective.axes != first.axes || collective.reduce != first.reduce ||
        type.dtype != first_->dtype)
        return false;
    const double none = collective.def->seconds(collective, *mesh_, *hardware_, 0);
    const double all = collective.def->seconds(collective, *mesh_, *hardware_, add_saturating(bytes_, type.bytes()));
    return all <= 2 * none;
}

bool Launch::add(const Collective& collective, const TensorType& type) {
    const bool joins = would_join(collective, type);
    if (!joins) {
        first_ = {collective, type.dtype};
        bytes_ = 0;
    }
    bytes_ = add_saturating(bytes_, type.bytes());
    seconds_ = collective.def->seconds(collective, *mesh_, *hardware_, bytes_);
    return joins;
}

} // namespace shard
