// Finding a checkpoint: which folder, which files, which tensors they hold.
#include "executor/checkpoint/checkpoint.h"

#include "executor/checkpoint/checkpoint_parts.h"
#include "executor/formats/storage.h"
#include "plans/base/crc32.h"
#include "plans/disk/file.h"
#include "plans/disk/read_inputs.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace shard {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view only_file = "model.safetensors";

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
}

std::string without_blanks(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
    return text;
}

bool damaged(Diagnostics& diagnostics, std::string_view path, std::string_view problem) {
    diagnostics.error("E0612", {}, fmt::format("{} is damaged: {}", path, problem));
    return false;
}

} // namespace

std::string Checkpoint::path_of(int file) const {
    const std::string& name = index_.files[file].name;
    return folder_.empty() ? name : folder_ + "/" + name;
}

std::optional<Checkpoint> Checkpoint::open(const std::string& path, Diagnostics& diagnostics) {
    Checkpoint checkpoint;
    checkpoint.name_ = path;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (!checkpoint.open_file(path, diagnostics)) return std::nullopt;
        return checkpoint;
    }
    if (exists(path + "/latest")) {
        if (!checkpoint.open_latest(path, diagnostics)) return std::nullopt;
    } else {
        checkpoint.folder_ = path;
        checkpoint.lock_ = std::make_unique<FolderLock>(path, FolderLock::readers);
    }
    const std::string index = fmt::format("{}/{}", checkpoint.folder_, index_file);
    const std::string alone = fmt::format("{}/{}", checkpoint.folder_, only_file);
    if (exists(index)) {
        if (!checkpoint.open_index(index, diagnostics)) return std::nullopt;
    } else if (exists(alone)) {
        if (!checkpoint.open_file(alone, diagnostics)) return std::nullopt;
    } else {
        if (::access(checkpoint.folder_.c_str(), R_OK | X_OK) != 0)
            diagnostics
                .error("E0611", {}, fmt::format("cannot read '{}': {}", checkpoint.folder_, std::strerror(errno)))
                .help("run it as a user who may read the folder");
        else
            diagnostics.error("E0611", {}, fmt::format("there is no checkpoint in '{}'", checkpoint.folder_))
                .help(fmt::format("a checkpoint is a folder with `latest`, {} or {}", index_file, only_file));
        return std::nullopt;
    }
    return checkpoint;
}

// Finds and locks the folder that `latest` names. A run that saves may have removed it in between; then `latest` names
// another by now.
bool Checkpoint::open_latest(const std::string& path, Diagnostics& diagnostics) {
    const std::string latest = path + "/latest";
    for (std::string gone;;) {
        std::string problem;
        const std::optional<std::string> text = read_regular_file(latest, 4096, problem);
        const std::string step = text ? without_blanks(*text) : "";
        if (!text) return damaged(diagnostics, latest, problem);
        if (!is_step_name(step)) return damaged(diagnostics, latest, fmt::format("'{}' is no name of a step", step));
        folder_ = name_ = path + "/" + step;
        lock_ = std::make_unique<FolderLock>(folder_, FolderLock::readers);
        const bool there = exists(fmt::format("{}/{}", folder_, index_file)) && !lock_->taken_by_other();
        std::error_code error;
        if (there || (gone == step && fs::is_directory(folder_, error))) return true;
        if (gone == step) return damaged(diagnostics, latest, fmt::format("there is no folder '{}' beside it", step));
        gone = step;
    }
}

bool Checkpoint::open_index(const std::string& path, Diagnostics& diagnostics) {
    std::string problem;
    const std::optional<std::string> text = read_regular_file(path, text_file_limit, problem);
    if (!text) {
        diagnostics.error("E0611", {}, fmt::format("cannot read {}: {}", path, problem));
        return false;
    }
    std::optional<CheckpointIndex> index = parse_checkpoint_index(*text, problem);
    if (!index) return damaged(diagnostics, path, problem);
    index_ = std::move(*index);
    for (int file = 0; file < std::ssize(index_.files); ++file) note_input(path_of(file));
    return true;
}

// A file without an index: what it holds is in its header.
bool Checkpoint::open_file(const std::string& path, Diagnostics& diagnostics) {
    const size_t slash = path.rfind('/');
    folder_ = slash == std::string::npos ? "" : path.substr(0, slash);
    index_.files.push_back({slash == std::string::npos ? path : path.substr(slash + 1), -1, std::nullopt});
    const std::optional<SafetensorsHeader> header = read_header(0, diagnostics);
    if (!header) return false;
    for (const SafetensorsEntry& entry : header->tensors) index_.pieces.push_back({entry.name, 0});
    if (const std::string* step = header->find_metadata("step")) {
        i64 number = -1;
        const std::from_chars_result end = std::from_chars(step->data(), step->data() + step->size(), number);
        // Otherwise it is somebody else's word for something else.
        if (end.ptr == step->data() + step->size() && number >= 0) index_.step = number;
    }
    return true;
}

std::optional<SafetensorsHeader> Checkpoint::read_header(int file, Diagnostics& diagnostics) const {
    const std::string path = path_of(file);
    std::string problem;
    const std::optional<RangeFile> opened = RangeFile::open(path, problem);
    if (!opened) {
        diagnostics.error("E0611", {}, fmt::format("cannot read {}: {}", path, problem));
        return std::nullopt;
    }
    const IndexedFile& indexed = index_.files[file];
    if (indexed.bytes >= 0 && indexed.bytes != opened->bytes()) {
        damaged(diagnostics, path,
                fmt::format("it has {} bytes, and {} when it was written", opened->bytes(), indexed.bytes));
        return std::nullopt;
    }
    std::string first(std::min<i64>(8, opened->bytes()), '\0');
    if (opened->read(0, std::as_writable_bytes(std::span<char>(first)), problem)) {
        if (const std::optional<i64> needed = safetensors_header_bytes(first, opened->bytes(), problem)) {
            first.resize(*needed);
            if (opened->read(0, std::as_writable_bytes(std::span<char>(first)), problem))
                if (std::optional<SafetensorsHeader> header = parse_safetensors_header(first, opened->bytes(), problem))
                    return header;
        }
    }
    damaged(diagnostics, path, problem);
    return std::nullopt;
}

bool Checkpoint::check_sum(int file, Diagnostics& diagnostics) const {
    const IndexedFile& indexed = index_.files[file];
    if (!indexed.crc32) return true;
    const std::string path = path_of(file);
    std::string problem;
    const std::optional<RangeFile> opened = RangeFile::open(path, problem);
    Crc32 sum;
    std::vector<std::byte> block(size_t{1} << 20);
    for (i64 at = 0; opened && problem.empty() && at < opened->bytes();) {
        const std::span<std::byte> part(block.data(), std::min(std::ssize(block), opened->bytes() - at));
        if (opened->read(at, part, problem)) sum.add(part);
        at += std::ssize(part);
    }
    if (!problem.empty()) {
        diagnostics.error("E0611", {}, fmt::format("cannot read {}: {}", path, problem));
        return false;
    }
    if (sum.value() == *indexed.crc32) return true;
    return damaged(
        diagnostics, path,
        fmt::format("its checksum is {:08x}, and was {:08x} when it was written", sum.value(), *indexed.crc32));
}

} // namespace shard
