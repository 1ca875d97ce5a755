// Protocol Buffers' wire format, as far as execution traces use it: numbers of any size, packed lists of them, text and
// messages within messages. Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shard {

class Message {
public:
    void number(int field, std::uint64_t value);
    void numbers(int field, std::span<const std::uint64_t> values); // packed; nothing if there are none
    void text(int field, std::string_view value);
    void message(int field, const Message& value) { text(field, value.bytes_); }

    const std::string& bytes() const { return bytes_; }
    // The message behind its length, as files of several hold them.
    std::string delimited() const;

private:
    std::string bytes_;
};

} // namespace shard
