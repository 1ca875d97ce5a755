// What the parts of random_case share: a tape of numbers that decides everything, and the model written so far.
#pragma once

#include "plans/base/base.h"
#include "tests/support/random_case.h"

#include <functional>
#include <string>
#include <vector>

namespace shard {

// Past its end every choice is 0, the simplest.
class Tape {
public:
    explicit Tape(const std::vector<std::uint32_t>& numbers) : numbers_(numbers) {}
    size_t choose(size_t count) {
        const size_t at = position_++;
        return at < numbers_.size() ? numbers_[at] % count : 0;
    }
    bool chance(size_t one_in) { return choose(one_in) == 1; }

private:
    const std::vector<std::uint32_t>& numbers_;
    size_t position_ = 0;
};

struct CaseAxis {
    std::string name;
    i64 size;
};

// A value that later ops may use. `exact`: every correct plan and the interpreter have the same bits, so ops that jump
// (floor, gt, a cast to whole numbers) may be applied to it.
struct Known {
    std::string name;
    std::vector<i64> shape;
    std::string dtype = "f32";
    bool exact = true;
};

struct CaseWriter {
    Tape tape;
    RandomCaseOptions options;
    std::vector<CaseAxis> mesh, logical;
    std::vector<Known> values;
    std::string inputs, params, modules, graph;
    std::vector<Known> tensors; // inputs and params, for overrides; dtype is "inputs" or "params"
    int next_value = 0, next_tensor = 0, next_module = 0;

    size_t choose(size_t count) { return tape.choose(count); }
    bool chance(size_t one_in) { return tape.chance(one_in); }
    const std::string& choose(const std::vector<std::string>& names) { return names[tape.choose(names.size())]; }

    // The type, or f64 in place of another floating-point type if only that is wanted.
    std::string floating(const std::string& dtype) const;
    // A value, the newest for 0.
    Known any() { return values[values.size() - 1 - choose(values.size())]; }
    // A value for which fits() holds; an empty name if there is none.
    Known any(const std::function<bool(const Known&)>& fits);
    // Appends an entry `name: {op}`; the name is new, or now and then one that was bound before.
    Known emit(const std::string& op, std::vector<i64> shape, std::string dtype, bool exact);
    Known emit(const std::string& op, const Known& like) { return emit(op, like.shape, like.dtype, like.exact); }
    // A step on the way to an op: never rebinds, so names that are held stay what they were.
    Known help(const std::string& op, const Known& like, bool exact);
    // An op whose results are rounded in an order of its own.
    Known emit_rounded(const std::string& op, std::vector<i64> shape, const std::string& dtype, bool exact);
    // A new input or parameter of this shape; `axes` are its logical names, if it has any.
    Known tensor(const std::vector<i64>& shape, const std::string& dtype, const std::vector<std::string>& axes = {});
};

i64 elements_of(const std::vector<i64>& shape);
bool is_float(const Known& value);

// Whether a dim may be split into so many parts: they divide it, or it is padded, to no more than a few times its size.
bool may_split(const CaseWriter& writer, i64 size, i64 parts);
// A sharding by mesh axes and parts of them, in list form. It splits as it may, and uses nothing twice.
std::string random_spec(CaseWriter& writer, const std::vector<i64>& shape);

// Ops by kind: each appends one entry or a few. An op that fits no value falls back to a unary one.
using CaseStep = void (*)(CaseWriter&);
const std::vector<CaseStep>& pointwise_steps();
const std::vector<CaseStep>& contraction_steps();
const std::vector<CaseStep>& move_steps();
const std::vector<CaseStep>& composite_steps();
const std::vector<CaseStep>& order_steps();
const std::vector<CaseStep>& window_steps();
const std::vector<CaseStep>& draw_steps();

void unary_step(CaseWriter& writer);

} // namespace shard
