// What a step does to one array after another, whatever their shapes are, becomes calls of one module.
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace shard;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Array {
    std::string name, type;
    std::string rate = "0.1"; // that it is updated at
};

// Of each array p, with its momentum m and its gradient g: m' = 0.9 m + g, p' = p - rate * clip * m', first all momenta,
// as jax.tree.map has it. `more` stands behind, and returns `%more` if it is not empty.
std::string step(const std::vector<Array>& arrays, const std::string& more = "") {
    std::vector<std::string> arguments = {"%clip: tensor<f32> loc(\"clip\")"}, results, types;
    std::string momenta, params;
    for (size_t i = 0; i < arrays.size(); ++i) {
        const auto& [name, type, rate] = arrays[i];
        const int result = static_cast<int>(2 * i);
        arguments.push_back(
            fmt::format("%p{0}: {1} {{tf.aliasing_output = {2} : i32}} loc(\"params['{3}']\"), %m{0}: {1} "
                        "{{tf.aliasing_output = {4} : i32}} loc(\"mu['{3}']\"), %g{0}: {1} loc(\"gradients['{3}']\")",
                        i, type, result, name, result + 1));
        momenta += fmt::format("  %d{0} = stablehlo.constant dense<0.9> : {1}\n"
                               "  %k{0} = stablehlo.multiply %d{0}, %m{0} : {1}\n"
                               "  %n{0} = stablehlo.add %k{0}, %g{0} : {1}\n",
                               i, type);
        params += fmt::format("  %r{0} = stablehlo.constant dense<{2}> : tensor<f32>\n"
                              "  %s{0} = stablehlo.multiply %r{0}, %clip : tensor<f32>\n"
                              "  %b{0} = stablehlo.broadcast_in_dim %s{0}, dims = [] : (tensor<f32>) -> {1}\n"
                              "  %u{0} = stablehlo.multiply %b{0}, %n{0} : {1}\n"
                              "  %q{0} = stablehlo.subtract %p{0}, %u{0} : {1}\n",
                              i, type, rate);
        for (const char* made : {"q", "n"}) {
            results.push_back(fmt::format("%{}{}", made, i));
            types.push_back(type);
        }
    }
    if (!more.empty()) {
        results.push_back("%more");
        types.push_back("tensor<f32>");
    }
    return fmt::format("func.func @main({}) -> ({}) {{\n{}{}{}  return {} : {}\n}}\n", fmt::join(arguments, ", "),
                       fmt::join(types, ", "), momenta, params, more, fmt::join(results, ", "), fmt::join(types, ", "));
}

const std::vector<Array> three = {{"a_w", "tensor<4x8xf32>"}, {"a_b", "tensor<8xf32>"}, {"c_w", "tensor<8x2x3xf32>"}};

} // namespace

TEST_CASE("updates of arrays are calls of one module, whatever their shapes are") {
    const std::string model = imported_program(step(three)).model;
    CAPTURE(model);
    CHECK(holds(model, "modules:\n"
                       "  update:\n"
                       "    inputs: [mu, gradients, param, clip]\n"
                       "    graph:\n"
                       "      - mul: {mul: [0.9, mu]}\n"
                       "      - mu_new: {add: [mul, gradients]}\n"
                       "      - mul_2: {mul: [0.1, clip]}\n"
                       "      - mul_3: {mul: [mul_2, mu_new]}\n"
                       "      - param_new: {sub: [param, mul_3]}\n"
                       "    outputs: [mu_new, param_new]\n"));
    for (const char* name : {"a_w", "a_b", "c_w"})
        CHECK(holds(model, fmt::format("  - mu_{0}_new, {0}_new: {{update: [mu_{0}, gradients_{0}, {0}, clip], name: "
                                       "{0}_update}}\n",
                                       name)));
}

TEST_CASE("arrays that are updated otherwise have a module of their own, or stay written out") {
    std::vector<Array> arrays = three;
    arrays.push_back({"d_b", "tensor<5xf32>", "0.2"});
    const std::string one = imported_program(step(arrays)).model;
    CAPTURE(one);
    CHECK(holds(one, "  - d_b_new: {sub: "));
    CHECK(holds(one, "name: c_w_update}"));
    for (const char* name : {"e_b", "f_w", "g_w"}) arrays.push_back({name, "tensor<3xf32>", "0.2"});
    const std::string four = imported_program(step(arrays)).model;
    CAPTURE(four);
    CHECK(holds(four, "  - mu_c_w_new, c_w_new: {update: "));
    CHECK(holds(four, "  - mu_d_b_new, d_b_new: {update_2: "));
}

namespace {

// The sum of one array of 8 numbers, as %more.
std::string sum_of(const std::string& array) {
    return fmt::format("  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                       "  %more = stablehlo.reduce({} init: %zero) applies stablehlo.add across dimensions = [0] : "
                       "(tensor<8xf32>, tensor<f32>) -> tensor<f32>\n",
                       array);
}

} // namespace

TEST_CASE("what stands behind updates reads what they make") {
    const auto order = [](const std::string& model, const std::string& sum) {
        CAPTURE(model);
        CHECK(holds(model, "name: c_w_update}\n" + sum));
        CHECK(holds(model, "name: a_b_update}"));
    };
    order(imported_program(step(three, sum_of("%q1"))).model, "  - loss: {reduce_sum: a_b_new, dims: [0]}");
    const std::string of_step = imported_program(step(three, sum_of("%u1"))).model; // all of them return it
    order(of_step, "  - loss: {reduce_sum: mul_2, dims: [0]}");
    CHECK(holds(of_step, "    outputs: [mu_new, mul_3, param_new]\n"));
    const std::string mean = sum_of("%q1");
    order(imported_program(step(three, "  %count = stablehlo.constant dense<8.0> : tensor<f32>\n" +
                                           mean.substr(0, mean.find("%more =")) +
                                           "%sum =" + mean.substr(mean.find("%more =") + 7) +
                                           "  %more = stablehlo.divide %sum, %count : tensor<f32>\n"))
              .model,
          "  - reduce_sum: {reduce_sum: a_b_new, dims: [0]}\n");
    const std::string squared = "  %more_of = stablehlo.exponential %q1 : tensor<8xf32>\n" + sum_of("%more_of");
    order(imported_program(step(three, squared)).model, "  - exp: {exp: a_b_new}\n");
}

TEST_CASE("what an update needs of another, or others need before it is whole, is no update") {
    const std::string within = "  %more_of = stablehlo.exponential %u1 : tensor<8xf32>\n" + sum_of("%more_of");
    std::vector<Array> four = three;
    four.push_back({"d_w", "tensor<2x8xf32>"});
    const std::string read = imported_program(step(four, within)).model;
    CAPTURE(read);
    CHECK(holds(read, "  - mu_a_b_new: {add: "));
    CHECK(holds(read, "name: c_w_update}"));
    std::string text = step(three); // that of c_w is as long as that of a_b is
    const size_t at = text.find("  %r2 = ");
    text.insert(at, sum_of("%n1"));
    text.replace(text.find("%r2, %clip"), 10, "%r2, %more");
    const std::string back = imported_program(text).model;
    CAPTURE(back);
    CHECK(holds(back, "  - mu_a_b_new: {add: "));
    CHECK(holds(back, "  - reduce_sum: {reduce_sum: mu_a_b_new, dims: [0]}\n"));
}
