// The safetensors format: what Python's library writes is read, what is written is read again, and no file does harm.
#include "executor/checkpoint/piece.h"
#include "executor/formats/safetensors.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

using namespace std::string_literals;

// safetensors.numpy.save({"w": [[1, 2], [3, 4]] float32, "b": [True, False], "n": int32 7}, {"format": "pt", "by":
// "ä"}) of safetensors 0.5, byte for byte.
const std::string from_python = "\xd0\0\0\0\0\0\0\0{\"__metadata__\":{\"by\":\"\xc3\xa4\",\"format\":\"pt\"},"
                                "\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
                                "\"n\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[16,20]},"
                                "\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[20,22]}}"
                                "\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\x07\0\0\0\x01\0"s;

std::string with_length(const std::string& header, const std::string& data) {
    std::string file;
    for (size_t byte = 0; byte < 8; ++byte) file += static_cast<char>((header.size() >> (8 * byte)) & 0xFF);
    return file + header + data;
}

std::string problem_of(const std::string& file) {
    std::string problem;
    CHECK_FALSE(parse_safetensors_header(file, static_cast<i64>(file.size()), problem));
    return problem;
}

// The problem with a header before four bytes of data.
std::string problem_of_header(const std::string& header) { return problem_of(with_length(header, "1234")); }

} // namespace

TEST_CASE("a file that Python's safetensors wrote is read") {
    std::string problem;
    const std::optional<SafetensorsHeader> header =
        parse_safetensors_header(from_python, static_cast<i64>(from_python.size()), problem);
    REQUIRE(header);
    CHECK(problem == "");
    CHECK(header->data_begin == 8 + 0xd0);
    CHECK(*header->find_metadata("by") == "\xc3\xa4");
    CHECK(header->find_metadata("w") == nullptr);
    CHECK(header->tensors == std::vector<SafetensorsEntry>{
                                 {"w", "F32", {2, 2}, 0, 16}, {"n", "I32", {}, 16, 20}, {"b", "BOOL", {2}, 20, 22}});
}

TEST_CASE("a header that is printed is parsed again, and its data is aligned") {
    SafetensorsHeader header;
    header.metadata = {{"format", "pt"}, {"quoted", "\"\\\n\x01 \xc3\xa4"}};
    header.tensors = {
        {"block.0.w", "F64", {3}, 0, 24}, {"odd name [0:2]", "BF16", {2, 0}, 24, 24}, {"b", "F8_E4M3", {5}, 24, 29}};
    const std::string text = print_safetensors_header(header);
    header.data_begin = static_cast<i64>(text.size());
    CHECK(text.size() % 8 == 0);
    std::string problem;
    const std::optional<SafetensorsHeader> again = parse_safetensors_header(text, header.data_begin + 29, problem);
    CHECK(problem == "");
    CHECK(again == header);
}

TEST_CASE("what is wrong with a safetensors file is said") {
    const std::string w = R"("w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]})";
    CHECK(problem_of("") == "it has 0 bytes, too few for a safetensors file");
    CHECK(problem_of("1234567") == "it has 7 bytes, too few for a safetensors file");
    CHECK(problem_of(std::string(8, '\xff')) ==
          "its header would have 18446744073709551615 bytes, more than the 100000000 of any safetensors file");
    CHECK(problem_of("\x09\0\0\0\0\0\0\0{}"s) == "its header has 9 bytes, and the file ends after 2");
    CHECK(problem_of_header("[]") == "its header is not a JSON object");
    CHECK(problem_of_header("") == "its header is not a JSON object");
    CHECK(problem_of_header("{\"w\"").starts_with("its header is not JSON: "));
    CHECK(problem_of_header("{" + w + ", " + w + "}").find("appears twice") != std::string::npos);
    CHECK(problem_of_header("{" + std::string(200, '[') + "}").starts_with("its header is not JSON: "));
    CHECK(problem_of_header("{}") == "its tensors end at byte 0 of 4 of data");
    CHECK(problem_of_header(R"({"__metadata__": [], )" + w + "}") == "its __metadata__ is not an object");
    CHECK(problem_of_header(R"({"__metadata__": {"step": 5}, )" + w + "}") ==
          "'step' in its __metadata__ is an integer, not a string");
    const auto entry = [](const std::string& fields) { return problem_of_header("{\"w\": {" + fields + "}}"); };
    CHECK(entry("") == "'w' in its header: it has no dtype");
    CHECK(entry(R"("dtype": "F32", "shape": [-1], "data_offsets": [0, 4])") ==
          "'w' in its header: its shape is not a list of sizes");
    CHECK(entry(R"("dtype": "F32", "shape": [1.5], "data_offsets": [0, 4])") ==
          "'w' in its header: its shape is not a list of sizes");
    CHECK(entry(R"("dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4])") ==
          "'w' in its header: its data_offsets are not a begin and an end");
    CHECK(entry(R"("dtype": "F32", "shape": [1], "data_offsets": [4, 0])") ==
          "'w' in its header: its bytes 4 to 0 are not in the file, which has 4 of data");
    CHECK(entry(R"("dtype": "F32", "shape": [1], "data_offsets": [0, 9223372036854775807])") ==
          "'w' in its header: its bytes 0 to 9223372036854775807 are not in the file, which has 4 of data");
    CHECK(entry(R"("dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 4])") ==
          "'w' in its header: its shape has too many elements");
    CHECK(entry(R"("dtype": "F64", "shape": [2305843009213693952], "data_offsets": [0, 0])") ==
          "'w' in its header: F64 (2305843009213693952,) does not fill its 0 bytes");
    CHECK(entry(R"("dtype": "F32", "shape": [2], "data_offsets": [0, 4])") ==
          "'w' in its header: F32 (2,) does not fill its 4 bytes");
    const std::string v = R"("v": {"dtype": "BOOL", "shape": [2], "data_offsets": [2, 4]})";
    CHECK(problem_of_header("{" + v + "}") ==
          "'v' begins at byte 2 of the data, and the tensor before it ends at 0"); // a gap
    CHECK(problem_of_header("{" + v + ", " + w + "}") ==
          "'v' begins at byte 2 of the data, and the tensor before it ends at 4"); // an overlap
}

