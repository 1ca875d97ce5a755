#include "plans/dtype/element_bits.h"

#include "dtype_headers.inc"

#include <array>
#include <cstring>
#include <type_traits>

namespace shard {

namespace {

// `f` with an element of the type, for it to name the C++ type.
template<typename F>
decltype(auto) visit(DType dtype, F&& f) {
    switch (dtype) {
#define REGISTER(stem)                                                                                                 \
    case DType::stem:                                                                                                  \
        return f(ElementType<DType::stem>::Element{});
#include "dtype_registry.inc"
#undef REGISTER
    }
    internal_error("unknown type");
}

template<typename Element>
std::optional<ElementNumber> number_of(std::uint64_t bits) {
    Element element;
    std::memcpy(static_cast<void*>(&element), &bits, sizeof element);
    if constexpr (is_narrow<Element>) {
        const typename Element::Wide wide = static_cast<typename Element::Wide>(element);
        if constexpr (std::is_integral_v<decltype(wide)>) return ElementNumber{0, wide};
        return ElementNumber{static_cast<double>(wide), 0};
    } else if constexpr (std::is_floating_point_v<Element>) {
        return ElementNumber{element, 0};
    } else {
        if constexpr (std::is_same_v<Element, std::uint64_t>)
            if (element > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
        return ElementNumber{0, static_cast<i64>(element)};
    }
}

template<typename Element>
std::uint64_t bits_of(const ElementNumber& number) {
    Element element;
    if constexpr (is_narrow<Element>) {
        using Wide = typename Element::Wide;
        if constexpr (std::is_integral_v<Wide>)
            element = Element(static_cast<Wide>(number.integer));
        else
            element = Element(static_cast<Wide>(number.real));
    } else if constexpr (std::is_floating_point_v<Element>) {
        element = static_cast<Element>(number.real);
    } else {
        element = static_cast<Element>(number.integer);
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return bits;
}

constexpr std::array<std::int8_t, 256> digit_values = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (int digit = 0; digit < 16; ++digit) {
        values[static_cast<unsigned char>("0123456789abcdef"[digit])] = static_cast<std::int8_t>(digit);
        values[static_cast<unsigned char>("0123456789ABCDEF"[digit])] = static_cast<std::int8_t>(digit);
    }
    return values;
}();

int digit_value(char c) { return digit_values[static_cast<unsigned char>(c)]; }

} // namespace

std::optional<ElementNumber> number_of_bits(std::uint64_t bits, DType dtype) {
    return visit(dtype, [bits](auto element) { return number_of<decltype(element)>(bits); });
}

std::optional<std::vector<ElementNumber>> read_element_bytes(std::string_view text, DType dtype) {
    if (!text.starts_with("0x")) return std::nullopt;
    text.remove_prefix(2);
    const size_t digits = 2 * static_cast<size_t>(byte_size(dtype));
    if (text.empty() || text.size() % digits != 0) return std::nullopt;
    return visit(dtype, [&](auto element) -> std::optional<std::vector<ElementNumber>> {
        std::vector<ElementNumber> numbers;
        numbers.reserve(text.size() / digits);
        for (size_t first = 0; first < text.size(); first += digits) {
            std::uint64_t bits = 0;
            for (size_t i = 0; i < digits; i += 2) {
                const int high = digit_value(text[first + i]), low = digit_value(text[first + i + 1]);
                if (high < 0 || low < 0) return std::nullopt;
                bits |= static_cast<std::uint64_t>(16 * high + low) << (4 * i);
            }
            const std::optional<ElementNumber> number = number_of<decltype(element)>(bits);
            if (!number) return std::nullopt;
            numbers.push_back(*number);
        }
        return numbers;
    });
}

std::string element_bytes(std::span<const ElementNumber> numbers, DType dtype) {
    std::string text = "0x";
    text.reserve(2 + numbers.size() * 2 * static_cast<size_t>(byte_size(dtype)));
    visit(dtype, [&](auto element) {
        for (const ElementNumber& number : numbers) {
            const std::uint64_t bits = bits_of<decltype(element)>(number);
            for (size_t i = 0; i < sizeof element; ++i) {
                text += "0123456789abcdef"[bits >> (8 * i + 4) & 15];
                text += "0123456789abcdef"[bits >> (8 * i) & 15];
            }
        }
    });
    return text;
}

} // namespace shard
