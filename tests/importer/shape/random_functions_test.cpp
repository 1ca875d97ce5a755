// Functions of jax.random are known by what they compute, whatever they are called.
#include "tests/support/imported_model.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string imported(const std::string& text) { return imported_program(text).model; }

std::string with(std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

bool has(const std::string& model, const std::string& part) { return model.find(part) != std::string::npos; }

} // namespace

TEST_CASE("what jax.random draws is one op, in both layouts of bits") {
    const std::string model = imported(recorded_program("draws")),
                      before = imported(recorded_program("draws_as_before"));
    CAPTURE(model);
    for (const char* part : {
             "{bernoulli: [4, 8], in: slice_entry, probability: 0.75",
             "{uniform: [4, 8], in: reshape_",
             ", low: -2, high: 3",
             "{normal: [4, 8], in: reshape_",
             "{truncated_normal: [4, 8], in: reshape_",
             ", low: -2, high: 1.5",
             "{randint: [16], in: reshape_",
             ", low: -5, high: 1000",
             "{fold_in: [constant, cast",
             "{constant: [0, 3], shape: [2], dtype: u32",
         }) {
        CHECK_MESSAGE(has(model, part), part);
        CHECK_MESSAGE(has(before, part), part);
    }
    CHECK(has(before, ", bits: legacy"));
    CHECK(!has(model, "legacy"));
    CHECK(has(model, "word: 0")); // jax.random.bits is no function: the cipher alone is
    CHECK(!has(model, "shift_left"));
}

TEST_CASE("under a key of rbg what is drawn is one op as well, and its whole numbers are made of bits") {
    for (const char* name : {"draws_rbg", "draws_unsafe_rbg"}) {
        const std::string model = imported(recorded_program(name));
        CAPTURE(model);
        for (const char* part :
             {"{bernoulli: [4, 8], in: ", ", probability: 0.75,", "{uniform: [4, 8], in: ", ", low: -2, high: 3,",
              "{normal: [4, 8], in: ", "{truncated_normal: [4, 8], in: ", "{random_bits: [16], in: "})
            CHECK_MESSAGE(has(model, part), part);
        CHECK(!has(model, "randint"));
        CHECK(!has(model, "shift_left")); // the key's words are taken as they are
    }
    // Its parts are made by the cipher of the other keys, one op for both.
    CHECK(has(imported(recorded_program("draws_rbg")), "fold_in_word"));
}

TEST_CASE("bits that are drawn otherwise are refused") {
    Sources sources;
    const int file = sources.add("program.mlir", with(recorded_program("draws_rbg"), "DEFAULT", "THREE_FRY"));
    Diagnostics diagnostics;
    CHECK(!import_program(sources, file, {}, diagnostics).has_value());
    CHECK(diagnostics.all().at(0).code == "E0804");
    CHECK(has(diagnostics.all().at(0).message, "random bits that are not drawn as jax.random does it"));
}

TEST_CASE("a key that the program holds is an array") {
    const std::string seeded =
        with(recorded_program("draws"), "call @_threefry_fold_in(%6,", "call @_threefry_fold_in(%key0,");
    const std::string key = "    %key0 = stablehlo.constant dense<0> : tensor<2xui32>\n";
    const std::string model = imported(with(seeded, "    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>",
                                            key + "    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>"));
    CHECK_MESSAGE(has(model, "{constant: 0, shape: [2], dtype: u32"), model);
    CHECK_MESSAGE(has(model, "{fold_in: [constant, cast"), model);
}

TEST_CASE("a function of the name that computes something else is what it is") {
    for (const auto& [from, to] : std::initializer_list<std::pair<std::string, std::string>>{
             {"dense<[13, 15, 26, 6]>", "dense<[13, 15, 26, 7]>"}, {"dense<466688986>", "dense<466688987>"}}) {
        const std::string model = imported(with(recorded_program("draws"), from, to));
        for (const char* op : {"{fold_in", "{uniform", "{normal", "{randint", "{bernoulli", "{truncated_normal"})
            CHECK_MESSAGE(!has(model, op), op);
    }
    // The comparison of a mask alone.
    const std::string mask =
        imported(with(recorded_program("draws"), "compare LT, %0, %1, FLOAT", "compare LE, %0, %1, FLOAT"));
    CHECK(!has(mask, "{bernoulli"));
    CHECK(has(mask, "{uniform: [4, 8], in: slice_entry"));
}

namespace {

// The recorded program's uniform numbers, with more lines before they are returned: of %34, then of %more.
std::string with_more(const std::string& lines) {
    const std::string text = recorded_program("draws");
    const size_t function = text.find("@_uniform(%arg0"), end = text.find("    return %34 ", function);
    REQUIRE(end != std::string::npos);
    std::string changed = text.substr(0, end) + lines + text.substr(end);
    changed.replace(changed.find("return %34 ", end), 10, "return %more");
    return imported(changed);
}

} // namespace

TEST_CASE("a function that draws, and then clips or masks what it drew, is more than a draw") {
    const std::string one = "    %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>\n";
    CHECK(has(with_more(one + "    %more = stablehlo.multiply %34, %one : tensor<4x8xf32>\n"), "{bernoulli: [4, 8]"));
    for (const std::string& lines : std::initializer_list<std::string>{
             one + "    %most = stablehlo.constant dense<0.99> : tensor<4x8xf32>\n"
                   "    %more = stablehlo.minimum %34, %most : tensor<4x8xf32>\n",
             one + "    %rows = stablehlo.iota dim = 0 : tensor<4x8xi32>\n"
                   "    %third = stablehlo.constant dense<3> : tensor<4x8xi32>\n"
                   "    %at = stablehlo.compare EQ, %rows, %third, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> "
                   "tensor<4x8xi1>\n"
                   "    %more = stablehlo.select %at, %one, %34 : tensor<4x8xi1>, tensor<4x8xf32>\n",
             ("    %part = stablehlo.slice %34 [0:4, 1:8] : (tensor<4x8xf32>) -> tensor<4x7xf32>\n"
              "    %zero = stablehlo.constant dense<0.0> : tensor<4x1xf32>\n"
              "    %more = stablehlo.concatenate %zero, %part, dim = 1 : (tensor<4x1xf32>, tensor<4x7xf32>) -> "
              "tensor<4x8xf32>\n"),
             one + "    %more = stablehlo.divide %one, %34 : tensor<4x8xf32>\n"})
        CHECK_MESSAGE(!has(with_more(lines), "{bernoulli: [4, 8]"), lines);
}

TEST_CASE("dropout in a layer is an op for each step of it, and layers whose keys differ by a number are one module") {
    const std::string model = imported(recorded_program("flax_dropout_gpt")),
                      scanned = imported(recorded_program("flax_scanned_gpt"));
    CAPTURE(model);
    CHECK(has(model, "{fold_in: [fold_in, number]"));
    CHECK(has(model, "{bernoulli: [4, 4, 8], in: Dropout_0_fold_in, probability: 0.8"));
    CHECK(has(model, "{repeat: block, in: [Gpt_add, fold_in], over: [Block_numbers, Block_numbers_2], name: Block}"));
    CHECK(has(scanned, "{repeat: block, in: Gpt_add, over: Gpt_fold_in, name: blocks, scan: true}"));
    CHECK(std::count(model.begin(), model.end(), '\n') < 90);
    CHECK(std::count(scanned.begin(), scanned.end(), '\n') < 90);
}
