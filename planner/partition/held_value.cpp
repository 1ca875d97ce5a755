#include "planner/partition/held_value.h"

#include "planner/redistribute/redistribute.h"

namespace shard {

OperandChoice choice_of(const Held& held, const TensorType& type, const Sharding& kept, const Graph& local,
                        Redistributor& redistributor) {
    const auto sharding = [&](ValueId form) -> const Sharding& { return local.value(form).part->sharding; };
    OperandChoice choice;
    if (held.kept >= 0) {
        choice.forms.push_back({sharding(held.kept), {}});
        if (redistributor.is_as_xla()) return choice;
        for (ValueId form : held.reduced)
            if (form != held.kept) choice.forms.push_back({sharding(form), {}});
        return choice;
    }
    PlanCost reducing;
    reducing.add(redistributor.find(type, sharding(held.pending), kept));
    choice.forms.push_back({kept, reducing});
    if (held.readers == 1) {
        if (!redistributor.is_as_xla()) choice.forms.push_back({sharding(held.pending), {}});
        choice.pending = sharding(held.pending);
    }
    return choice;
}

} // namespace shard
