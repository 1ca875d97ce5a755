// .npy files: what is written is read again, what numpy writes is read, and no corrupt file does harm.
#include "executor/formats/npy_write.h"
#include "executor/formats/tensor.h"
#include "plans/disk/file.h"
#include "plans/disk/output_file.h"
#include "test_paths.h"
#include "tests/support/natural_npy.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

namespace shard {
namespace {

std::string path_of(const std::string& name) { return std::string(SHARDC_TEST_DIR) + "/" + name; }

std::optional<Tensor> read_text(const std::string& contents, Diagnostics& diagnostics) {
    std::string problem;
    const std::string path = path_of("npy_test_input." + std::to_string(::getpid()) + ".npy");
    REQUIRE(write_file_atomically(path, contents, problem));
    std::optional<Tensor> tensor = read_npy(path, diagnostics);
    std::remove(path.c_str());
    return tensor;
}

// A file of version `version` as the format's description says.
std::string npy(int version, std::string header, const std::string& elements) {
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
    return file + header + elements;
}

std::string floats(std::initializer_list<float> list) {
    std::string bytes;
    for (float value : list) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return bytes;
}

class Handler {
public:
    Handler(int signal, void (*handler)(int)) : signal_(signal), before_(std::signal(signal, handler)) {}
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    ~Handler() { std::signal(signal_, before_); }

private:
    int signal_;
    void (*before_)(int);
};

} // namespace

TEST_CASE("a tensor that is written to .npy is read again") {
    for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::boolean, DType::bf16}) {
        for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 4}}) {
            CAPTURE(name(dtype));
            const Tensor tensor = make_tensor(dtype, shape, [](i64 i) { return static_cast<double>(i % 2); });
            const std::string path = path_of("npy_test_round_trip.npy");
            Diagnostics diagnostics;
            REQUIRE(write_npy(path, tensor, diagnostics));
            const std::optional<Tensor> again = read_npy(path, diagnostics);
            REQUIRE(again);
            CHECK(again->type.dtype == (dtype == DType::bf16 ? DType::f32 : dtype));
            CHECK(again->type.shape == shape);
            CHECK(values(*again) == values(tensor));
            std::string problem;
            const std::optional<std::string> file = read_file(path, problem);
            REQUIRE(file);
            CHECK((file->size() - again->bytes.size()) % 64 == 0); // as numpy aligns the elements
            std::remove(path.c_str());
        }
    }
}

TEST_CASE("versions 1 to 3, any order of keys and Fortran order are read") {
    for (int version : {1, 2, 3}) {
        Diagnostics diagnostics;
        const std::optional<Tensor> tensor = read_text(
            npy(version, "{\"shape\": (2, 2,), 'fortran_order': True,'descr':'<f4' }   \n", floats({1, 2, 3, 4})),
            diagnostics);
        REQUIRE(tensor);
        CHECK(values(*tensor) == std::vector<double>{1, 3, 2, 4});
    }
}

TEST_CASE("corrupt .npy files are reported, whatever is cut or wrong") {
    const std::string good_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    const std::string good = npy(1, good_header, floats({1, 2}));
    {
        Diagnostics diagnostics;
        REQUIRE(read_text(good, diagnostics));
    }
    std::vector<std::string> bad = {
        npy(4, good_header, floats({1, 2})),
        good + "x",
        npy(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (4,)}", floats({1, 2})),
        npy(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", floats({1, 2})),
        npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", floats({1, 2})),
        npy(1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", floats({1, 2})),
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", floats({1, 2})),
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", floats({1, 2})),
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", floats({1, 2})),
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1 1)}", floats({1})),
        npy(1, "{'descr': '<f4', 'fortran_order': False}", floats({1, 2})),
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", floats({1, 2})),
        npy(2, std::string(100, '{'), ""),
    };
    for (size_t length = 0; length < good.size(); ++length) bad.push_back(good.substr(0, length));
    for (const std::string& contents : bad) {
        CAPTURE(contents);
        Diagnostics diagnostics;
        CHECK_FALSE(read_text(contents, diagnostics));
        REQUIRE(diagnostics.all().size() == 1);
        CHECK(diagnostics.all()[0].code == "E0606");
    }
    for (size_t at = 0; at < good.size() - 8; ++at) { // any single byte of magic, length and header
        std::string contents = good;
        contents[at] = static_cast<char>(contents[at] ^ 0x55);
        Diagnostics diagnostics;
        CAPTURE(at);
        if (!read_text(contents, diagnostics)) CHECK(diagnostics.all().size() == 1);
    }
}

