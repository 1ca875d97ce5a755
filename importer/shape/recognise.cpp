#include "importer/shape/recognise.h"

#include "importer/shape/activation_forms.h"
#include "importer/shape/attention_forms.h"
#include "importer/shape/block_check.h"
#include "importer/shape/cross_entropy_forms.h"
#include "importer/shape/global_norm_forms.h"
#include "importer/shape/lookup_forms.h"
#include "importer/shape/norm_forms.h"
#include "importer/shape/rope_forms.h"
#include "importer/shape/softmax_forms.h"

#include <algorithm>

namespace shard {

namespace {

std::vector<CompositeForm> all_forms() {
    std::vector<CompositeForm> forms;
    for (const std::vector<CompositeForm>& some :
         {activation_forms(), softmax_forms(), norm_forms(), attention_forms(), lookup_forms(), cross_entropy_forms(),
          rope_forms(), global_norm_forms()})
        forms.insert(forms.end(), some.begin(), some.end());
    return forms;
}

// `taken`: in their order.
bool is_closed(const Draft& draft, const DraftReaders& readers, const std::vector<int>& taken, int root) {
    return std::all_of(taken.begin(), taken.end(), [&](int inner) {
        const std::vector<DraftId>& results = draft.entry(static_cast<size_t>(inner)).results;
        return std::all_of(results.begin(), results.end(), [&](DraftId result) {
            const std::vector<int>& of_result = readers[static_cast<size_t>(result)];
            return std::all_of(of_result.begin(), of_result.end(), [&](int reader) {
                return reader == root || std::binary_search(taken.begin(), taken.end(), reader);
            });
        });
    });
}

// Before each entry those of the steps that are for it.
class Replacing {
public:
    explicit Replacing(Draft& draft) : draft_(draft), before_(draft.entry_count()) {}

    // The operands of a composite, once its steps are entries.
    std::vector<DraftId> with_steps(size_t root, const Composite& composite, DraftReaders& readers) {
        std::vector<DraftId> made;
        const auto resolved = [&made](std::vector<DraftId> operands) {
            for (DraftId& operand : operands)
                if (operand < 0) operand = made[static_cast<size_t>(-2 - operand)];
            return operands;
        };
        for (const CompositeStep& step : composite.steps) {
            before_[root].push_back(draft_.entry_count());
            made.push_back(
                draft_.add_beside(root, step.op, step.literal, resolved(step.operands), step.arguments, step.type));
            readers.resize(static_cast<size_t>(draft_.value_count()));
            for (const DraftId operand : draft_.entry(draft_.entry_count() - 1).operands)
                readers[static_cast<size_t>(operand)].push_back(static_cast<int>(draft_.entry_count()) - 1);
        }
        return resolved(composite.operands);
    }

    void put_in_order() {
        std::vector<size_t> order;
        for (size_t i = 0; i < before_.size(); ++i) {
            order.insert(order.end(), before_[i].begin(), before_[i].end());
            order.push_back(i);
        }
        if (order.size() > before_.size()) draft_.reorder(order);
    }

private:
    Draft& draft_;
    std::vector<std::vector<size_t>> before_;
};

} // namespace

void recognise_composites(Draft& draft, const std::vector<DraftId>& results) {
    const std::vector<CompositeForm> forms = all_forms();
    const std::vector<bool> needed = draft.needed_for(results);
    DraftReaders readers = readers_of(draft, needed, results);
    Replacing replacing(draft);
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        const int root = static_cast<int>(i);
        for (const CompositeForm& form : forms) {
            if (draft.entry(i).op != form.root) continue;
            Taking taking(draft, readers);
            const std::optional<Composite> found = form.recognise(taking, draft.entry(i));
            if (!found) continue;
            std::vector<int> gone = taking.taken();
            std::sort(gone.begin(), gone.end());
            gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
            if (!is_closed(draft, readers, gone, root)) continue;
            gone.push_back(root);
            for (const int entry : gone)
                for (const DraftId operand : draft.entry(static_cast<size_t>(entry)).operands)
                    std::erase(readers[static_cast<size_t>(operand)], entry);
            const std::vector<DraftId> operands = replacing.with_steps(i, *found, readers);
            draft.replace(i, found->op, operands, found->arguments);
            if (found->is_inside) draft.mark_inside(i);
            for (const DraftId operand : operands) readers[static_cast<size_t>(operand)].push_back(root);
            break;
        }
    }
    replacing.put_in_order();
}

} // namespace shard
