// The steps of a composite, one by one.
#pragma once

#include "importer/shape/composite.h"
#include "importer/shape/factored_dims.h"

namespace shard {

class StepBuilder {
public:
    StepBuilder(const Draft& draft, const FactoredDims& factors) : draft_(draft), factors_(factors) {}

    const DraftType& type(DraftId value) const;
    DraftId add(std::string op, std::vector<DraftId> operands, std::string arguments, DraftType type,
                std::string literal = {});
    // A value of these dims as one of others, that have the same factors: transposed, and reshaped.
    DraftId moved(DraftId value, const FactorDims& from, const FactorDims& to);

    // The steps, of which the last makes the composite's own result.
    Composite composite() &&;

private:
    const Draft& draft_;
    const FactoredDims& factors_;
    std::vector<CompositeStep> steps_;
};

} // namespace shard
