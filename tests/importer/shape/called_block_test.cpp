// Layers that each are given what no other is, or make what is read elsewhere, become calls of one module.
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace shard;

namespace {

std::string imported(const std::string& text) { return imported_program(text).model; }

struct Layers {
    int count = 3;
    std::vector<double> scales = {2, 2, 2}; // a number of each layer
    std::string dtype = "f32";              // of the cache and the numbers
    bool is_part = false;                   // the caches are parts of one array
    std::string more;                       // after the layers
    std::vector<std::string> returned;      // beside what each layer makes of its cache
};

// c' = scale * c, of layer i's cache c; h = tanh(cos(sin(exp(-(h @ w_i) + f32(c'))))).
std::string layers(const Layers& of) {
    std::string arguments = of.is_part ? ", %all: tensor<64x8xf32> loc(\"all\")" : "", body;
    std::vector<std::string> values = of.returned, types(values.size(), "tensor<4x8xf32>");
    const std::string cache = fmt::format("tensor<4x8x{}>", of.dtype);
    for (int i = 0; i < of.count; ++i) {
        arguments += fmt::format(", %w{0}: tensor<8x8xf32> loc(\"params['h_{0}']['w']\")", i);
        if (!of.is_part)
            arguments += fmt::format(", %c{0}: {1} loc(\"cache['h_{0}']\")", i, cache);
        else
            body +=
                fmt::format("  %c{0} = stablehlo.slice %all [{1}:{2}, 0:8] : (tensor<64x8xf32>) -> tensor<4x8xf32>\n",
                            i, 4 * i, 4 * i + 4);
        body += fmt::format("  %k{0} = stablehlo.constant dense<{1}> : {2}\n"
                            "  %n{0} = stablehlo.multiply %k{0}, %c{0} : {2}\n",
                            i, of.scales[static_cast<size_t>(i)], cache);
        const std::string h = i == 0 ? "%x" : fmt::format("%h{}", i - 1);
        body += fmt::format("  %d{0} = stablehlo.dot_general {1}, %w{0}, contracting_dims = [1] x [0] : "
                            "(tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n"
                            "  %m{0} = stablehlo.negate %d{0} : tensor<4x8xf32>\n"
                            "  %f{0} = stablehlo.convert %n{0} : ({2}) -> tensor<4x8xf32>\n"
                            "  %s{0} = stablehlo.add %m{0}, %f{0} : tensor<4x8xf32>\n"
                            "  %e{0} = stablehlo.exponential %s{0} : tensor<4x8xf32>\n"
                            "  %a{0} = stablehlo.sine %e{0} : tensor<4x8xf32>\n"
                            "  %b{0} = stablehlo.cosine %a{0} : tensor<4x8xf32>\n"
                            "  %h{0} = stablehlo.tanh %b{0} : tensor<4x8xf32>\n",
                            i, h, cache);
        values.push_back(fmt::format("%n{}", i));
        types.push_back(cache);
    }
    values.push_back(fmt::format("%h{}", of.count - 1));
    types.push_back("tensor<4x8xf32>");
    return fmt::format("func.func @main(%x: tensor<4x8xf32> loc(\"x\"){}) -> ({}) {{\n{}{}  return {} : {}\n}}\n",
                       arguments, fmt::join(types, ", "), body, of.more, fmt::join(values, ", "),
                       fmt::join(types, ", "));
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("layers that have a cache each are calls of one module, which has their parameters") {
    CHECK(imported(layers(Layers())) == "model: program\n"
                                        "axes: {batch: 4, embed: 8, features: 8}\n"
                                        "sizes: fixed\n"
                                        "inputs:\n"
                                        "  x: {axes: [batch, embed]}\n"
                                        "  cache_h_0: {axes: [batch, features]}\n"
                                        "  cache_h_1: {axes: [batch, features]}\n"
                                        "  cache_h_2: {axes: [batch, features]}\n"
                                        "modules:\n"
                                        "  block:\n"
                                        "    inputs: [cache, x]\n"
                                        "    params:\n"
                                        "      w: {axes: [embed, features]}\n"
                                        "    graph:\n"
                                        "      - mul: {mul: [2, cache]}\n"
                                        "      - dot: {dot: [x, w]}\n"
                                        "      - neg: {neg: dot}\n"
                                        "      - add: {add: [neg, mul]}\n"
                                        "      - exp: {exp: add}\n"
                                        "      - sin: {sin: exp}\n"
                                        "      - cos: {cos: sin}\n"
                                        "      - tanh: {tanh: cos}\n"
                                        "    outputs: [mul, tanh]\n"
                                        "graph:\n"
                                        "  - result, tanh: {block: [cache_h_0, x], name: h_0}\n"
                                        "  - result_2, tanh_2: {block: [cache_h_1, tanh], name: h_1}\n"
                                        "  - result_3, result_4: {block: [cache_h_2, tanh_2], name: h_2}\n"
                                        "outputs: [result, result_2, result_3, result_4]\n");
}

TEST_CASE("a number that each layer has for itself is given to it, if a literal is of its type") {
    Layers of;
    of.scales = {2, 3, 4};
    const std::string given = imported(layers(of));
    CHECK_MESSAGE(holds(given, "  - result_2, tanh_2: {block: [3, cache_h_1, tanh], name: h_1}\n"), given);
    CHECK_MESSAGE(holds(given, "mul: [number, cache]"), given);
    of.dtype = "f64";
    const std::string of_other_type = imported(layers(of));
    CHECK_MESSAGE(!holds(of_other_type, "modules:"), of_other_type);
}

TEST_CASE("a parameter that is read after the layers, too, is given to each") {
    Layers more;
    more.more = "  %after = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, "
                "tensor<8x8xf32>) -> tensor<4x8xf32>\n";
    more.returned = {"%after"};
    const std::string model = imported(layers(more));
    CHECK_MESSAGE(holds(model, "\nparams:\n  h_0_w: {"), model);
    CHECK_MESSAGE(holds(model, "{block: [cache_h_1, tanh, h_1_w], name: h_1}"), model);
}

TEST_CASE("what a layer before the last one makes may be read by any after it") {
    Layers of;
    of.more = "  %after = stablehlo.add %h0, %h1 : tensor<4x8xf32>\n";
    of.returned = {"%after"};
    const std::string model = imported(layers(of));
    CHECK_MESSAGE(holds(model, "  - result_5: {add: [tanh, tanh_2]}\n"), model);
    CHECK_MESSAGE(holds(model, "{block: [cache_h_2, tanh_2], name: h_2}"), model);
}

TEST_CASE("layers that read other parts of one array stay written out: no module says which") {
    Layers of;
    of.is_part = true;
    const std::string model = imported(layers(of));
    CHECK_MESSAGE(!holds(model, "modules:"), model);
    CHECK_MESSAGE(holds(model, "start: [8], limit: [12]"), model);
}
