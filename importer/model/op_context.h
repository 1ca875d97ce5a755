// What an op of the program that is read becomes in the model: importer/ops/ has a file for each family of ops, whose
// function `import_rows_<file>` lists which op becomes what.
#pragma once

#include "importer/mlir/mlir_module.h"
#include "importer/model/draft.h"

namespace shard {

class DeviceShardings;
class ProgramWalk;

// One op while it is imported. What fails has said why.
class OpContext {
public:
    OpContext(const MlirModule& of, const MlirOp& imported, Draft& into, ProgramWalk& walk, Diagnostics& diagnostics)
        : module(of), op(imported), draft(into), walk_(walk), diagnostics_(diagnostics) {}

    const MlirModule& module;
    const MlirOp& op;
    Draft& draft;

    size_t operand_count() const { return op.operands.size(); }
    DraftId operand(size_t i) const;
    const DraftType& type(size_t i) const { return draft.type(operand(i)); }
    // E0801 if the op has no such result, E0805 if the model has no such element type.
    std::optional<DraftType> result_type(size_t i = 0);
    void set(size_t result, DraftId value);

    // A list of numbers, under one of its names; nullopt, with an error, if it is not there or not `count` long.
    std::optional<std::vector<i64>> integers(std::initializer_list<std::string_view> keys,
                                             std::optional<size_t> count = {});
    // The same, for dims: each from 0 to below `rank`, and none twice.
    std::optional<std::vector<i64>> dims(std::initializer_list<std::string_view> keys, size_t rank,
                                         std::optional<size_t> count = {});
    std::optional<i64> integer(std::initializer_list<std::string_view> keys);
    // A word of the pretty form (compare LT), or the value of a generic attribute; empty if it is not there.
    std::string word(std::string_view key, std::initializer_list<std::string_view> choices) const;

    bool refuse(std::string message, std::string help = {}); // E0804 at the op; false
    bool expect(bool condition, std::string_view what);      // E0801 at the op if an op is not as its definition says

    const DeviceShardings& device_shardings() const;
    void warn_of_devices(); // W0801, once: a sharding by devices is no split over axes of a mesh, and left out
    void warn_of_callback(std::string_view target); // W0804: nothing comes of it

    // Of the manual region that the op stands in, its axes; null outside of one.
    const std::vector<std::string>* region_axes() const;
    std::optional<DraftType> type_of(MlirId value); // E0805 if the model has no such element type
    // What the body of a manual region over these axes returns, made in a draft of its own.
    std::optional<std::vector<DraftId>> run_in(const MlirRegion& region, Draft& body,
                                               const std::vector<DraftId>& arguments,
                                               const std::vector<std::string>& axes);
    // What a region, a function or a loop returns for these arguments.
    std::optional<std::vector<DraftId>> run(const MlirRegion& region, const std::vector<DraftId>& arguments);
    std::optional<std::vector<DraftId>> call(const std::string& function, const std::vector<DraftId>& arguments);

private:
    ProgramWalk& walk_;
    Diagnostics& diagnostics_;
};

// W0801, at what carries such a sharding.
void warn_of_device_sharding(Span span, Diagnostics& diagnostics);

struct ImportRow {
    std::string_view op; // "stablehlo.add"
    bool (*import)(OpContext& context, std::string_view becomes);
    std::string_view becomes = {}; // the model's op, where several rows share a function
};

const ImportRow* find_import(std::string_view op);
std::vector<std::string_view> imported_ops(); // for suggestions

DType signed_of(DType dtype);   // the whole numbers with a sign of as many bytes, if there are some
DType unsigned_of(DType dtype); // the whole numbers without a sign of as many bytes, if there are some
std::optional<DType> dtype_of_element(std::string_view element); // "i1" is bool, "ui32" is u32, "f8E5M2" is f8e5m2
std::optional<std::vector<i64>> integers_of(const MlirAttribute& list);

} // namespace shard
