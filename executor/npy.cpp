// The .npy format: the magic "\x93NUMPY", a version, the length of a header (2 bytes in version 1, 4 in 2 and 3), and
// the header, a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (8, 1024), } padded with blanks;
// then the elements. Source: numpy.lib.format, "A Simple File Format for NumPy Arrays".
#include "executor/executor.h"
#include "executor/strided.h"
#include "plans/file.h"
#include "plans/output_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace shard {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
    DType dtype = DType::f32;
    bool fortran_order = false;
    Shape shape;
};

struct Descr {
    std::string_view text;
    DType dtype;
};
// The first of a type is what is written; bf16 has no name in numpy.
constexpr Descr descrs[] = {{"<f4", DType::f32}, {"<f8", DType::f64}, {"<i4", DType::i32},
                            {"<i8", DType::i64}, {"<u4", DType::u32}, {"|b1", DType::boolean}};

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
                header.dtype = read_descr(problem);
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
    DType read_descr(std::string& problem) {
        const std::string_view text = quoted(problem);
        for (const Descr& descr : descrs)
            if (descr.text == text) return descr.dtype;
        if (problem.empty())
            problem =
                fmt::format("its elements are '{}'; known are <f4, <f8, <i4, <i8, <u4 and |b1", text.substr(0, 16));
        return DType::f32;
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
            rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
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

// Splits a file into header text and elements.
std::optional<std::string_view> header_of(std::string_view file, std::string_view& elements, std::string& problem) {
    problem = "it is not a .npy file, or its header is cut";
    if (!file.starts_with(magic) || file.size() < magic.size() + 4) return std::nullopt;
    const unsigned char version = static_cast<unsigned char>(file[magic.size()]);
    file.remove_prefix(magic.size() + 2);
    if (version < 1 || version > 3) {
        problem = fmt::format("its format version is {}; known are 1, 2 and 3", static_cast<int>(version));
        return std::nullopt;
    }
    const size_t width = version == 1 ? 2 : 4;
    if (file.size() < width) return std::nullopt;
    size_t length = 0;
    for (size_t i = 0; i < width; ++i) length |= static_cast<size_t>(static_cast<unsigned char>(file[i])) << (8 * i);
    file.remove_prefix(width);
    if (file.size() < length) return std::nullopt;
    problem.clear();
    elements = file.substr(length);
    return file.substr(0, length);
}

} // namespace

std::optional<Tensor> parse_npy(std::string_view file, const std::string& path, Diagnostics& diagnostics) {
    std::string problem;
    std::string_view elements;
    const std::optional<std::string_view> text = header_of(file, elements, problem);
    Header header;
    if (text) header = HeaderReader(*text).read(problem);
    Tensor tensor = {{header.dtype, header.shape, {}}, {}};
    if (problem.empty()) {
        const std::optional<i64> count = checked_element_count(header.shape);
        const std::optional<i64> bytes = count ? checked_multiply(*count, byte_size(header.dtype)) : std::nullopt;
        if (!bytes || *bytes != static_cast<i64>(elements.size()))
            problem = fmt::format("its shape {} does not go with its {} bytes of elements", shape_text(header.shape),
                                  elements.size());
    }
    if (!problem.empty()) {
        diagnostics.error("E0606", {}, fmt::format("cannot use {}: {}", path, problem))
            .help("numpy.save writes files that shardc reads");
        return std::nullopt;
    }
    tensor.bytes.resize(elements.size());
    if (!elements.empty()) std::memcpy(tensor.bytes.data(), elements.data(), elements.size());
    if (header.fortran_order && !elements.empty()) {        // the first index varies fastest: the row-major transpose
        const std::vector<std::byte> stored = tensor.bytes; // aligned, as the file's text need not be
        std::vector<CopyDim> dims = box_copy(header.shape, header.shape, header.shape);
        i64 stride = 1;
        for (CopyDim& dim : dims) {
            dim.from = stride;
            stride *= dim.extent;
        }
        copy_strided(tensor.bytes.data(), stored.data(), byte_size(header.dtype), dims);
    }
    return tensor;
}

std::optional<Tensor> read_npy(const std::string& path, Diagnostics& diagnostics) {
    std::string problem;
    const std::optional<std::string> file = read_file(path, problem);
    if (file) return parse_npy(*file, path, diagnostics);
    diagnostics.error("E0606", {}, fmt::format("cannot read {}: {}", path, problem));
    return std::nullopt;
}

bool write_npy(const std::string& path, const Tensor& tensor, Diagnostics& diagnostics) {
    const DType stored = tensor.type.dtype == DType::bf16 ? DType::f32 : tensor.type.dtype;
    std::string_view descr;
    for (const Descr& entry : descrs)
        if (entry.dtype == stored) descr = entry.text;
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr,
                                     tensor.type.shape.empty() ? "()" : shape_text(tensor.type.shape));
    const size_t fixed = magic.size() + 4;
    header.append((64 - (fixed + header.size() + 1) % 64) % 64, ' '); // elements start at a multiple of 64
    header += '\n';
    std::string file(magic);
    file += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
    file += header;
    const size_t begin = file.size();
    const i64 count = tensor.type.elements();
    file.resize(begin + static_cast<size_t>(count * byte_size(stored)));
    convert_strided(reinterpret_cast<std::byte*>(file.data() + begin), stored, tensor.bytes.data(), tensor.type.dtype,
                    {{count, 1, 1}});
    std::string problem;
    if (write_file_atomically(path, file, problem)) return true;
    diagnostics.error("E0607", {}, fmt::format("cannot write {}: {}", path, problem));
    return false;
}

} // namespace shard
