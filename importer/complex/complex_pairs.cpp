#include "importer/complex/complex_pairs.h"

#include "importer/complex/complex_arithmetic.h"
#include "importer/complex/fourier.h"
#include "importer/complex/part_names.h"
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace shard {

namespace {

class ComplexPairs {
public:
    ComplexPairs(MlirModule& module, Diagnostics& diagnostics)
        : module_(module), diagnostics_(diagnostics), ops_(module), pairs_(module.values.size()),
          same_as_(module.values.size(), -1) {}

    void run() {
        for (MlirFunction& function : module_.functions) {
            describe_parts(module_, function);
            region(function.body);
        }
    }

private:
    using Rule = bool (ComplexPairs::*)(const MlirOp& op);

    static const std::map<std::string_view, Rule>& rules() {
        static const std::map<std::string_view, Rule> table = [] {
            std::map<std::string_view, Rule> rules = {
                {"stablehlo.complex", &ComplexPairs::put_together},
                {"stablehlo.real", &ComplexPairs::take_part<&Pair::real>},
                {"stablehlo.imag", &ComplexPairs::take_part<&Pair::imaginary>},
                {"stablehlo.convert", &ComplexPairs::convert},
                {"stablehlo.constant", &ComplexPairs::constant},
                {"stablehlo.iota", &ComplexPairs::real_alone},
                {"stablehlo.add", &ComplexPairs::binary<add>},
                {"stablehlo.subtract", &ComplexPairs::binary<subtract>},
                {"stablehlo.multiply", &ComplexPairs::binary<multiply>},
                {"chlo.square", &ComplexPairs::binary<multiply>},
                {"stablehlo.divide", &ComplexPairs::binary<divide>},
                {"stablehlo.abs", &ComplexPairs::absolute},
                {"stablehlo.exponential", &ComplexPairs::unary<exponential>},
                {"stablehlo.log", &ComplexPairs::unary<logarithm>},
                {"stablehlo.sqrt", &ComplexPairs::unary<square_root>},
                {"stablehlo.rsqrt", &ComplexPairs::unary<reciprocal_root>},
                {"stablehlo.sine", &ComplexPairs::unary<sine>},
                {"stablehlo.cosine", &ComplexPairs::unary<cosine>},
                {"stablehlo.tan", &ComplexPairs::unary<tangent>},
                {"stablehlo.tanh", &ComplexPairs::unary<hyperbolic_tangent>},
                {"stablehlo.power", &ComplexPairs::binary<power>},
                {"stablehlo.compare", &ComplexPairs::compare},
                {"stablehlo.dot_general", &ComplexPairs::contract},
                {"stablehlo.fft", &ComplexPairs::transform},
            };
            // Linear in each part, or they only move elements.
            for (const std::string_view name : {"stablehlo.negate",
                                                "stablehlo.broadcast_in_dim",
                                                "stablehlo.reshape",
                                                "stablehlo.transpose",
                                                "stablehlo.reverse",
                                                "stablehlo.slice",
                                                "stablehlo.concatenate",
                                                "stablehlo.pad",
                                                "stablehlo.dynamic_slice",
                                                "stablehlo.dynamic_update_slice",
                                                "stablehlo.gather",
                                                "stablehlo.select",
                                                "stablehlo.reduce",
                                                "stablehlo.reduce_window",
                                                "stablehlo.scatter",
                                                "stablehlo.custom_call",
                                                "stablehlo.all_gather",
                                                "stablehlo.all_to_all",
                                                "stablehlo.collective_permute",
                                                "sdy.sharding_constraint"})
                rules.emplace(name, &ComplexPairs::by_part);
            for (const std::string_view name :
                 {"stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.composite", "func.call",
                  "stablehlo.optimization_barrier", "stablehlo.return", "func.return"})
                rules.emplace(name, &ComplexPairs::in_turn);
            return rules;
        }();
        return table;
    }

    bool is_complex(MlirId id) const { return is_complex_type(module_.type(id)); }
    MlirType real(MlirId id) const { return real_type(module_.type(id)); }
    MlirId now(MlirId id) const { return at(same_as_, id) >= 0 ? same_as_[static_cast<size_t>(id)] : id; }
    // Values that are made here are real, and stand for themselves.
    MlirId at(const std::vector<MlirId>& list, MlirId id) const {
        return static_cast<size_t>(id) < list.size() ? list[static_cast<size_t>(id)] : -1;
    }

    Pair pair(MlirId id) const {
        if (is_complex(id)) return pairs_[static_cast<size_t>(id)];
        return {now(id), std::nullopt};
    }
    bool set(const MlirOp& op, Pair made) {
        pairs_[static_cast<size_t>(op.results[0])] = made;
        return true;
    }
    bool set_real(const MlirOp& op, Part made) {
        same_as_[static_cast<size_t>(op.results[0])] = ops_.whole(made, module_.type(op.results[0]));
        return true;
    }
    std::array<MlirId, 2> whole(MlirId id) {
        const Pair parts = pair(id);
        return {ops_.whole(parts.real, real(id)), ops_.whole(parts.imaginary, real(id))};
    }

    bool expect(const MlirOp& op, bool condition, std::string_view what) {
        if (!condition) diagnostics_.error("E0801", op.span, fmt::format("{} {}", op.name, what));
        return condition;
    }
    bool takes(const MlirOp& op, size_t operands) {
        return expect(op, op.operands.size() == operands && op.results.size() == 1,
                      fmt::format("takes {} operand{} and has a result", operands, operands == 1 ? "" : "s"));
    }
    // Operands and result are of one type.
    bool alike(const MlirOp& op, size_t operands) {
        if (!takes(op, operands)) return false;
        const auto is_alike = [&](MlirId id) { return module_.type(id) == module_.type(op.results[0]); };
        return expect(op, std::all_of(op.operands.begin(), op.operands.end(), is_alike), "has values of one type");
    }

    // --- places with two values for one ---

    void region(MlirRegion& region) {
        std::vector<MlirId> arguments;
        for (const MlirId id : region.arguments) {
            if (!is_complex(id)) {
                arguments.push_back(id);
                continue;
            }
            std::array<MlirId, 2> parts;
            for (size_t part = 0; part < 2; ++part) {
                const MlirValue whole = module_.values[static_cast<size_t>(id)];
                parts[part] = ops_.value(real_type(whole.type));
                MlirValue& made = module_.values[static_cast<size_t>(parts[part])];
                made.span = whole.span;
                made.location = location_of_part(module_, whole.location, part);
                arguments.push_back(parts[part]);
            }
            pairs_[static_cast<size_t>(id)] = {parts[0], parts[1]};
        }
        region.arguments = std::move(arguments);
        std::vector<MlirOp> taken = std::exchange(region.ops, {});
        std::vector<MlirOp>* const outer = std::exchange(into_, &region.ops);
        for (MlirOp& op : taken) {
            if (diagnostics_.has_error()) break;
            take(std::move(op));
        }
        into_ = outer;
    }

    void take(MlirOp op) {
        const auto complex = [this](MlirId id) { return is_complex(id); };
        const bool touches = std::any_of(op.operands.begin(), op.operands.end(), complex) ||
                             std::any_of(op.results.begin(), op.results.end(), complex);
        if (!touches) {
            for (MlirId& operand : op.operands) operand = now(operand);
            for (MlirRegion& inner : op.regions) region(inner);
            into_->push_back(std::move(op));
            return;
        }
        const auto rule = rules().find(op.name);
        ops_.begin(op, *into_);
        if (rule == rules().end()) {
            refuse(op);
            return;
        }
        (this->*rule->second)(op);
    }

    bool refuse(const MlirOp& op) {
        diagnostics_.error("E0803", op.span, fmt::format("op '{}' is not supported for complex numbers", op.name))
            .help("sums, products, quotients, powers, exponentials, logarithms, sines, tangents, contractions and "
                  "Fourier transforms "
                  "are; write it with the real and the imaginary parts");
        return false;
    }

    // Values in a row, of which complex ones become two.
    bool in_turn(const MlirOp& op) {
        MlirOp made = op;
        made.operands.clear();
        made.results.clear();
        for (const MlirId id : op.operands) {
            if (is_complex(id))
                for (const MlirId part : whole(id)) made.operands.push_back(part);
            else
                made.operands.push_back(now(id));
        }
        for (const MlirId id : op.results) {
            if (!is_complex(id)) {
                made.results.push_back(id);
                continue;
            }
            const MlirId first = ops_.value(real(id)), second = ops_.value(real(id));
            made.results.insert(made.results.end(), {first, second});
            pairs_[static_cast<size_t>(id)] = {first, second};
        }
        for (MlirRegion& inner : made.regions) region(inner);
        ops_.begin(op, *into_);
        into_->push_back(std::move(made));
        return true;
    }

    // --- each part by itself ---

    bool by_part(const MlirOp& op) {
        if (op.results.size() != 1 || !is_complex(op.results[0])) return refuse(op); // as calls of LAPACK
        const std::string applied = op.name == "stablehlo.reduce" ? applied_op(op) : "stablehlo.add";
        if (applied != "stablehlo.add" || !are_by_part(op)) {
            diagnostics_.error("E0804", op.span, fmt::format("{} of complex numbers by a rule of its own", op.name))
                .help("sums of them are known");
            return false;
        }
        Pair made;
        for (Part Pair::*part : {&Pair::real, &Pair::imaginary}) {
            const auto is_there = [&](MlirId id) { return is_complex(id) && pair(id).*part; };
            if (std::any_of(op.operands.begin(), op.operands.end(), is_there)) made.*part = part_of(op, part);
        }
        return set(op, made);
    }

    bool are_by_part(const MlirOp& op) const {
        for (const MlirRegion& inner : op.regions)
            for (const MlirOp& each : inner.ops) {
                const auto rule = rules().find(each.name);
                if (!each.regions.empty() || rule == rules().end() ||
                    (rule->second != &ComplexPairs::by_part && each.name != "stablehlo.add" &&
                     !each.name.ends_with(".return")))
                    return false;
            }
        return true;
    }

    MlirId part_of(const MlirOp& op, Part Pair::*part) {
        std::vector<MlirId> operands;
        for (const MlirId id : op.operands) {
            if (!is_complex(id)) {
                operands.push_back(now(id));
                continue;
            }
            operands.push_back(ops_.whole(pair(id).*part, real(id)));
        }
        const MlirId result = ops_.make(op.name, std::move(operands), real(op.results[0]), op.items);
        std::vector<MlirRegion> regions;
        for (const MlirRegion& inner : op.regions) regions.push_back(of_real(inner));
        into_->back().regions = std::move(regions);
        return result;
    }

    // The same on real values, with values of its own.
    MlirRegion of_real(const MlirRegion& region) {
        std::map<MlirId, MlirId> becomes;
        const auto fresh = [&](MlirId id) { return becomes[id] = ops_.value(real(id)); };
        MlirRegion made;
        for (const MlirId argument : region.arguments) made.arguments.push_back(fresh(argument));
        for (const MlirOp& op : region.ops) {
            MlirOp& copy = made.ops.emplace_back(op);
            for (MlirId& operand : copy.operands) operand = becomes.contains(operand) ? becomes[operand] : now(operand);
            for (MlirId& result : copy.results) result = fresh(result);
        }
        return made;
    }

    // --- ops that mix the parts ---

    // The operand's parts are of this type, or of its shape alone.
    bool has_parts(const MlirOp& op, MlirId operand, const MlirType& parts, bool of_any_element = false) {
        const MlirType type = real(operand);
        return expect(op, type.shape == parts.shape && (of_any_element || type.element == parts.element),
                      "has parts of another type than its operand or result");
    }

    bool put_together(const MlirOp& op) {
        if (!takes(op, 2) || !expect(op, is_complex(op.results[0]), "has a complex result")) return false;
        const MlirType parts = real(op.results[0]);
        for (const MlirId operand : op.operands)
            if (!expect(op, module_.type(operand) == parts, "has parts of another type than its operand or result"))
                return false;
        return set(op, {now(op.operands[0]), now(op.operands[1])});
    }
    template<Part Pair::*part>
    bool take_part(const MlirOp& op) {
        return takes(op, 1) && has_parts(op, op.operands[0], module_.type(op.results[0])) &&
               set_real(op, pair(op.operands[0]).*part);
    }

    // To complex numbers of another precision, or from real ones. From complex to real there is no conversion.
    bool convert(const MlirOp& op) {
        if (!takes(op, 1) || !expect(op, is_complex(op.results[0]), "has a complex result")) return false;
        const MlirType to = real(op.results[0]);
        if (!has_parts(op, op.operands[0], to, true)) return false;
        const auto converted = [&](Part part) -> Part {
            if (!part || module_.type(*part) == to) return part;
            return ops_.make(op.name, {*part}, to);
        };
        const Pair from = pair(op.operands[0]);
        return set(op, {converted(from.real), converted(from.imaginary)});
    }

    bool real_alone(const MlirOp& op) { return set(op, {ops_.make(op.name, {}, real(op.results[0]), op.items), {}}); }

    // Numbers are written in pairs, bytes stand in pairs.
    bool constant(const MlirOp& op) {
        const MlirAttribute* elements = find_attribute(op.items, {"value"});
        for (const MlirItem& item : op.items)
            for (const MlirAttribute& written : item.parts)
                if (elements == nullptr && written.kind == MlirAttribute::Kind::elements) elements = &written;
        if (!expect(op, elements != nullptr && elements->kind == MlirAttribute::Kind::elements, "needs its elements"))
            return false;
        const MlirType type = real(op.results[0]);
        const size_t digits = type.element == "f64" ? 16 : 8;
        const bool is_bytes = !elements->text.empty();
        if (!expect(op,
                    is_bytes ? elements->text.starts_with("0x") && (elements->text.size() - 2) % (2 * digits) == 0
                             : elements->numbers.size() % 2 == 0,
                    "has elements of two numbers each"))
            return false;
        Pair made;
        for (const size_t part : {0, 1}) {
            MlirAttribute own = *elements;
            own.type = type;
            own.numbers.clear();
            for (size_t i = part; i < elements->numbers.size(); i += 2) own.numbers.push_back(elements->numbers[i]);
            if (is_bytes) {
                own.text = "0x";
                for (size_t at = 2 + part * digits; at < elements->text.size(); at += 2 * digits)
                    own.text += elements->text.substr(at, digits);
            }
            const auto is_zero = [](const std::string& number) { return number == "0.000000e+00"; };
            if (!is_bytes && std::all_of(own.numbers.begin(), own.numbers.end(), is_zero)) continue;
            (part == 0 ? made.real : made.imaginary) = ops_.make(op.name, {}, type, {{"value", {std::move(own)}}});
        }
        return set(op, made);
    }

    // Of one or two operands of the result's type.
    template<Pair (*make)(RealOps&, const Pair&, const MlirType&)>
    bool unary(const MlirOp& op) {
        return alike(op, 1) && set(op, make(ops_, pair(op.operands[0]), real(op.results[0])));
    }
    template<Pair (*make)(RealOps&, const Pair&, const Pair&, const MlirType&)>
    bool binary(const MlirOp& op) {
        const size_t operands = op.name == "chlo.square" ? 1 : 2;
        return alike(op, operands) &&
               set(op, make(ops_, pair(op.operands.front()), pair(op.operands.back()), real(op.results[0])));
    }
    bool absolute(const MlirOp& op) {
        return takes(op, 1) && has_parts(op, op.operands[0], module_.type(op.results[0])) &&
               set_real(op, size_of(ops_, pair(op.operands[0]), real(op.operands[0])));
    }

    // Equal in both parts; complex numbers have no order.
    bool compare(const MlirOp& op) {
        if (!takes(op, 2)) return false;
        const std::string direction = chosen_word(op.items, {"comparison_direction"}, {"EQ", "NE"});
        const bool differ = direction == "NE";
        if (!expect(op, !direction.empty(), "compares complex numbers by EQ or NE")) return false;
        const std::array<MlirId, 2> a = whole(op.operands[0]), b = whole(op.operands[1]);
        const MlirType type = module_.type(op.results[0]);
        std::array<MlirId, 2> parts;
        for (const size_t part : {0, 1})
            parts[part] = ops_.make(op.name, {a[part], b[part]}, type, {word_item({}, direction)});
        return set_real(op, ops_.make(differ ? "stablehlo.or" : "stablehlo.and", {parts[0], parts[1]}, type));
    }

    bool contract(const MlirOp& op) {
        if (!takes(op, 2) || !expect(op, is_complex(op.results[0]), "has a complex result")) return false;
        const Pair a = pair(op.operands[0]), b = pair(op.operands[1]);
        const auto product = [&](Part x, Part y) -> Part {
            if (!x || !y) return std::nullopt;
            return ops_.make(op.name, {*x, *y}, real(op.results[0]), op.items);
        };
        return set(op, {ops_.subtract(product(a.real, b.real), product(a.imaginary, b.imaginary)),
                        ops_.add(product(a.real, b.imaginary), product(a.imaginary, b.real))});
    }

    // Along the last dims, as many as there are lengths.
    bool transform(const MlirOp& op) {
        if (!takes(op, 1)) return false;
        const MlirType from = real(op.operands[0]), to = real(op.results[0]);
        const MlirAttribute* const said = find_attribute(op.items, {"length", "fft_length"});
        const std::optional<std::vector<i64>> lengths = said == nullptr ? std::nullopt : integers_of(*said);
        const std::string kind = chosen_word(op.items, {"type", "fft_type"}, {"FFT", "IFFT", "RFFT", "IRFFT"});
        const bool to_real = kind == "IRFFT", of_real = kind == "RFFT";
        const size_t rank = from.shape.size(), count = lengths ? lengths->size() : 0;
        if (!expect(op, count > 0 && count <= rank && to.shape.size() == rank && !kind.empty(),
                    "needs its lengths and kind"))
            return false;
        bool fits =
            from.element == to.element && is_complex(op.operands[0]) != of_real && is_complex(op.results[0]) != to_real;
        for (size_t i = 0; i < rank; ++i) {
            const bool is_along = i + count >= rank;
            const i64 length = is_along ? (*lengths)[i + count - rank] : from.shape[i];
            const bool is_last = i + 1 == rank;
            fits = fits && length > 0 && from.shape[i] == (to_real && is_last ? length / 2 + 1 : length) &&
                   to.shape[i] == (of_real && is_last ? length / 2 + 1 : length);
            if (fits && is_along && !can_transform(length)) {
                diagnostics_.error("E0804", op.span, fmt::format("a Fourier transform of length {}", length))
                    .help(fmt::format("its largest prime factor is more than {}: pad to another length",
                                      most_fourier_factor));
                return false;
            }
        }
        if (!expect(op, fits, "has lengths that its operand and result have")) return false;
        Pair made = pair(op.operands[0]);
        MlirType type = from;
        if (of_real) {
            made = fourier_of_real(ops_, *made.real);
            type = to;
        }
        const Fourier direction = kind == "FFT" || of_real ? Fourier::forward : Fourier::inverse;
        for (size_t dim = rank - (of_real || to_real ? 1 : 0); dim-- > rank - count;)
            made = fourier(ops_, made, type, dim, direction);
        if (to_real) return set_real(op, fourier_to_real(ops_, made, type, to.shape.back()));
        return set(op, made);
    }

    MlirModule& module_;
    Diagnostics& diagnostics_;
    RealOps ops_;
    std::vector<Pair> pairs_;     // by value that was read, of complex ones
    std::vector<MlirId> same_as_; // likewise, of real ones that another value is
    std::vector<MlirOp>* into_ = nullptr;
};

} // namespace

void complex_to_pairs(MlirModule& module, Diagnostics& diagnostics) {
    const auto complex = [](const MlirValue& value) { return is_complex_type(value.type); };
    if (std::none_of(module.values.begin(), module.values.end(), complex)) return;
    ComplexPairs(module, diagnostics).run();
}

} // namespace shard
