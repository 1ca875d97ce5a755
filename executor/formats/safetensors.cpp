#include "executor/formats/safetensors.h"

#include "executor/elements/stored_type.h"
#include "plans/base/checked.h"
#include "plans/json/json_text.h"
#include "plans/json/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

constexpr i64 length_bytes = 8;
constexpr i64 header_limit = 100'000'000;
constexpr i64 value_limit = 2'000'000; // about 250,000 tensors; the tree of more would take too much memory
constexpr size_t rank_limit = 32;

std::string shortened(std::string_view text) { return std::string(text.substr(0, 80)); }

bool read_sizes(const Json* json, Shape& sizes) {
    const JsonList* list = json != nullptr ? std::get_if<JsonList>(&json->value) : nullptr;
    if (list == nullptr || list->size() > rank_limit) return false;
    for (const Json& item : *list) {
        const i64* size = std::get_if<i64>(&item.value);
        if (size == nullptr || *size < 0) return false;
        sizes.push_back(*size);
    }
    return true;
}

// What is wrong with it; empty if nothing is.
std::string read_entry(const JsonMember& member, i64 data_bytes, SafetensorsEntry& entry) {
    entry.name = member.key;
    const Json* dtype = member.value.find("dtype");
    const std::string* text = dtype != nullptr ? std::get_if<std::string>(&dtype->value) : nullptr;
    if (text == nullptr) return "it has no dtype";
    entry.dtype = *text;
    if (!read_sizes(member.value.find("shape"), entry.shape)) return "its shape is not a list of sizes";
    Shape offsets;
    if (!read_sizes(member.value.find("data_offsets"), offsets) || offsets.size() != 2)
        return "its data_offsets are not a begin and an end";
    entry.begin = offsets[0];
    entry.end = offsets[1];
    if (entry.begin > entry.end || entry.end > data_bytes)
        return fmt::format("its bytes {} to {} are not in the file, which has {} of data", entry.begin, entry.end,
                           data_bytes);
    const std::optional<i64> count = checked_element_count(entry.shape);
    if (!count) return "its shape has too many elements";
    const std::optional<StoredType> known = parse_safetensors_type(entry.dtype);
    if (!known) return {};
    const std::optional<i64> bytes = checked_multiply(*count, byte_size(known->dtype));
    if (!bytes || *bytes != entry.end - entry.begin)
        return fmt::format("{} {} does not fill its {} bytes", entry.dtype, shape_text(entry.shape),
                           entry.end - entry.begin);
    return {};
}

std::string read_metadata(const Json& json, SafetensorsHeader& header) {
    const JsonMap* map = std::get_if<JsonMap>(&json.value);
    if (map == nullptr) return "its __metadata__ is not an object";
    for (const JsonMember& member : *map) {
        const std::string* text = std::get_if<std::string>(&member.value.value);
        if (text == nullptr)
            return fmt::format("'{}' in its __metadata__ is {}, not a string", shortened(member.key),
                               member.value.kind());
        header.metadata.emplace_back(member.key, *text);
    }
    return {};
}

// Every byte of data belongs to exactly one tensor.
std::string check_places(const SafetensorsHeader& header, i64 data_bytes) {
    std::vector<size_t> order(header.tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&header](size_t a, size_t b) {
        const SafetensorsEntry &left = header.tensors[a], &right = header.tensors[b];
        return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
    });
    i64 at = 0;
    for (const size_t i : order) {
        const SafetensorsEntry& entry = header.tensors[i];
        if (entry.begin != at)
            return fmt::format("'{}' begins at byte {} of the data, and the tensor before it ends at {}",
                               shortened(entry.name), entry.begin, at);
        at = entry.end;
    }
    if (at != data_bytes) return fmt::format("its tensors end at byte {} of {} of data", at, data_bytes);
    return {};
}

} // namespace

const std::string* SafetensorsHeader::find_metadata(std::string_view key) const {
    for (const auto& [name, value] : metadata)
        if (name == key) return &value;
    return nullptr;
}

std::string print_safetensors_header(const SafetensorsHeader& header) {
    JsonObject object;
    if (!header.metadata.empty()) {
        JsonObject metadata;
        for (const auto& [key, value] : header.metadata) metadata.string(key, value);
        object.raw("__metadata__", metadata.text());
    }
    for (const SafetensorsEntry& entry : header.tensors)
        object.raw(entry.name, JsonObject()
                                   .string("dtype", entry.dtype)
                                   .raw("shape", json_integers(entry.shape))
                                   .raw("data_offsets", json_integers(std::vector<i64>{entry.begin, entry.end}))
                                   .text());
    std::string json = object.text();
    json.append((8 - json.size() % 8) % 8, ' ');
    std::string out;
    for (int byte = 0; byte < length_bytes; ++byte) out += static_cast<char>((json.size() >> (8 * byte)) & 0xFF);
    return out + json;
}

std::optional<i64> safetensors_header_bytes(std::string_view first, i64 file_bytes, std::string& problem) {
    if (file_bytes < length_bytes || static_cast<i64>(first.size()) < length_bytes) {
        problem = fmt::format("it has {} bytes, too few for a safetensors file", file_bytes);
        return std::nullopt;
    }
    std::uint64_t length = 0;
    for (size_t byte = 0; byte < length_bytes; ++byte)
        length |= std::uint64_t{static_cast<unsigned char>(first[byte])} << (8 * byte);
    if (length > static_cast<std::uint64_t>(header_limit)) {
        problem = fmt::format("its header would have {} bytes, more than the {} of any safetensors file", length,
                              header_limit);
        return std::nullopt;
    }
    if (length > static_cast<std::uint64_t>(file_bytes - length_bytes)) {
        problem = fmt::format("its header has {} bytes, and the file ends after {}", length, file_bytes - length_bytes);
        return std::nullopt;
    }
    return length_bytes + static_cast<i64>(length);
}

std::optional<SafetensorsHeader> parse_safetensors_header(std::string_view first, i64 file_bytes,
                                                          std::string& problem) {
    const std::optional<i64> needed = safetensors_header_bytes(first, file_bytes, problem);
    if (!needed) return std::nullopt;
    internal_check(static_cast<i64>(first.size()) >= *needed, "the whole header is given");
    const std::string_view json = first.substr(length_bytes, *needed - length_bytes);
    problem.clear();
    const JsonParse parse = json.starts_with('{') ? parse_json(json, value_limit) : JsonParse();
    const JsonMap* members = std::get_if<JsonMap>(&parse.root.value);
    if (!parse.ok || members == nullptr) {
        problem = parse.problem.empty() ? "its header is not a JSON object"
                                        : fmt::format("its header is not JSON: {}", parse.problem);
        return std::nullopt;
    }
    SafetensorsHeader header;
    header.data_begin = *needed;
    const i64 data_bytes = file_bytes - *needed;
    for (const JsonMember& member : *members) {
        if (member.key == "__metadata__") {
            problem = read_metadata(member.value, header);
        } else {
            SafetensorsEntry entry;
            problem = read_entry(member, data_bytes, entry);
            if (!problem.empty()) problem = fmt::format("'{}' in its header: {}", shortened(member.key), problem);
            header.tensors.push_back(std::move(entry));
        }
        if (!problem.empty()) return std::nullopt;
    }
    problem = check_places(header, data_bytes);
    if (!problem.empty()) return std::nullopt;
    return header;
}

} // namespace shard
