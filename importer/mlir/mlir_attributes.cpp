#include "importer/mlir/mlir_attributes.h"

#include "plans/base/parse_number.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr int most_levels = 64;
constexpr i64 most_elements = i64{1} << 57; // of eight bytes each: what a model may have
constexpr i64 most_copied = 1'000'000;      // attributes, by aliases

i64 count_of(const MlirAttribute& attribute) {
    i64 count = 1 + std::ssize(attribute.numbers);
    for (const MlirItem& item : attribute.items)
        for (const MlirAttribute& part : item.parts) count += count_of(part);
    return count;
}

} // namespace

MlirDepth::MlirDepth(MlirCursor& cursor, int& depth) : depth_(depth) {
    if (++depth_ > most_levels)
        cursor.fail("E0802", cursor.here(), fmt::format("this nests more than {} levels deep", most_levels),
                    "look for a bracket that is opened too often");
}

bool MlirAttributeReader::begins_type() {
    const std::string_view word = cursor_.peek_word();
    return cursor_.peek() == '!' || word == "tensor" || word == "tuple" || word == "complex";
}

MlirAttribute MlirAttributeReader::bracketed(std::string text, char close) {
    MlirAttribute attribute;
    attribute.kind = MlirAttribute::Kind::list;
    attribute.text = std::move(text);
    attribute.items = items(close);
    return attribute;
}

MlirAttribute MlirAttributeReader::attribute(bool typed) {
    const MlirDepth level(cursor_, depth_);
    MlirAttribute attribute;
    const Span begin = cursor_.here();
    const char next = cursor_.peek();
    if (next == '"') {
        attribute.kind = MlirAttribute::Kind::text;
        attribute.text = cursor_.quoted();
    } else if (next == '@') {
        cursor_.take('@');
        attribute.kind = MlirAttribute::Kind::symbol;
        attribute.text = cursor_.name();
        while (cursor_.take("::@")) attribute.text += "." + cursor_.name();
    } else if (next == '#') {
        cursor_.take('#');
        const std::string name = "#" + std::string(cursor_.word());
        if (cursor_.take('<'))
            attribute = bracketed(name, '>');
        else if (attribute_aliases_.contains(name))
            attribute = alias_of(name);
        else
            attribute.text = name;
    } else if (cursor_.take('[')) {
        attribute = bracketed("[", ']');
    } else if (cursor_.take('{')) {
        attribute = bracketed("{", '}');
    } else if (cursor_.take('(')) {
        attribute = bracketed("(", ')');
    } else if (cursor_.take('<')) {
        attribute = bracketed("<", '>');
    } else if (cursor_.take("->")) {
        attribute.text = "->";
    } else if (cursor_.take('?')) {
        attribute.text = "?";
    } else if (begins_type()) {
        attribute.kind = MlirAttribute::Kind::type;
        attribute.type = type();
    } else if (cursor_.next_is_word()) {
        attribute = after_word(begin);
    } else {
        attribute.text = cursor_.number();
        if (attribute.text.empty()) {
            cursor_.expected("a value");
            return attribute;
        }
        const std::optional<i64> integer = parse_number<i64>(attribute.text);
        if (integer) {
            attribute.kind = MlirAttribute::Kind::integer;
            attribute.integer = *integer;
        }
        // "1 : i64" is a number with its type; in "[0:8:2]" what follows is another number.
        if (typed && cursor_.peek() == ':') {
            cursor_.take(':');
            if (begins_type() || cursor_.next_is_word()) type();
        }
    }
    attribute.span = cursor_.from(begin);
    return attribute;
}

// Aliases of aliases grow with every line, so what they stand for is counted before it is copied.
MlirAttribute MlirAttributeReader::alias_of(const std::string& name) {
    const MlirAttribute& meant = attribute_aliases_.at(name);
    copied_ += count_of(meant);
    if (copied_ <= most_copied) return meant;
    cursor_.fail("E0802", cursor_.here(), fmt::format("aliases stand for more than {} attributes", most_copied),
                 "write out what they stand for, where it is used");
    return {};
}

