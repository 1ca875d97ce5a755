// Goes through a program op by op, and adds what each becomes to a draft. Functions are written out where they are
// called, and loops whose condition is known as often as they run.
#pragma once

#include "importer/mlir/mlir_module.h"
#include "importer/mlir/mlir_places.h"
#include "importer/model/device_shardings.h"
#include "importer/model/draft.h"

#include <functional>

namespace shard {

// What a refusal notes: "traced from model.py:214".
inline std::string traced_from(const std::string& line) { return "traced from " + line; }

class ProgramWalk {
public:
    // What a function of the program returns for these arguments where the draft has ops for it; nullopt: its own ops
    // are walked through.
    using Known = std::function<std::optional<std::vector<DraftId>>(ProgramWalk&, const MlirFunction&,
                                                                    const std::vector<DraftId>&)>;

    ProgramWalk(const MlirModule& module, const TracedLines& traced, Draft& draft, Diagnostics& diagnostics)
        : module_(module), traced_(traced), draft_(draft), diagnostics_(diagnostics), device_shardings_(module),
          values_(module.values.size(), -1) {}
    void set_known(Known known) { known_ = std::move(known); }

    // What the region returns. Errors are E0801 to E0805, at most twenty of them.
    std::optional<std::vector<DraftId>> region(const MlirRegion& region, const std::vector<DraftId>& arguments,
                                               Span caller);
    // The same of a manual region, whose values are in a draft of their own.
    std::optional<std::vector<DraftId>> apart(const MlirRegion& region, Draft& body,
                                              const std::vector<DraftId>& arguments,
                                              const std::vector<std::string>& axes, Span caller);
    std::optional<std::vector<DraftId>> call(const MlirFunction& function, const std::vector<DraftId>& arguments,
                                             Span caller);
    // What the region returns where nothing is known, in a draft for that alone; what fails says nothing.
    std::optional<std::vector<DraftId>> tried(const MlirRegion& region, Draft& body,
                                              const std::vector<DraftId>& arguments);
    Draft& draft() { return draft_; }
    const std::vector<std::string>* region_axes() const { return region_axes_; }
    const DeviceShardings& device_shardings() const { return device_shardings_; }
    DraftId value(MlirId value) const { return values_[value]; }
    void set(MlirId value, DraftId meaning) { values_[value] = meaning; }
    std::optional<DraftType> draft_type(MlirId value);

private:
    bool import(const MlirOp& op);
    bool check_operands(const MlirOp& op);
    bool set_empty(const MlirOp& op); // results without elements are what they are, whatever makes them
    const std::string& line_of(int location);

    const MlirModule& module_;
    const TracedLines& traced_;
    Draft& draft_;
    Diagnostics& diagnostics_;
    DeviceShardings device_shardings_;
    Known known_;
    std::vector<DraftId> values_;
    std::map<int, std::string> lines_; // by location
    std::string line_;                 // of the op that calls, for ops that have none of their own
    const std::vector<std::string>* region_axes_ = nullptr;
    int depth_ = 0;
    i64 steps_ = 0;
    bool exhausted_ = false;
};

} // namespace shard
