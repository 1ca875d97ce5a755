// A model file while it is being made: values and entries, which are given names and written at the end
// (importer/model/model_text.h), without those that no output needs.
//
// Two kinds of values are no entries yet, since most never become any: one number in every element, which stands in
// place of an operand ({mul: [x, 0.5]}), and a broadcast, which the ops that go element by element do by themselves.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/dtype/element_bits.h"
#include "plans/sharding/type.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace shard {

using DraftId = int;

// One element: a number of a floating-point type, or of the others.
using DraftNumber = ElementNumber;

struct DraftType {
    DType dtype = DType::f32;
    Shape shape;
    bool operator==(const DraftType&) const = default;
};

struct DraftValue {
    DraftType type;
    Span place;       // of the op that it is made for, or of the argument
    std::string name; // of an input; of others, what they would best be called
    bool is_input = false, is_param = false;
    bool is_left_out = false;          // of an input: the model has none of it
    bool is_count = false;             // 0, 1, 2, ... along its one dim
    bool is_carried = false;           // what a loop hands on: what makes it is not the same in all of its trips
    std::optional<DraftNumber> number; // in every element
    std::optional<DraftNumber> filled; // the same, of one that has become an entry
    std::shared_ptr<const std::vector<DraftNumber>> listed; // of a constant, one for each element, row-major
    DraftId of = -1;                                        // what is broadcast, dim i of it along dim dims[i]
    std::vector<i64> dims;
    int entry = -1;     // the entry that it is a result of
    DraftId made = -1;  // the same value as the result of an entry, once one was needed
    DraftId from = -1;  // of that result, the broadcast
    DraftId words = -1; // of whole numbers of 64 bits that were made of u32, two for each: these
};

struct DraftRegion;

struct DraftEntry {
    std::string op;
    std::string literal;           // what stands behind the op in place of operands: an equation, a shape, a number
    std::vector<DraftId> operands; // a number among them is written as one
    std::string arguments;         // ", dims: [0]"
    std::string line;              // "model.py:214", or empty
    std::vector<DraftId> results;
    std::shared_ptr<DraftRegion> region; // of a manual region (importer/model/draft_region.h), else null
    // Of a collective the mesh axes that it works along, and whether its result is the same on all devices there.
    std::vector<std::string> over;
    bool is_same_over = false;
    bool is_inside = false;   // of a lookup: elsewhere the program has no number
    bool is_backward = false; // of the pass that makes gradients, as the program says
};

class Draft {
public:
    DraftId input(std::string name, DraftType type, bool is_param, Span place = {});
    DraftId number(DraftType type, DraftNumber number);
    // A constant of one number for each element.
    DraftId list(DraftType type, std::vector<DraftNumber> numbers);
    // One whole number beyond 2^53 in every element, put together of two.
    DraftId of_halves(DraftType type, std::uint64_t bits);
    DraftId broadcast(DraftId of, Shape shape, const std::vector<i64>& dims);

    // An entry of an op; operands that are numbers or broadcasts become entries of their own.
    DraftId add(std::string op, const std::vector<DraftId>& operands, std::string arguments, DraftType type);
    DraftId literal(std::string op, std::string literal, const std::vector<DraftId>& operands, std::string arguments,
                    DraftType type);
    std::vector<DraftId> add_many(std::string op, const std::vector<DraftId>& operands, std::string arguments,
                                  const std::vector<DraftType>& types);
    // An entry of a collective, and one of a manual region.
    DraftId collective(std::string op, DraftId operand, std::string arguments, const std::vector<std::string>& over,
                       bool is_same_over, DraftType type);
    DraftId axis_index(const std::vector<std::string>& axes);
    std::vector<DraftId> manual(std::shared_ptr<DraftRegion> region, const std::vector<DraftId>& operands,
                                const std::vector<DraftType>& types);
    // An entry of an op that goes element by element, with numpy's broadcasting of its operands.
    DraftId pointwise(std::string op, std::vector<DraftId> operands, DraftType type, std::string arguments = {});
    DraftId reshape(DraftId value, const Shape& shape);
    DraftId cast(DraftId value, DType dtype);

    void call(DraftId value, const std::string& name); // what it would best be called, if it has no name of its own
    DraftId output(DraftId value, const std::string& name); // the value, as one that an output can have

