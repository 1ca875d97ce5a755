// Reading .npy files: the magic "\x93NUMPY", a version, the length of a header (2 bytes in version 1, 4 in 2 and 3),
// and the header, a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (8, 1024), } padded with
// blanks; then the elements. Source: numpy.lib.format, "A Simple File Format for NumPy Arrays".
#include "executor/formats/npy_read.h"

#include "executor/elements/strided.h"
#include "executor/formats/tensor.h"
#include "executor/machine/memory.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"
#include "plans/disk/read_inputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace shard {

namespace {

constexpr size_t header_limit = 1 << 20; // numpy itself reads 10,000 bytes unless told otherwise

struct Header {
    StoredType type;
    bool fortran_order = false;
    Shape shape;
};

// A reader of the dictionary that knows no more of Python than headers use. It takes any order of the keys.
class HeaderReader {
public:
    explicit HeaderReader(std::string_view text) : rest_(text) {}

    // An empty problem if all is well.
    Header read(std::string& problem) {
        Header header;
        bool descr = false, order = false, shape = false;
        expect('{', problem);
        while (problem.empty() && !accept('}')) {
            const std::string_view key = quoted(problem);
            expect(':', problem);
            if (!problem.empty()) break;
            if (key == "descr") {
                header.type = read_descr(problem);
                descr = true;
            } else if (key == "fortran_order") {
                header.fortran_order = read_flag(problem);
                order = true;
            } else if (key == "shape") {
                header.shape = read_shape(problem);
                shape = true;
            } else {
                problem = fmt::format("its header has the unknown key '{}'", key);
            }
            if (problem.empty() && !accept(',')) {
                expect('}', problem);
                break;
            }
        }
        if (problem.empty() && !(descr && order && shape)) problem = "its header lacks descr, fortran_order or shape";
        return header;
    }

private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size())); }
    bool accept(char wanted) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char wanted, std::string& problem) {
        if (problem.empty() && !accept(wanted))
            problem = fmt::format("its header has no '{}' where one must be", wanted);
    }
    std::string_view quoted(std::string& problem) {
        skip_blanks();
        const char quote = rest_.empty() ? '\0' : rest_.front();
        const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
        if (end == std::string_view::npos) {
            problem = "its header has no string where one must be";
            return {};
        }
        const std::string_view text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return text;
    }
    StoredType read_descr(std::string& problem) {
        const std::string_view text = quoted(problem);
        const std::optional<StoredType> type = parse_numpy_type(text);
        if (!type && problem.empty())
            problem = fmt::format("its elements are '{}', which is no type of numbers that shardc reads{}",
                                  text.substr(0, 16),
                                  text.ends_with("V2") ? " (numpy has no bf16: write it as float32)" : "");
        return type.value_or(StoredType());
    }
    bool read_flag(std::string& problem) {
        skip_blanks();
        for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
            if (rest_.starts_with(word)) {
                rest_.remove_prefix(word.size());
                return value;
            }
        problem = "fortran_order is neither True nor False";
        return false;
    }
    Shape read_shape(std::string& problem) {
        Shape shape;
        expect('(', problem);
        while (problem.empty() && !accept(')')) {
            skip_blanks();
            i64 size = 0;
            const std::from_chars_result result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
            if (result.ec != std::errc() || size < 0) {
                problem = "its shape is not a list of sizes";
                break;
            }
            shape.push_back(size);
            rest_.remove_prefix(result.ptr - rest_.data());
            if (!accept(',')) {
                expect(')', problem);
                break;
            }
        }
        if (shape.size() > 32) problem = "it has more than 32 dims";
        return shape;
    }

    std::string_view rest_;
};

// Exactly so many bytes; false with a problem if there are fewer.
bool read_all(const NpyFile::ReadBytes& source, std::span<std::byte> to, std::string& problem) {
    while (!to.empty()) {
        const i64 got = source(to, problem);
        if (got == 0) problem = "it ends too early";
        if (got <= 0) return false;
        to = to.subspan(got);
    }
    return true;
}

// Up to the elements. What is wrong, if the problem is not empty; `bytes` is how long it is.
Header read_header(const NpyFile::ReadBytes& source, i64& bytes, std::string& problem) {
    std::string first(npy_magic.size() + 2, '\0');
    const auto bytes_of = [](std::string& text) { return std::as_writable_bytes(std::span<char>(text)); };
    if (!read_all(source, bytes_of(first), problem)) return {};
    const int version = static_cast<unsigned char>(first[npy_magic.size()]);
    if (!first.starts_with(npy_magic))
        problem = "it is not a .npy file";
    else if (version < 1 || version > 3)
        problem = fmt::format("its format version is {}; known are 1, 2 and 3", version);
    if (!problem.empty()) return {};
    std::string width(version == 1 ? 2 : 4, '\0');
    if (!read_all(source, bytes_of(width), problem)) return {};
    size_t length = 0;
    for (size_t i = 0; i < width.size(); ++i)
        length |= static_cast<size_t>(static_cast<unsigned char>(width[i])) << (8 * i);
    if (length > header_limit) {
        problem = fmt::format("its header would have {} bytes", length);
        return {};
    }
    std::string text(length, '\0');
    if (!read_all(source, bytes_of(text), problem)) return {};
    bytes = std::ssize(first) + std::ssize(width) + std::ssize(text);
    return HeaderReader(text).read(problem);
}