TEST_CASE("elements are read in the type and order that the file has") {
    const auto read_as = [](const std::string& descr, const std::string& shape, const std::string& bytes) {
        Diagnostics diagnostics;
        std::optional<Tensor> tensor = read_text(
            npy(1, "{'descr': '" + descr + "', 'fortran_order': True, 'shape': " + shape + "}", bytes), diagnostics);
        REQUIRE(tensor);
        return std::pair(tensor->type.dtype, values(*tensor));
    };
    using Read = std::pair<DType, std::vector<double>>;
    CHECK(read_as("<f2", "(2, 2)", {0, 0x3C, 0, 0x40, 0, 0x42, 0, 0x44}) == Read{DType::f16, {1, 3, 2, 4}});
    CHECK(read_as(">i4", "(2,)", {0, 0, 0, 1, 0, 0, 1, 0}) == Read{DType::i32, {1, 256}});
    CHECK(read_as("|u1", "(2,)", {1, static_cast<char>(255)}) == Read{DType::u8, {1, 255}});
    CHECK(read_as("|b1", "(2,)", {0, 7}) == Read{DType::boolean, {0, 1}});
}

TEST_CASE("a pipe may stand for a .npy file, and is read to the end that its header declares") {
    const std::string good =
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (70000,), }\n", std::string(280000, '\0'));
    const auto read_pipe = [](const std::string& contents, Diagnostics& diagnostics) {
        const std::string path = path_of("npy_test_pipe");
        std::remove(path.c_str());
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        std::thread writer([&] { std::ofstream(path, std::ios::binary) << contents; });
        std::optional<Tensor> tensor = read_npy(path, diagnostics);
        writer.join();
        return tensor;
    };
    const Handler ignored(SIGPIPE, SIG_IGN); // a reader that stops early
    Diagnostics diagnostics;
    const std::optional<Tensor> tensor = read_pipe(good, diagnostics);
    REQUIRE(tensor);
    CHECK(tensor->type.shape == Shape{70000});
    for (const std::string& bad : {good + "x", good.substr(0, good.size() - 1), std::string(), std::string("no array")})
        CHECK_FALSE(read_pipe(bad, diagnostics));
    std::vector<std::string> said;
    for (const Diagnostic& diagnostic : diagnostics.all())
        said.push_back(diagnostic.message.substr(diagnostic.message.rfind(": ") + 2));
    CHECK(said == std::vector<std::string>{"there are more bytes than its shape needs", "it ends too early",
                                           "it ends too early", "it is not a .npy file"});
}

TEST_CASE("files that are too large, or have no end, are refused by their header") {
    Diagnostics diagnostics;
    CHECK_FALSE(read_npy("/dev/zero", diagnostics));
    CHECK(diagnostics.all().back().message == "cannot use /dev/zero: it is not a .npy file");
    const std::string path = path_of("npy_test_sparse.npy");
    const i64 terabyte = i64{1} << 40;
    {
        std::ofstream file(path, std::ios::binary);
        file << npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(terabyte / 4) + ",)}",
                    "");
    }
    const i64 header = static_cast<i64>(std::filesystem::file_size(path));
    std::error_code error;
    std::filesystem::resize_file(path, static_cast<size_t>(header + terabyte), error); // takes no room on the disk
    if (!error) {
        std::optional<NpyFile> file = NpyFile::open(path, diagnostics);
        REQUIRE(file);
        CHECK(file->shape() == Shape{terabyte / 4});
        CHECK_FALSE(file->read(DType::f32, diagnostics));
        CHECK(diagnostics.all().back().code == "E0601");
        std::filesystem::resize_file(path, static_cast<size_t>(header + terabyte + 1));
        CHECK_FALSE(NpyFile::open(path, diagnostics));
        CHECK(diagnostics.all().back().code == "E0606");
    }
    std::remove(path.c_str());
}

TEST_CASE("files that cannot be read or written are reported and leave nothing behind") {
    Diagnostics diagnostics;
    CHECK_FALSE(read_npy(path_of("no_such_file.npy"), diagnostics));
    CHECK(diagnostics.all().back().code == "E0606");
    CHECK_FALSE(read_npy(SHARDC_TEST_DIR, diagnostics));
    CHECK_FALSE(
        write_npy(path_of("no_such_folder/x.npy"), make_tensor(DType::f32, {2}, [](i64) { return 0.0; }), diagnostics));
    CHECK(diagnostics.all().back().code == "E0607");
}

} // namespace shard
