#include "plans/diagnostics/codes.h"

namespace shard {

std::vector<CodeDoc> codes_manual() {
    return {
        {"E0270", "op of a manual region outside one",
         "psum, all_gather, ppermute, axis_index and their like speak of the devices along a mesh axis, which only the "
         "body of a manual region does: - y: {manual: {in: {x: [i, ~]}, out: {y: [i, ~]}, body: [...]}}. Outside, "
         "shardc picks the collectives."},
        {"E0271", "manual region in a manual region",
         "Regions do not nest. Let the outer one be manual over all axes that either needs, and write the inner body "
         "out in it."},
        {"E0272", "axis that a region is not manual over",
         "A sharding at the border of a manual region, or the `over` of an op in its body, names a mesh axis that the "
         "region's `mesh` leaves out. Shardings over such axes pass through the region by themselves: name only the "
         "axes that the body deals with, or add the axis to `mesh`."},
        {"E0273", "local dim that does not divide",
         "A tiled psum_scatter or all_to_all, or own_block, gives every device of a group an equal part of a dim. On "
         "one device the dim must be a multiple of the number of devices; it is the local dim that counts, not that of "
         "the whole value."},
        {"E0274", "result that varies",
         "A sharding in `out` that does not name a mesh axis claims that all devices along it hold the same value. The "
         "value varies over the axis: it comes from something that entered split over it, from axis_index, or from "
         "pvary, and nothing has combined it since. Name the axis in the sharding, combine the values (psum, pmean, "
         "pmax, all_gather). Where you know that the devices hold the same, though it cannot be seen, `check: false` "
         "switches the check off; `run` refuses a result for which that is not so (E0604)."},
        {"E0275", "permutation with a device twice",
         "The pairs of a ppermute are [source, destination] ranks along its axes. A device sends to one other at most, "
         "and receives from one at most; who receives nothing holds zeros."},
        {"E0278", "dim that is not one index a device",
         "Without `tiled: true`, psum_scatter and all_to_all give every device one index of a dim, which then goes: "
         "the dim must be as large as the group. With `tiled: true` every device gets a block, and the dim stays."},
        {"E0279", "plan without a manual form",
         "`explain --lowered` prints a plan as a model file with one manual region. A plan that works along a part of "
         "a mesh axis, or that draws by device (`fold`), has no such form."},
    };
}

} // namespace shard
