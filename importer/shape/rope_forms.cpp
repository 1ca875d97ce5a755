#include "importer/shape/rope_forms.h"

#include "importer/shape/rope_frequencies.h"
#include "importer/shape/rope_terms.h"
#include "importer/shape/step_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

class Recognised {
public:
    Recognised(Taking& taking, const DraftEntry& root)
        : taking_(taking), draft_(taking.draft()), root_(root.results[0]), shape_(draft_.type(root_).shape),
          dtype_(draft_.type(root_).dtype), steps_(draft_, factors_), reader_(draft_, dtype_) {}

    std::optional<Composite> run() {
        const size_t rank = shape_.size();
        if (!is_floating(dtype_) || rank < 2 || element_count(shape_) == 0 || shape_.back() % 2 != 0)
            return std::nullopt;
        for (i64 j = 0; j < shape_.back(); ++j) {
            Element element{root_, std::vector<Place>(rank)};
            for (size_t d = 0; d + 1 < rank; ++d)
                if (shape_[d] != 1) element.index[d].along = static_cast<int>(d);
            element.index.back().at = j;
            std::optional<std::vector<RopeTerm>> terms = reader_.read(element);
            if (!terms) return std::nullopt;
            terms_.push_back(std::move(*terms));
        }
        if (!find_x() || !is_of_one_position() || !find_pairs() || !give_roles()) return std::nullopt;
        for (const DraftId value : taken_) taking_.made(value);
        for (const DraftId value : reader_.taken()) taking_.made(value);
        return written();
    }

private:
    // --- what is turned, and by which angles ---

    struct Counted {
        size_t dim = 0;
        i64 place = 0;
    };

    // The one dim along which places are counted, if the others are all dims of the result, whole.
    std::optional<Counted> counted_in(const Element& element) const {
        const Shape& shape = draft_.type(element.value).shape;
        std::optional<Counted> found;
        std::set<int> along;
        for (size_t d = 0; d < shape.size(); ++d) {
            const Place& at = element.index[d];
            if (shape[d] == 1) continue;
            if (at.along < 0) {
                if (found) return std::nullopt;
                found = Counted{d, at.at};
            } else if (!is_whole(at, shape[d]) || !along.insert(at.along).second) {
                return std::nullopt;
            }
        }
        const std::ptrdiff_t all = std::count_if(shape_.begin(), shape_.end() - 1, [](i64 size) { return size != 1; });
        return std::ssize(along) == all ? found : std::nullopt;
    }

    bool is_whole(const Place& place, i64 size) const {
        return place.at == 0 && size == shape_[static_cast<size_t>(place.along)];
    }

    // The nearest value that all terms are made of, by one dim.
    bool find_x() {
        for (const SignedElement& candidate : terms_[0][0].x) {
            const DraftId value = candidate.element.value;
            if (draft_[value].number || !take_places(value)) continue;
            x_ = candidate.element;
            for (const std::vector<RopeTerm>& terms : terms_)
                for (const RopeTerm& term : terms)
                    for (size_t i = 0; term.x[i].element.value != value; ++i) taken_.insert(term.x[i].element.value);
            return true;
        }
        return false;
    }

    bool take_places(DraftId value) {
        std::optional<std::vector<Place>> rest; // along the other dims, which are the same
        first_ = INT64_MAX;
        for (std::vector<RopeTerm>& terms : terms_)
            for (RopeTerm& term : terms) {
                const std::vector<SignedElement>::const_iterator source = std::find_if(
                    term.x.begin(), term.x.end(), [&](const SignedElement& one) { return one.element.value == value; });
                const std::optional<Counted> counted =
                    source == term.x.end() ? std::nullopt : counted_in(source->element);
                if (!counted) return false;
                std::vector<Place> others = source->element.index;
                others[counted->dim] = {-1, -1};
                if (rest && *rest != others) return false;
                rest = std::move(others);
                turned_dim_ = counted->dim;
                term.place = counted->place;
                term.is_subtracted = term.is_negative != source->is_negative;
                first_ = std::min(first_, term.place);
            }
        return true;
    }

    bool is_of_one_position() {
        position_ = terms_[0][0].angle.position;
        factor_ = terms_[0][0].factor;
        for (const std::vector<RopeTerm>& terms : terms_)
            for (const RopeTerm& term : terms)
                if (!are_alike(draft_, term.angle.position.value, position_.value) ||
                    term.angle.position.index != position_.index || term.angle.position.last != position_.last ||
                    term.factor != factor_)
                    return false;
        // One pair alone may be turned by whatever angle.
        return shape_.back() > 2 || is_integer(draft_.type(position_.value).dtype);
    }

