#include "cli/html/panel.h"

#include <algorithm>

namespace shard {

#define REGISTER(stem) const PanelDef& panel_##stem();
#include "panel_registry.inc"
#undef REGISTER

const std::vector<const PanelDef*>& all_panels() {
    static const std::vector<const PanelDef*> panels = [] {
        std::vector<const PanelDef*> all = {
#define REGISTER(stem) &panel_##stem(),
#include "panel_registry.inc"
#undef REGISTER
        };
        std::sort(all.begin(), all.end(), [](const PanelDef* a, const PanelDef* b) { return a->order < b->order; });
        return all;
    }();
    return panels;
}

} // namespace shard