struct CloseDescriptor {
    int descriptor;
    ~CloseDescriptor() { ::close(descriptor); }
};

// A file, or what comes out of a pipe or a device.
std::optional<NpyFile::ReadBytes> open_bytes(const std::string& path, i64& size, std::string& problem) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
        problem = std::strerror(errno);
        if (descriptor >= 0) ::close(descriptor);
        return std::nullopt;
    }
    const std::shared_ptr<CloseDescriptor> open(new CloseDescriptor{descriptor});
    if (S_ISDIR(status.st_mode)) {
        problem = "is a directory";
        return std::nullopt;
    }
    note_input(descriptor);
    size = S_ISREG(status.st_mode) ? static_cast<i64>(status.st_size) : -1;
    return [open](std::span<std::byte> to, std::string& failed) -> i64 {
        for (;;) {
            const ssize_t got = ::read(open->descriptor, to.data(), to.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) failed = std::strerror(errno);
            return got;
        }
    };
}

void report(const std::string& path, const std::string& problem, Diagnostics& diagnostics) {
    diagnostics.error("E0606", {}, fmt::format("cannot use {}: {}", path, problem))
        .help("numpy.save writes files that shardc reads");
}

} // namespace

std::optional<NpyFile> NpyFile::open(ReadBytes source, i64 size, const std::string& path, Diagnostics& diagnostics) {
    std::string problem;
    i64 header_bytes = 0;
    Header header = read_header(source, header_bytes, problem);
    NpyFile file;
    if (problem.empty()) {
        const std::optional<i64> count = checked_element_count(header.shape);
        const std::optional<i64> bytes = count ? checked_multiply(*count, byte_size(header.type.dtype)) : std::nullopt;
        if (!bytes || (size >= 0 && *bytes != size - header_bytes))
            problem = size < 0 ? fmt::format("its shape {} is too large", shape_text(header.shape))
                               : fmt::format("its shape {} does not go with its {} bytes of elements",
                                             shape_text(header.shape), size - header_bytes);
        else
            file.bytes_ = *bytes;
    }
    if (!problem.empty()) {
        report(path, problem, diagnostics);
        return std::nullopt;
    }
    file.source_ = std::move(source);
    file.path_ = path;
    file.type_ = header.type;
    file.shape_ = std::move(header.shape);
    file.is_fortran_order_ = header.fortran_order && file.shape_.size() > 1;
    return file;
}

std::optional<NpyFile> NpyFile::open(const std::string& path, Diagnostics& diagnostics) {
    std::string problem;
    i64 size = -1;
    std::optional<ReadBytes> source = open_bytes(path, size, problem);
    if (source) return open(std::move(*source), size, path, diagnostics);
    diagnostics.error("E0606", {}, fmt::format("cannot read {}: {}", path, problem));
    return std::nullopt;
}

std::optional<NpyFile> NpyFile::open_text(std::string_view text, const std::string& path, Diagnostics& diagnostics) {
    const ReadBytes source = [text](std::span<std::byte> to, std::string&) mutable {
        const size_t count = std::min(to.size(), text.size());
        if (count > 0) std::memcpy(to.data(), text.data(), count);
        text.remove_prefix(count);
        return static_cast<i64>(count);
    };
    return open(source, std::ssize(text), path, diagnostics);
}

std::optional<Tensor> NpyFile::read(DType dtype, Diagnostics& diagnostics) {
    internal_check(fit_of(type_, dtype) != Fit::refused, "a type that the file's elements fit");
    const bool is_plain = type_.dtype == dtype && shard::is_plain(type_) && !is_fortran_order_;
    Tensor tensor = {{dtype, shape_, {}}, {}};
    const i64 needed = add_saturating(tensor.type.bytes(), is_plain ? 0 : bytes_);
    if (const std::optional<Memory> available = too_little_memory(needed)) {
        diagnostics.error("E0601", {},
                          fmt::format("reading {} needs {} of memory, and {} {} free", path_, human_bytes(needed),
                                      available->limited_by, human_bytes(available->bytes)));
        return std::nullopt;
    }
    std::string problem;
    std::vector<std::byte> stored(bytes_);
    std::byte more = {};
    if (read_all(source_, stored, problem) && source_({&more, 1}, problem) > 0)
        problem = "there are more bytes than its shape needs";
    if (!problem.empty()) {
        report(path_, problem, diagnostics);
        return std::nullopt;
    }
    if (is_plain) {
        tensor.bytes = std::move(stored);
        return tensor;
    }
    tensor.bytes.resize(tensor.type.bytes());
    if (!is_fortran_order_) {
        convert_stored(tensor.bytes.data(), dtype, stored.data(), type_, tensor.type.elements());
        return tensor;
    }
    // The first index varies fastest: the row-major transpose.
    std::vector<std::byte> elements(tensor.bytes.size());
    convert_stored(elements.data(), dtype, stored.data(), type_, tensor.type.elements());
    std::vector<CopyDim> dims = box_copy(shape_, shape_, shape_);
    i64 stride = 1;
    for (CopyDim& dim : dims) {
        dim.from = stride;
        stride *= dim.extent;
    }
    if (!elements.empty()) copy_strided(tensor.bytes.data(), elements.data(), byte_size(dtype), dims);
    return tensor;
}

} // namespace shard