    // Pair k: its cosine and sine turn elements k and half + k, or 2 k and 2 k + 1, of x and of the result.
    static i64 place_of(bool is_beside, i64 half, i64 k, i64 part) {
        return is_beside ? 2 * k + part : part * half + k;
    }

    bool find_pairs() {
        for (const bool x_beside : {false, true})
            for (const bool made_beside : {false, true}) {
                x_beside_ = x_beside, made_beside_ = made_beside;
                if (are_pairs()) return find_frequencies();
            }
        return false;
    }

    bool are_pairs() const {
        const i64 half = shape_.back() / 2;
        for (i64 k = 0; k < half; ++k)
            for (const i64 part : {0, 1}) {
                const std::vector<RopeTerm>& terms = terms_of(k, part);
                if (terms[0].place != first_ + place_of(x_beside_, half, k, part) || terms[0].is_subtracted ||
                    terms[1].place != first_ + place_of(x_beside_, half, k, 1 - part) ||
                    terms[1].is_subtracted != (part == 0))
                    return false;
            }
        return true;
    }

    const std::vector<RopeTerm>& terms_of(i64 k, i64 part) const {
        return terms_[static_cast<size_t>(place_of(made_beside_, shape_.back() / 2, k, part))];
    }

    bool find_frequencies() {
        std::vector<double> frequencies;
        for (i64 k = 0; k < shape_.back() / 2; ++k) {
            frequencies.push_back(terms_of(k, 0)[0].angle.frequency);
            for (const i64 part : {0, 1})
                for (const RopeTerm& term : terms_of(k, part))
                    if (term.angle.frequency != frequencies.back()) return false;
        }
        const std::optional<RopeFrequencies> found = rope_frequencies(frequencies, computed_as(dtype_));
        if (!found) return false;
        frequencies_ = *found;
        return true;
    }

    // --- which dims they are, and what is written ---

    bool give_roles() {
        made_ = factors_.fresh(shape_);
        const i64 half = shape_.back() / 2;
        const int pair = factors_.factor(2), each = factors_.factor(half);
        width_ = half == 1 ? Factors{pair} : Factors{pair, each};
        const Factors beside = half == 1 ? Factors{pair} : Factors{each, pair};
        made_.back() = made_beside_ ? beside : width_;
        of_x_ = x_beside_ ? beside : width_;
        is_counted_ = draft_[position_.value].is_count && position_.last < 0;
        std::vector<int> along; // dims of the result that positions are along
        for (size_t d = 0; d < position_.index.size(); ++d) {
            const Place& place = position_.index[d];
            if (place.along < 0) continue;
            if (!is_counted_ && !is_whole(place, draft_.type(position_.value).shape[d])) return false;
            along.push_back(place.along);
        }
        if (along.size() > 2 || (along.size() == 2 && along[0] == along[1])) return false;
        int batch = along.size() == 2 ? along.front() : -1, length = along.empty() ? -1 : along.back();
        if (!is_counted_ && along == std::vector<int>{0} && shape_.size() == 4 && shape_[1] == 1)
            std::swap(batch, length); // one position for each of the batch
        std::vector<int> rest;
        for (int d = 0; d + 1 < std::ssize(shape_); ++d)
            if (d != length && d != batch && shape_[static_cast<size_t>(d)] != 1) rest.push_back(d);
        // Of the others the first is the batch, unless it alone stands behind the length.
        if (batch < 0 && !rest.empty() && (rest.size() > 1 || rest.front() < std::max(length, 1))) {
            batch = rest.front();
            rest.erase(rest.begin());
        }
        const auto factors_of = [&](int dim) { return dim < 0 ? Factors() : made_[static_cast<size_t>(dim)]; };
        batch_ = factors_of(batch);
        length_ = factors_of(length);
        for (const int dim : rest) {
            const Factors factors = factors_of(dim);
            heads_.insert(heads_.end(), factors.begin(), factors.end());
        }
        return true;
    }

    bool are_same(const FactorDims& a, const FactorDims& b) const {
        return a.size() == b.size() &&
               std::equal(a.begin(), a.end(), b.begin(),
                          [&](const Factors& x, const Factors& y) { return factors_.parts(x) == factors_.parts(y); });
    }