MlirAttribute MlirAttributeReader::after_word(const Span& begin) {
    MlirAttribute attribute;
    attribute.text = cursor_.word();
    if (attribute.text == "dense" && cursor_.peek() == '<') {
        elements(attribute);
    } else if (attribute.text == "array" && cursor_.take('<')) {
        // array<i64: 1, 2> is a list; its element type says nothing that the op does not.
        cursor_.word();
        cursor_.take(':');
        attribute = bracketed("[", '>');
    } else if (cursor_.peek() == '<' && !cursor_.on_new_line()) {
        // What another dialect has, dense_resource<..> too: kept as a list that nobody asks for.
        cursor_.take('<');
        attribute = bracketed(attribute.text, '>');
    }
    attribute.span = cursor_.from(begin);
    return attribute;
}

std::vector<MlirItem> MlirAttributeReader::items(char close) {
    const MlirDepth level(cursor_, depth_);
    std::vector<MlirItem> result;
    while (!cursor_.failed() && !cursor_.take(close)) {
        result.push_back(item(close));
        if (!cursor_.take(',') && cursor_.peek() != close) cursor_.expected(fmt::format("',' or '{}'", close));
    }
    return result;
}

MlirItem MlirAttributeReader::item(char close) {
    MlirItem result;
    while (!cursor_.failed() && cursor_.peek() != ',' && cursor_.peek() != close) {
        result.parts.push_back(attribute(true));
        MlirAttribute& last = result.parts.back();
        if (result.parts.size() == 1 && result.key.empty() && cursor_.take('=')) {
            result.key = last.text;
            result.parts.clear();
        }
        cursor_.take(':');
    }
    return result;
}

void MlirAttributeReader::elements(MlirAttribute& attribute) {
    attribute.kind = MlirAttribute::Kind::elements;
    attribute.text.clear();
    cursor_.expect('<');
    attribute.is_listed = cursor_.peek() == '[';
    if (cursor_.peek() == '"')
        attribute.text = cursor_.quoted();
    else if (cursor_.peek() != '>')
        element_list(attribute);
    cursor_.expect('>');
    cursor_.expect(':');
    attribute.type = type();
}

void MlirAttributeReader::element_list(MlirAttribute& attribute) {
    const MlirDepth level(cursor_, depth_);
    // A complex number is written as a pair, and becomes two numbers.
    const char open = cursor_.peek();
    if (open == '[' || open == '(') {
        const char close = open == '[' ? ']' : ')';
        cursor_.take(open);
        while (!cursor_.failed() && !cursor_.take(close)) {
            element_list(attribute);
            if (!cursor_.take(',') && cursor_.peek() != close) cursor_.expected(fmt::format("',' or '{}'", close));
        }
        return;
    }
    const std::string_view text = cursor_.next_is_word() ? cursor_.word() : cursor_.number();
    if (text.empty()) cursor_.expected("a number");
    attribute.numbers.emplace_back(text);
}

