#include "importer/shape/recognise.h"

#include "importer/shape/activation_forms.h"
#include "importer/shape/block_check.h"
#include "importer/shape/norm_forms.h"
#include "importer/shape/softmax_forms.h"

#include <algorithm>

namespace shard {

namespace {

std::vector<CompositeForm> all_forms() {
    std::vector<CompositeForm> forms;
    for (const std::vector<CompositeForm>& some : {activation_forms(), softmax_forms(), norm_forms()})
        forms.insert(forms.end(), some.begin(), some.end());
    return forms;
}

bool is_closed(const Draft& draft, const DraftReaders& readers, const std::vector<int>& taken, int root) {
    return std::all_of(taken.begin(), taken.end(), [&](int inner) {
        const std::vector<DraftId>& results = draft.entry(static_cast<size_t>(inner)).results;
        return std::all_of(results.begin(), results.end(), [&](DraftId result) {
            const std::vector<int>& of_result = readers[static_cast<size_t>(result)];
            return std::all_of(of_result.begin(), of_result.end(), [&](int reader) {
                return reader == root || std::find(taken.begin(), taken.end(), reader) != taken.end();
            });
        });
    });
}

} // namespace

void recognise_composites(Draft& draft, const std::vector<DraftId>& results) {
    const std::vector<CompositeForm> forms = all_forms();
    const std::vector<bool> needed = draft.needed_for(results);
    DraftReaders readers = readers_of(draft, needed, results);
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        const int root = static_cast<int>(i);
        for (const CompositeForm& form : forms) {
            if (draft.entry(i).op != form.root) continue;
            Taking taking(draft);
            const std::optional<Composite> found = form.recognise(taking, draft.entry(i));
            if (!found || !is_closed(draft, readers, taking.taken(), root)) continue;
            std::vector<int> gone = taking.taken();
            std::sort(gone.begin(), gone.end());
            gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
            gone.push_back(root);
            for (const int entry : gone)
                for (const DraftId operand : draft.entry(static_cast<size_t>(entry)).operands)
                    std::erase(readers[static_cast<size_t>(operand)], entry);
            draft.replace(i, found->op, found->operands, found->arguments);
            for (const DraftId operand : found->operands) readers[static_cast<size_t>(operand)].push_back(root);
            break;
        }
    }
}

} // namespace shard
