#include "importer/shape/shape_regions.h"

#include "importer/model/draft_region.h"
#include "importer/shape/block_check.h"
#include "importer/shape/blocks.h"
#include "importer/shape/constants.h"
#include "importer/shape/recognise.h"

namespace shard {

namespace {

// A loss has no use for what its backward pass would read.
void leave_out_unread(Draft& draft, size_t entry, const DraftReaders& readers) {
    const std::vector<DraftId>& made = draft.entry(entry).results;
    std::vector<size_t> read;
    for (size_t r = 0; r < made.size(); ++r)
        if (!readers[static_cast<size_t>(made[r])].empty()) read.push_back(r);
    if (read.size() < made.size()) draft.keep_results(entry, read);
}

void shape(DraftRegion& region) {
    std::vector<DraftId> left;
    for (const DraftRegion::Border& border : region.out) left.push_back(border.value);
    share_constants(region.body);
    recognise_composites(region.body, left);
    share_constants(region.body);
    region.order = ordered(region.body, left);
}

} // namespace

bool shape_regions(Draft& draft, const std::vector<DraftId>& results) {
    const std::vector<bool> needed = draft.needed_for(results);
    const DraftReaders readers = readers_of(draft, needed, results);
    bool any = false;
    for (size_t i = 0; i < needed.size(); ++i) {
        const std::shared_ptr<DraftRegion> region = draft.entry(i).region;
        if (region == nullptr || !needed[i]) continue;
        any = true;
        leave_out_unread(draft, i, readers);
        shape(*region);
    }
    return any;
}

} // namespace shard
