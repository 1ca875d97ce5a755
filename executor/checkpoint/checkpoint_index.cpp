#include "executor/checkpoint/checkpoint_index.h"

#include "plans/base/parse_number.h"
#include "plans/json/json_text.h"
#include "plans/json/json_tree.h"

#include <fmt/format.h>

#include <map>

namespace shard {

namespace {

template<class T>
const T* as(const Json* json) {
    return json != nullptr ? std::get_if<T>(&json->value) : nullptr;
}

// A name in the index's own folder: a checkpoint from elsewhere must not lead out of it.
bool is_plain_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.size() < 256 &&
           name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::optional<std::uint32_t> parse_crc32(const std::string& text) {
    return text.size() == 8 ? parse_number<std::uint32_t>(text, 16) : std::nullopt;
}

class Reader {
public:
    Reader(CheckpointIndex& index, std::string& problem) : index_(&index), problem_(&problem) {}

    void read_metadata(const Json& metadata) {
        if (const Json* version = metadata.find("format_version"); version != nullptr) {
            const i64* number = as<i64>(version);
            if (number == nullptr || *number != CheckpointIndex::current_format_version)
                return fail(fmt::format("its format_version is not {}, which is what this program reads",
                                        CheckpointIndex::current_format_version));
        }
        if (const std::string* tool = as<std::string>(metadata.find("tool"))) index_->tool = *tool;
        if (const std::string* model = as<std::string>(metadata.find("model"))) index_->model = *model;
        if (const i64* size = as<i64>(metadata.find("total_size"))) index_->total_size = *size;
        if (const Json* step = metadata.find("step"); step != nullptr) {
            const i64* number = as<i64>(step);
            if (number == nullptr || *number < 0) return fail("its step is not a count");
            index_->step = *number;
        }
        if (const JsonMap* files = as<JsonMap>(metadata.find("files")))
            for (const JsonMember& file : *files) read_file(file);
        if (const JsonMap* shapes = as<JsonMap>(metadata.find("shapes")))
            for (const JsonMember& shape : *shapes) read_shape(shape);
    }

    void read_weight_map(const JsonMap& map) {
        for (const JsonMember& member : map) {
            const std::string* file = as<std::string>(&member.value);
            if (file == nullptr || !is_plain_file_name(*file))
                return fail(fmt::format("'{}' lies in no file beside it", member.key.substr(0, 80)));
            index_->pieces.push_back({member.key, file_of(*file)});
        }
    }

private:
    void fail(std::string text) {
        if (problem_->empty()) *problem_ = std::move(text);
    }

    int file_of(const std::string& name) {
        const auto [place, is_new] = files_.emplace(name, static_cast<int>(index_->files.size()));
        if (is_new) index_->files.push_back({name, -1, std::nullopt});
        return place->second;
    }

    void read_file(const JsonMember& member) {
        const i64* bytes = as<i64>(member.value.find("bytes"));
        const std::string* sum = as<std::string>(member.value.find("crc32"));
        const std::optional<std::uint32_t> crc32 = sum != nullptr ? parse_crc32(*sum) : std::nullopt;
        if (bytes == nullptr || *bytes < 0 || !crc32 || !is_plain_file_name(member.key))
            return fail(fmt::format("the size and checksum of '{}' are not there", member.key.substr(0, 80)));
        IndexedFile& file = index_->files[file_of(member.key)];
        file.bytes = *bytes;
        file.crc32 = crc32;
    }

    void read_shape(const JsonMember& member) {
        Shape shape;
        const JsonList* list = as<JsonList>(&member.value);
        if (list == nullptr) return fail(fmt::format("the shape of '{}' is not a list", member.key.substr(0, 80)));
        for (const Json& item : *list) {
            const i64* size = as<i64>(&item);
            if (size == nullptr || *size < 0)
                return fail(fmt::format("the shape of '{}' is not a list of sizes", member.key.substr(0, 80)));
            shape.push_back(*size);
        }
        index_->shapes.emplace_back(member.key, std::move(shape));
    }

    CheckpointIndex* index_;
    std::string* problem_;
    std::map<std::string, int> files_;
};

// One member a line, so that an index can be read and compared.
std::string members_text(const std::vector<std::pair<std::string, std::string>>& members, int indent) {
    std::string out = "{";
    const std::string blanks(indent, ' ');
    for (size_t i = 0; i < members.size(); ++i)
        out +=
            fmt::format("{}\n{}  {}: {}", i > 0 ? "," : "", blanks, json_string(members[i].first), members[i].second);
    return out + (members.empty() ? "}" : "\n" + blanks + "}");
}

} // namespace

std::string print_checkpoint_index(const CheckpointIndex& index) {
    std::vector<std::pair<std::string, std::string>> files, shapes, pieces;
    for (const IndexedFile& file : index.files)
        files.emplace_back(file.name, JsonObject()
                                          .integer("bytes", file.bytes)
                                          .string("crc32", fmt::format("{:08x}", file.crc32.value_or(0)))
                                          .text());
    for (const auto& [name, shape] : index.shapes) shapes.emplace_back(name, json_integers(shape));
    for (const IndexedPiece& piece : index.pieces)
        pieces.emplace_back(piece.name, json_string(index.files[piece.file].name));
    const std::string metadata = members_text({{"total_size", std::to_string(index.total_size)},
                                               {"format_version", std::to_string(index.current_format_version)},
                                               {"tool", json_string(index.tool)},
                                               {"model", json_string(index.model)},
                                               {"step", std::to_string(index.step)},
                                               {"files", members_text(files, 4)},
                                               {"shapes", members_text(shapes, 4)}},
                                              2);
    return members_text({{"metadata", metadata}, {"weight_map", members_text(pieces, 2)}}, 0) + "\n";
}

std::optional<CheckpointIndex> parse_checkpoint_index(std::string_view json, std::string& problem) {
    const JsonParse parse = parse_json(json);
    problem = parse.ok ? "" : fmt::format("it is not JSON: {}", parse.problem);
    if (!parse.ok) return std::nullopt;
    const JsonMap* map = as<JsonMap>(parse.root.find("weight_map"));
    if (map == nullptr) {
        problem = "it has no weight_map";
        return std::nullopt;
    }
    CheckpointIndex index;
    Reader reader(index, problem);
    if (const Json* metadata = parse.root.find("metadata"); metadata != nullptr) reader.read_metadata(*metadata);
    reader.read_weight_map(*map);
    if (!problem.empty()) return std::nullopt;
    return index;
}

} // namespace shard