MlirType MlirAttributeReader::type() {
    const MlirDepth level(cursor_, depth_);
    MlirType result;
    if (cursor_.take('!')) result.element = "!";
    const Span begin = cursor_.here();
    const std::string_view word = cursor_.word();
    result.element += word;
    if (word.empty()) cursor_.expected("a type");
    if (!cursor_.take('<')) return result;
    if (word == "complex") {
        result.element += "<" + type().element + ">";
        cursor_.expect('>');
        return result;
    }
    if (word != "tensor") {
        // tuple<...>, quantized types: kept as words that no op here takes.
        for (const MlirItem& item : items('>'))
            for (const MlirAttribute& part : item.parts)
                result.element += part.kind == MlirAttribute::Kind::type ? "." + text_of(part.type) : "." + part.text;
        return result;
    }
    result.is_tensor = true;
    // Sizes are followed by an x, without a blank: 8x16xf32.
    while (!cursor_.failed()) {
        const char next = cursor_.peek();
        if (next == '?' || next == '*') {
            cursor_.fail("E0804", cursor_.here(), "a size that is not known before the program runs",
                         "trace the program with arrays of fixed shapes");
            return result;
        }
        if (next < '0' || next > '9') break;
        std::string digits;
        while (cursor_.peek() >= '0' && cursor_.peek() <= '9') digits += cursor_.take_any();
        const std::optional<i64> size = parse_number<i64>(digits);
        if (!size || !cursor_.take('x')) {
            cursor_.expected("a size and an 'x'");
            return result;
        }
        result.shape.push_back(*size);
    }
    const std::optional<i64> count = checked_element_count(result.shape);
    if (!count || *count > most_elements)
        cursor_.fail("E0802", cursor_.from(begin), "a tensor of more than 2^60 bytes", "choose smaller sizes");
    result.element = cursor_.next_is_word() ? type().element : std::string();
    if (result.element.empty()) cursor_.expected("an element type");
    if (cursor_.take(',')) attribute(true); // an encoding
    cursor_.expect('>');
    return result;
}

int MlirAttributeReader::location() {
    if (cursor_.peek_word() != "loc") return -1;
    cursor_.word();
    if (!cursor_.expect('(')) return -1;
    const int result = location_body();
    cursor_.expect(')');
    return result;
}

// What stands in loc(...): #alias, "name"(inside), "file":line:column, callsite(a at b), fused[a, b], unknown.
int MlirAttributeReader::location_body() {
    const MlirDepth level(cursor_, depth_);
    const int index = static_cast<int>(module_.locations.size());
    module_.locations.emplace_back();
    if (cursor_.take('#')) {
        unresolved_.emplace_back(index, std::string(cursor_.word()));
        return index;
    }
    if (cursor_.peek() == '"') {
        const std::string text = cursor_.quoted();
        if (cursor_.take(':')) {
            module_.locations[index].file = text;
            module_.locations[index].line = parse_number<int>(cursor_.number()).value_or(0);
            cursor_.take(':');
            cursor_.number();
            if (cursor_.take("to")) { // a range: ":36" or "5:36"
                cursor_.number();
                if (cursor_.take(':')) cursor_.number();
            }
            return index;
        }
        module_.locations[index].name = text;
        if (cursor_.take('(')) {
            const int inside = location_body();
            module_.locations[index].inside.push_back(inside);
            cursor_.expect(')');
        }
        return index;
    }
    const std::string_view word = cursor_.word();
    if (word == "fused" && cursor_.take('<')) items('>');
    const char close = word == "callsite" ? ')' : ']';
    if (!cursor_.take(word == "callsite" ? '(' : '[')) {
        if (word != "unknown") cursor_.expected("a place");
        return index;
    }
    while (!cursor_.failed() && !cursor_.take(close)) {
        const int inside = location_body();
        module_.locations[index].inside.push_back(inside);
        if (!cursor_.take("at") && !cursor_.take(',') && cursor_.peek() != close) cursor_.expected("another place");
    }
    return index;
}

void MlirAttributeReader::alias() {
    cursor_.expect('#');
    const std::string name(cursor_.word());
    cursor_.expect('=');
    if (cursor_.peek_word() == "loc")
        location_aliases_[name] = location();
    else
        attribute_aliases_["#" + name] = attribute(true);
}

void MlirAttributeReader::resolve_aliases() {
    for (const std::pair<int, std::string>& use : unresolved_)
        if (const std::map<std::string, int>::const_iterator it = location_aliases_.find(use.second);
            it != location_aliases_.end())
            module_.locations[use.first].inside.push_back(it->second);
}

} // namespace shard
