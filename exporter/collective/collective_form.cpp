#include "exporter/collective/collective_form.h"

namespace shard {

#define REGISTER(stem) const CollectiveForm& form_of_##stem();
#include "collective_registry.inc"
#undef REGISTER

const CollectiveForm& form_of(const Collective& collective) {
#define REGISTER(stem)                                                                                                 \
    if (collective.def->name == #stem) return form_of_##stem();
#include "collective_registry.inc"
#undef REGISTER
    internal_error("a collective without a form");
}

} // namespace shard
