// StableHLO as text: ops one below the other, each with a result of its own and with the types that it says.
//
//     %0 = stablehlo.constant dense<0.0> : tensor<4x8xf32>
//     %1 = stablehlo.maximum %h, %0 : tensor<4x8xf32>
#pragma once

#include "exporter/program/local_program.h"
#include "exporter/program/unique_names.h"

namespace shard {

// A value under its name here: "%h", or "%h#1" of an op with several.
using HloValue = ProgramValue;
using HloValues = std::vector<HloValue>;

std::string hlo_type(DType dtype, const Shape& shape = {}); // tensor<4x8xf32>
std::string hlo_type(const HloValue& value);
std::string hlo_types(const HloValues& values); // of all, with commas
std::string hlo_names(const HloValues& values);
std::string hlo_number(double value, DType dtype);
std::string hlo_several(size_t results);            // ":3", behind the name of an op with more than one result
std::string hlo_list(std::span<const i64> numbers); // [1, 0]

class HloOps;

// Functions of the module that ops call, each defined once.
class HloFunctions {
public:
    // The function of this name: its arguments and results with their types, and its body.
    void define(const std::string& name, const HloValues& arguments, const std::function<HloValues(HloOps&)>& body);
    const std::string& text() const { return text_; }

private:
    std::set<std::string> defined_;
    std::string text_;
};

class HloOps {
public:
    HloOps(HloFunctions& functions, size_t indent) : functions_(functions), top_indent_(indent), indent_(indent) {}

    HloValue made(DType dtype, Shape shape, std::string_view text); // what stands behind the "="
    // `head operands tail : (types) -> type`
    HloValue op(std::string_view head, const HloValues& operands, const std::string& tail, DType dtype,
                const Shape& shape);
    // Element by element, over operands in braces, which are made in order: the shape is that of the last operand, and so is the type where none is given.
    HloValue pointwise(std::string_view head, const HloValues& operands, DType dtype);
    HloValue pointwise(std::string_view head, const HloValues& operands);
    HloValue less(const HloValues& operands);
    // The generic form, and the same with regions whose arguments are scalars of these types.
    HloValue generic(std::string_view name, const HloValues& operands, std::string_view attributes, DType dtype,
                     const Shape& shape);
    HloValues with_region(const std::string& name, const HloValues& operands, const std::string& attributes,
                          const std::vector<DType>& arguments, const std::function<HloValue(const HloValues&)>& region,
                          const HloValues& results);
    struct Region {
        std::vector<DType> arguments;
        std::function<HloValue(const HloValues&)> body;
    };
    HloValues with_regions(const std::string& name, const HloValues& operands, const std::string& attributes,
                           const std::vector<Region>& regions, const HloValues& results);
    HloValues call(const std::string& function, const HloValues& operands, const HloValues& results);

    HloValue constant(double value, DType dtype, const Shape& shape = {});
    HloValue constant(std::string_view number, DType dtype, const Shape& shape = {});
    HloValue iota(i64 dim, DType dtype, const Shape& shape);
    // The value's dims along these of the shape; those of size 1 are repeated.
    HloValue broadcast(const HloValue& value, std::span<const i64> dims, const Shape& shape);
    HloValue filled(const HloValue& scalar, const Shape& shape);
    // These give the value itself where it is that already.
    HloValue convert(const HloValue& value, DType dtype);
    HloValue bitcast(const HloValue& value, DType dtype); // of the same size
    HloValue reshape(const HloValue& value, const Shape& shape);
    HloValue transpose(const HloValue& value, std::span<const i64> dims);
    // From `low` on `reach` elements, of which every stride-th is taken.
    HloValue slice(const HloValue& value, std::span<const i64> low, std::span<const i64> reach,
                   std::span<const i64> stride);
    HloValue dynamic_slice(const HloValue& value, HloValues starts, const Shape& sizes);
    HloValue dynamic_update_slice(const HloValue& value, const HloValue& part, HloValues starts);
    HloValue reverse(const HloValue& value, std::span<const i64> dims);
    HloValue pad(const HloValue& value, const HloValue& fill, std::span<const i64> low, std::span<const i64> high,
                 std::span<const i64> interior);
    // The value that was made last, under a name of its own in place of its number; of others the value itself.
    HloValue named(const HloValue& value, std::string_view name);
    std::string fresh(std::string_view name) { return "%" + names_.fresh(name); }
    std::string fresh() { return "%" + std::to_string(next_++); }
    void line(std::string_view text);                              // as it is, indented
    void comment(std::string text) { comment_ = std::move(text); } // above what comes next, if anything does
    // What `make` writes stands above all else, where every region sees it.
    HloValue at_the_top(const std::function<HloValue()>& make);
    void deeper() { indent_ += 2; }
    void back() { indent_ -= 2; }
    const std::string& text() const { return text_; }
    HloFunctions& functions() { return functions_; }

private:
    size_t begin_line(); // where it begins in the text, behind the margin
    static HloValues results_of(const std::string& name, HloValues results);

    HloFunctions& functions_;
    UniqueNames names_{{}, "_.$"};
    size_t top_indent_, indent_;
    size_t top_ = 0; // the end of what stands above all else
    i64 next_ = 0;
    std::string text_, comment_;
    std::string last_; // the name of what was made last, which stands in the text at last_at_
    size_t last_at_ = 0;
};

} // namespace shard