    // x as (batch, length, heads, width): what it was made of, if that is so.
    DraftId turned(const FactorDims& wanted) {
        DraftId value = x_.value;
        const Shape& shape = draft_.type(value).shape;
        FactorDims dims(shape.size());
        for (size_t d = 0; d < shape.size(); ++d)
            if (x_.index[d].along >= 0) dims[d] = made_[static_cast<size_t>(x_.index[d].along)];
        dims[turned_dim_] = of_x_;
        DraftId whole = value;
        if (shape[turned_dim_] == shape_.back()) {
            FactorDims above = dims;
            for (const DraftEntry* entry = draft_.entry_of(whole); entry != nullptr; entry = draft_.entry_of(whole)) {
                if (are_same(above, wanted)) {
                    value = whole, dims = above;
                    break;
                }
                std::optional<FactorDims> more = factors_.above(draft_, *entry, above);
                if (!more) break;
                whole = entry->operands[0];
                above = std::move(*more);
            }
        } else {
            Shape part = shape;
            part[turned_dim_] = shape_.back();
            value = steps_.add(
                "slice", {value},
                fmt::format(", dim: [{}], start: [{}], limit: [{}]", turned_dim_, first_, first_ + shape_.back()),
                {draft_.type(value).dtype, part});
        }
        if (const DType from = steps_.type(value).dtype; from != dtype_)
            value = steps_.add("cast", {value}, fmt::format(", dtype: {}", name(dtype_)),
                               {dtype_, steps_.type(value).shape});
        return steps_.moved(value, dims, wanted);
    }

    // Positions that a table was looked up by: those outside of it are its ends.
    DraftId within(const Element& position) {
        if (position.last < 0) return position.value;
        const DraftType& type = draft_.type(position.value);
        const auto number = [&](i64 place) { return taking_.as_operand(type.dtype, {0, place}); };
        const DraftId least = steps_.add("max", {position.value, number(0)}, {}, type);
        return steps_.add("min", {least, number(position.last)}, {}, type);
    }

    std::optional<Composite> written() {
        const FactorDims wanted = {batch_, length_, heads_, width_};
        std::vector<DraftId> operands = {turned(wanted)};
        if (!is_counted_) {
            FactorDims dims;
            for (const Place& place : position_.index)
                dims.push_back(place.along < 0 ? Factors() : made_[static_cast<size_t>(place.along)]);
            const bool has_batch = !batch_.empty() && std::find(dims.begin(), dims.end(), batch_) != dims.end();
            operands.push_back(
                steps_.moved(within(position_), dims, has_batch ? FactorDims{batch_, length_} : FactorDims{length_}));
        }
        std::string arguments;
        const auto number = [](double value) { return number_text(DType::f64, {value, 0}); };
        if (frequencies_.theta && *frequencies_.theta != 10000)
            arguments += fmt::format(", theta: {}", number(*frequencies_.theta));
        for (size_t i = 0; i < frequencies_.scaling.size(); ++i)
            arguments += (i == 0 ? ", scaling: [" : ", ") + number(frequencies_.scaling[i]);
        if (!frequencies_.scaling.empty()) arguments += "]";
        const DraftType type = {dtype_, factors_.shape(wanted)};
        DraftId made = steps_.add("rope", operands, arguments, type);
        if (factor_ != 1)
            made = steps_.add(
                "mul",
                {made, taking_.as_operand(dtype_, {dtype_ == DType::f64 ? factor_ : static_cast<float>(factor_), 0})},
                {}, type);
        steps_.moved(made, wanted, made_);
        return std::move(steps_).composite();
    }

    Taking& taking_;
    const Draft& draft_;
    DraftId root_; // the result, and its type
    Shape shape_;
    DType dtype_;
    FactoredDims factors_;
    StepBuilder steps_;
    RopeTermReader reader_;
    std::vector<std::vector<RopeTerm>> terms_; // by place along the last dim: the cosine's, the sine's
    std::set<DraftId> taken_;
    Element x_;
    size_t turned_dim_ = 0; // of x
    i64 first_ = 0;         // the first place along it
    Element position_;
    double factor_ = 1;
    bool is_counted_ = false;
    bool x_beside_ = false, made_beside_ = false; // pairs are neighbours
    RopeFrequencies frequencies_;
    FactorDims made_; // of the result
    Factors of_x_, batch_, length_, heads_, width_;
};

std::optional<Composite> rope(Taking& taking, const DraftEntry& root) { return Recognised(taking, root).run(); }

} // namespace

std::vector<CompositeForm> rope_forms() { return {{"concatenate", rope}, {"add", rope}, {"reshape", rope}}; }

} // namespace shard