TEST_CASE("a file that is cut anywhere, or of which a byte of the header changed, does no harm") {
    for (size_t length = 0; length < from_python.size(); ++length) problem_of(from_python.substr(0, length));
    for (size_t at = 0; at < from_python.size() - 22; ++at)
        for (const int flip : {0x01, 0x10, 0x55, 0x80}) {
            std::string file = from_python;
            file[at] = static_cast<char>(file[at] ^ flip);
            std::string problem;
            const std::optional<SafetensorsHeader> header =
                parse_safetensors_header(file, static_cast<i64>(file.size()), problem);
            CHECK(header.has_value() == problem.empty());
        }
}

TEST_CASE("a piece is named by its ranges, a whole tensor by its name") {
    CHECK(piece_name("w1", {4, 6}, {{0, 3}, {2, 3}}) == "w1[0:2,3:6]");
    CHECK(piece_name("w1", {4, 6}, {{0, 0}, {4, 6}}) == "w1");
    CHECK(piece_name("count", {}, {{}, {}}) == "count");
    CHECK(parse_piece_name("w1[0:2,3:6]") == PieceName{"w1", Block{{0, 3}, {2, 3}}});
    CHECK(parse_piece_name("block.0.w1[7:7]") == PieceName{"block.0.w1", Block{{7}, {0}}});
    for (const char* whole : {"w1", "", "[0:1]", "w[]", "w[a:b]", "w[0:1", "w[0:1]x", "w[2:1]", "w[-1:1]", "w[0:1,]",
                              "w[0]", "w[0:99999999999999999999]"})
        CHECK(parse_piece_name(whole) == PieceName{whole, std::nullopt});
}

TEST_CASE("pieces make a whole only as the blocks of a grid") {
    const std::vector<Block> grid = {{{0, 0}, {2, 1}}, {{0, 1}, {2, 3}}, {{2, 1}, {2, 3}}, {{2, 0}, {2, 1}}};
    CHECK(shape_of_grid(grid) == Shape{4, 4});
    CHECK(shape_of_grid(std::span(grid).first(1)) == Shape{2, 1});
    CHECK(shape_of_grid(std::span(grid).first(2)) == Shape{2, 4});
    CHECK_FALSE(shape_of_grid(std::span(grid).first(3)));                   // a corner lacks
    CHECK_FALSE(shape_of_grid(std::span(grid).last(1)));                    // begins at 2
    CHECK_FALSE(shape_of_grid(std::vector<Block>{{{0}, {2}}, {{1}, {2}}})); // overlap
    CHECK_FALSE(shape_of_grid(std::vector<Block>{{{0}, {2}}, {{0}, {2}}})); // twice
    CHECK_FALSE(shape_of_grid(std::vector<Block>{{{0}, {2}}, {{3}, {2}}})); // a gap
    CHECK(shape_of_grid(std::vector<Block>{{{}, {}}}) == Shape{});
    CHECK_FALSE(shape_of_grid(std::vector<Block>{{{}, {}}, {{}, {}}}));
}

} // namespace shard
