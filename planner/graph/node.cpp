#include "planner/graph/node.h"

namespace shard {

const OpDef* Node::op() const {
    const Apply* made = std::get_if<Apply>(&does);
    return made == nullptr ? nullptr : made->op;
}

const Collective* Node::collective() const {
    const Shared<Exchange>* const made = std::get_if<Shared<Exchange>>(&does);
    return made == nullptr ? nullptr : &(*made)->collective;
}

const Reshard* Node::reshard() const {
    if (const auto* made = std::get_if<Shared<Exchange>>(&does)) return made->get();
    const auto* made = std::get_if<Shared<LocalMove>>(&does);
    return made == nullptr ? nullptr : made->get();
}

const Kernel* Node::kernel() const {
    if (const auto* made = std::get_if<Shared<LocalMove>>(&does)) return (*made)->move.get();
    const Apply* made = std::get_if<Apply>(&does);
    return made == nullptr ? nullptr : made->kernel.get();
}

Shared<Kernel> Node::shared_kernel() const {
    if (const auto* made = std::get_if<Shared<LocalMove>>(&does)) return (*made)->move;
    const Apply* made = std::get_if<Apply>(&does);
    return made == nullptr ? Shared<Kernel>() : made->kernel;
}

int Node::opens() const {
    const LoopOpens* marker = std::get_if<LoopOpens>(&does);
    return marker == nullptr ? -1 : marker->loop;
}

int Node::closes() const {
    const LoopCloses* marker = std::get_if<LoopCloses>(&does);
    return marker == nullptr ? -1 : marker->loop;
}

const Attributes& Node::attributes() const {
    static const Attributes none;
    const Apply* made = std::get_if<Apply>(&does);
    return made == nullptr ? none : made->attributes;
}

const Asked& Node::asked() const {
    static const Asked none;
    const Apply* made = std::get_if<Apply>(&does);
    return made == nullptr || !made->asked ? none : *made->asked;
}

Apply& Node::apply() {
    Apply* made = std::get_if<Apply>(&does);
    internal_check(made != nullptr, "a node that is not an op is changed as one");
    return *made;
}

} // namespace shard
