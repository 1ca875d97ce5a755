#include "exporter/chakra/message.h"

namespace shard {

namespace {

enum WireType : unsigned { varint = 0, length_delimited = 2 };

// Seven bits a byte, the lowest first; the highest bit of a byte says that another follows.
void append_varint(std::string& bytes, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
}

void append_tag(std::string& bytes, int field, WireType type) {
    append_varint(bytes, static_cast<std::uint64_t>(field) << 3 | type);
}

} // namespace

void Message::number(int field, std::uint64_t value) {
    append_tag(bytes_, field, varint);
    append_varint(bytes_, value);
}

void Message::numbers(int field, std::span<const std::uint64_t> values) {
    if (values.empty()) return;
    std::string packed;
    for (std::uint64_t value : values) append_varint(packed, value);
    text(field, packed);
}

void Message::text(int field, std::string_view value) {
    append_tag(bytes_, field, length_delimited);
    append_varint(bytes_, value.size());
    bytes_ += value;
}

std::string Message::delimited() const {
    std::string out;
    append_varint(out, bytes_.size());
    return out + bytes_;
}

} // namespace shard
