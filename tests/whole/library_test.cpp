// What is in the box (planner/library/), shrunk: trained on meshes, proved against one device and the interpreter.
#include "planner/read/include.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

struct Block {
    std::string include, entries;
};

// Two layers of each; together every module of the box.
const std::vector<Block> blocks = {
    {"llama", "  - y: {repeat: llama_block, times: 2, in: x, axis: layers, scan: true}\n"},
    {"llama", "  - y: {repeat: llama_block, times: 2, in: x, axis: layers, scan: true, windowed: true, window: 3, "
              "qk_norm: true, "
              "bias: true, out_bias: true, mlp_bias: true, scaling: [4, 1, 4, 16]}\n"},
    {"moe", "  - y: {repeat: moe_block, times: 2, in: x, axis: layers, scan: true, shared: true, qk_norm: true, bias: "
            "true}\n"},
    {"gpt2", "  - y: {repeat: gpt2_block, times: 2, in: x, axis: layers, drops: true, dropout: 0.25, "
             "attention_dropout: 0.5}\n"},
    {"vit", "  - y: {repeat: vit_block, times: 2, in: x, axis: layers, scan: true, remat: dots}\n"},
    {"deepseek", "  - y: {repeat: deepseek_block, times: 2, in: x, axis: layers, scan: true, pairs: 2, chosen: 2, "
                 "groups: 2, chosen_groups: 1, "
                 "scaling: [4, 0, 1]}\n"},
    {"deepseek", "  - none: {constant: 0, shape: []}\n"
                 "  - y, balance_loss: {repeat: deepseek_block, times: 2, in: [x, none], axis: layers, scan: true, "
                 "pairs: 2, chosen: 2, "
                 "groups: 2, chosen_groups: 1, losses: true, carries: [x, balance_loss]}\n"},
    {"t5", "  - s: {t5_bias: table, size: length, each: 2, half: 4, last: 3, spread: 1.8}\n"
           "  - t: {t5_bias: table, size: length, each: 4, half: 8, last: 7, spread: 1.1, causal: true}\n"
           "  - e: {t5_encoder_block: [x, s], gated: true}\n"
           "  - y: {t5_decoder_block: [x, e, t]}\n"},
    {"gemma3", "  - y: {repeat: gemma3_six, times: 2, in: x, axis: layers, scan: true, window: 3}\n"},
    {"gpt_neox", "  - y: {repeat: gpt_neox_block, times: 2, in: x, axis: layers, scan: true, rotated: 2}\n"},
    {"bert", "  - y: {repeat: bert_block, times: 2, in: x, axis: layers, scan: true}\n"},
    {"gemma2", "  - y: {repeat: gemma2_pair, times: 2, in: x, axis: layers, scan: true, window: 3}\n"},
};

std::string model_of(const Block& block) {
    return fmt::format(R"(model: boxed
include: {}
axes: {{batch: 4, length: 8, embed: 16, heads: 4, kv_heads: 2, kv: 4, mlp: 24, layers: 2,
       experts: 4, expert_mlp: 8, shared_mlp: 8, capacity: 4, target_length: length, q_rank: 4, kv_rank: 4, v_kv: 4}}
inputs: {{x: {{axes: [batch, length, embed]}}, table: {{axes: [8, heads]}}}}
graph:
{}outputs: [y]
train:
  targets: {{label: {{axes: [batch, length, embed]}}}}
  loss: {{mse: [y, label]}}
  optimizer: {{adam: {{learning_rate: 0.01}}}}
)",
                       block.include, block.entries);
}

} // namespace

TEST_CASE("blocks of the box train alike on one device and on meshes: the model split, and split as fsdp does") {
    const std::string rules =
        "rules: [{heads: model}, {kv_heads: model}, {mlp: model}, {experts: model}, {batch: data}]\n";
    for (const Block& block : blocks)
        for (const std::string& layout :
             {"mesh: {data: 2, model: 2}\n" + rules + "missing_axes: ignore\n",
              "mesh: {data: 4, model: 2}\n" + rules + "missing_axes: ignore\nfsdp: {axis: data, min_size: 1}\n"}) {
            CAPTURE(block.include);
            CAPTURE(layout);
            ProofOptions options;
            options.mode = "train";
            options.steps = 2;
            const std::vector<std::string> problems = prove(model_of(block), layout, options);
            CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "; ")));
        }
}

TEST_CASE("every file of the box says what it is, and has a block among those that are tried") {
    for (const LibraryFile& file : library()) {
        CAPTURE(file.name);
        CHECK(file.doc.size() > 20);
        CHECK(std::count_if(blocks.begin(), blocks.end(),
                            [&](const Block& block) { return block.include == file.name; }) >= 1);
    }
}

} // namespace shard
