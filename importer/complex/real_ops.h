// Ops of StableHLO on real values, made in place of one on complex numbers.
#pragma once

#include "importer/mlir/mlir_module.h"

#include <optional>

namespace shard {

// One of the two parts of complex numbers; none: it is 0 everywhere, and what is computed with it is left out.
using Part = std::optional<MlirId>;

struct Pair {
    Part real, imaginary;
};

class RealOps {
public:
    explicit RealOps(MlirModule& module) : module_(module) {}

    // Ops that follow stand in `into`, and are of the place of this one, which may be gone by then.
    void begin(const MlirOp& of, std::vector<MlirOp>& into) { span_ = of.span, location_ = of.location, into_ = &into; }

    MlirId value(MlirType type);
    MlirId make(std::string name, std::vector<MlirId> operands, MlirType type, std::vector<MlirItem> items = {});
    MlirId apply(std::string name, MlirId operand); // of its operand's type
    MlirId number(double number, const MlirType& type);
    MlirId whole(Part part, const MlirType& type) { return part ? *part : number(0, type); }

    Part add(Part a, Part b);
    Part subtract(Part a, Part b);
    Part multiply(Part a, Part b);
    Part divide(Part a, MlirId b);
    Part negate(Part a);

    const MlirType& type(MlirId value) const { return module_.type(value); }

private:
    MlirId combine(std::string_view name, MlirId a, MlirId b);

    MlirModule& module_;
    Span span_;
    int location_ = -1;
    std::vector<MlirOp>* into_ = nullptr;
};

// Items as the pretty form has them: dims = [0, 1], dim = 1, contracting_dims = [1] x [0], a word.
MlirItem integer_item(std::string key, i64 number);
MlirItem list_item(std::string key, const std::vector<std::vector<i64>>& lists);
MlirItem word_item(std::string key, std::string word);

} // namespace shard