    // The value as an input or the result of an entry, which it is in a text: of a number, a constant.
    DraftId entry_for(DraftId value) { return made(value); }

    void leave_out(DraftId input) { values_[input].is_left_out = true; }
    void mark_words(DraftId value, DraftId words) { values_[value].words = words; }
    void mark_count(DraftId value) { values_[value].is_count = true; }
    void mark_carried(DraftId value) { values_[value].is_carried = true; }
    bool is_table(DraftId value) const;              // a constant of more numbers than a person reads
    bool counts_along(DraftId value, i64 dim) const; // 0, 1, 2, ... along the dim, the same along the others

    const DraftValue& operator[](DraftId value) const { return values_[value]; }
    const DraftType& type(DraftId value) const { return values_[value].type; }
    const DraftEntry* entry_of(DraftId value) const { // that it is a result of, or null
        return values_[value].entry < 0 ? nullptr : &entries_[static_cast<size_t>(values_[value].entry)];
    }
    // The same, or null where a loop hands the value on: what is seen there is not so in all of its trips.
    const DraftEntry* sure_entry_of(DraftId value) const {
        return values_[value].is_carried ? nullptr : entry_of(value);
    }
    size_t entry_count() const { return entries_.size(); }
    const DraftEntry& entry(size_t number) const { return entries_[number]; }
    // Where new entries are from: the module that they are named after, the op, the line of the traced program, and
    // whether it is in its backward pass.
    void set_origin(std::string scope, Span place, std::string line, bool is_backward) {
        scope_ = std::move(scope), place_ = place, line_ = std::move(line), is_backward_ = is_backward;
    }

    const std::string& line() const { return line_; } // where new entries are from; or empty

    // Of the results of a manual region those by these numbers leave it.
    void keep_results(size_t number, const std::vector<size_t>& kept);
    // Another op makes an entry's results, of values that are made above.
    void replace(size_t entry, std::string op, std::vector<DraftId> operands, std::string arguments);
    // An entry that stands beside another: named after it, of its line. It is the last until the order is said.
    DraftId add_beside(size_t entry, std::string op, std::string literal, std::vector<DraftId> operands,
                       std::string arguments, DraftType type);
    void mark_inside(size_t entry) { entries_[entry].is_inside = true; }
    void reorder(const std::vector<size_t>& order); // all entries, each once, and behind those that it reads
    // Called otherwise than it would best be: names are given at the end (importer/model/model_text.h).
    void rename(DraftId value, std::string name) { values_[value].name = std::move(name); }
    const std::string& name_of(DraftId value) const { return values_[value].name; }
    DraftId value_count() const { return static_cast<DraftId>(values_.size()); }
    // Which entries these values need, themselves or by others.
    std::vector<bool> needed_for(const std::vector<DraftId>& values) const;

private:
    DraftId made(DraftId value);                 // as an input or the result of an entry
    DraftId aligned(DraftId value, size_t rank); // a broadcast's operand, with dims of size 1 where it is repeated

    std::deque<DraftValue> values_; // no vector: types and entries that are looked at stay where they are
    std::deque<DraftEntry> entries_;
    // Once for each module: layers that are alike then have the same entries.
    std::map<std::tuple<DraftId, Shape, std::string>, DraftId> reshaped_;
    std::map<std::string, DraftId> constants_; // by what is written of them
    std::string scope_;
    Span place_;
    std::string line_;
    bool is_backward_ = false;
};

std::string number_text(DType dtype, const DraftNumber& number); // "0.5", "-.inf", "true", "3"
std::string list_text(const std::vector<i64>& numbers);          // "[2, 3]"
std::string name_text(std::string_view text);                    // letters, digits and '_' of it, as a name
// Whole numbers of 64 bits as high * 2^32 + low: numbers of a model pass through f64. nullopt: that holds all of them.
struct NumberHalves {
    std::vector<i64> high, low;
};
std::optional<NumberHalves> halves_of(DType dtype, const std::vector<i64>& numbers);
std::optional<NumberHalves> halves_of(DType dtype, const std::vector<std::string>& written);
// What an entry of a graph begins with: "- a, b: ", and with a mark where YAML asks for one.
std::string entry_key(const std::string& indent, const std::vector<std::string>& results);

} // namespace shard
