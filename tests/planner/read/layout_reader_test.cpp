#include "planner/read/layout_reader.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string with(const std::string& line) { return layout_problems("mesh: {data: 2, model: 4}\n" + line + "\n"); }

} // namespace

TEST_CASE("the parts of a layout and their places") {
    const Layout layout = layout_of(R"(mesh: {data: 2, model: {size: 4, link: dcn}}
device_ids: [7, 6, 5, 4, 3, 2, 1, 0]
rules:
  - {batch: data}
  - {mlp: [data, model]}
  - {embed: ~}
  - {kv: "?"}
semantics: nnx
missing_axes: ignore
params: {"block.*.w1": [~, model], "**.b": ["data@1", [data, "model:(1)2", "?"], "?"]}
outputs: {z: [data, ~]}
hardware: tpu-v5e
policy: {max_memory_per_device: 16 GiB, max_collectives: 3, forbid_collectives: [all_to_all]}
)");
    CHECK(layout.name == "test");
    REQUIRE(layout.mesh.axes.size() == 2);
    CHECK(layout.mesh.axes[1].name == "model");
    CHECK(layout.mesh.axes[1].size == 4);
    CHECK(layout.mesh.axes[1].link == "dcn");
    CHECK(layout.mesh.device_ids.front() == 7);
    CHECK(layout.mesh_spans[1] == Span{0, 1, 17, 5});
    REQUIRE(layout.rules.size() == 4);
    CHECK(layout.rules[1].axes == std::vector<std::string>{"data", "model"});
    CHECK(layout.rules[2].axes.empty());
    CHECK_FALSE(layout.rules[2].unconstrained);
    CHECK(layout.rules[3].unconstrained);
    CHECK(layout.rules[3].span == Span{0, 7, 6, 2});
    CHECK(layout.semantics == RuleSemantics::nnx);
    CHECK(layout.missing_axes == MissingAxes::ignore);
    REQUIRE(layout.params.size() == 2);
    CHECK(layout.params[0].glob == "block.*.w1");
    const std::vector<DimSpec>& dims = layout.params[1].spec.dims;
    REQUIRE(dims.size() == 3);
    CHECK(dims[0].priority == 1);
    CHECK_FALSE(dims[0].open);
    CHECK(dims[1].axes == std::vector<std::string>{"data", "model:(1)2"});
    CHECK(dims[1].open);
    CHECK(dims[2].open);
    CHECK(layout.hardware == "tpu-v5e");
    REQUIRE(layout.policy.entries.size() == 3);
    CHECK(layout.policy.entries[0].key == "max_memory_per_device");
    CHECK(layout.policy.entries[2].key == "forbid_collectives");
}

TEST_CASE("a layout is called as its file, without folders and the last ending") {
    for (const auto& [path, called] : {std::pair("fsdp.yaml", "fsdp"),
                                       {"layouts/fsdp.yaml", "fsdp"},
                                       {"/a.b/fsdp", "fsdp"},
                                       {"../fsdp.model.yaml", "fsdp.model"},
                                       {"a/.yaml", ".yaml"}}) {
        Sources sources;
        Diagnostics diagnostics;
        const std::optional<Layout> layout = read_layout(sources, sources.add(path, "mesh: {}\n"), diagnostics);
        REQUIRE(layout.has_value());
        CHECK(layout->name == called);
    }
}

TEST_CASE("an empty mesh is one device") {
    CHECK(layout_of("mesh: {}").mesh.device_count() == 1);
    CHECK(layout_of("mesh: {a: 1}").hardware == "uniform");
}

TEST_CASE("meshes that cannot be") {
    CHECK(layout_problems("rules: []\n") ==
          "E0116 1:1+1 the layout has no 'mesh'\n  help write mesh: {data: 2, model: 4}, or mesh: {} for one device\n");
    CHECK(layout_problems("mesh: [2, 4]\n") == "E0113 1:7+1 mesh: expected a map of axis: size, found a list\n  help "
                                               "write mesh: {data: 2, model: 4}, outer to inner\n");
    CHECK(layout_problems("mesh: {data: 0}\n") ==
          "E0301 1:14+1 mesh axis 'data': the size must be at least 1, it is 0\n");
    CHECK(layout_problems("mesh: {data: -2}\n") ==
          "E0301 1:14+2 mesh axis 'data': the size must be at least 1, it is -2\n");
    CHECK(layout_problems("mesh: {data: two}\n") ==
          "E0113 1:14+3 mesh axis 'data': expected an integer, found a string\n"
          "  help write how many devices lie along it, as data: 4\n");
    CHECK(layout_problems("mesh: {data: {link: dcn}}\n") == "E0116 1:8+4 mesh axis 'data' has no 'size'\n");
    CHECK(layout_problems("mesh: {data: {size: 2, lnik: dcn}}\n") ==
          "E0114 1:24+4 unknown key 'lnik' in mesh axis 'data'\n  help did you mean 'link'?\n");
    CHECK(layout_problems("mesh: {a: 4294967296, b: 4294967296}\n") ==
          "E0302 1:7+1 the number of devices does not fit in 64 bits\n  help look for an axis size with too many "
          "digits\n");
    CHECK(layout_of("mesh: {a: 1099511627776}").mesh.device_count() == i64{1} << 40);
    CHECK(layout_problems("mesh: {a: 1099511627777}\n") ==
          "E0302 1:7+1 the mesh has 1099511627777 devices, more than 1099511627776\n"
          "  help look for an axis size with too many digits\n");
    CHECK(layout_of("mesh: {a: 1000, b: 1000}").mesh.device_count() == 1000000);
    std::string many = "mesh: {";
    for (int i = 0; i < 33; ++i) many += "a" + std::to_string(i) + ": 1, ";
    CHECK(layout_problems(many + "}\n") == "E0302 1:7+1 the mesh has 33 axes, more than 32\n");
    CHECK(layout_problems("mesh: {a: 2, a: 4}\n") ==
          "E0102 1:14+1 the key 'a' is written twice\n  label 1:8+1 first written here\n  help keep one of them\n");
}

TEST_CASE("device_ids is a permutation") {
    CHECK(with("device_ids: [0, 1]") == "E0303 2:13+1 device_ids lists 2 devices, the mesh has 8\n");
    CHECK(with("device_ids: [0, 1, 2, 3, 4, 5, 6, 8]") ==
          "E0303 2:35+1 there is no device 8\n  help list each of 0 to 7 once, in the order of the mesh\n");
    CHECK(with("device_ids: [0, 1, 2, 3, 4, 5, 6, 0]") ==
          "E0303 2:35+1 device 0 is listed twice\n  help list each of 0 to 7 once, in the order of the mesh\n");
}

TEST_CASE("rules and shardings that cannot be read") {
    CHECK(with("rules: {batch: data}") == "E0113 2:8+1 rules: expected a list, found a map\n"
                                          "  help order matters in rules: write a list, `- {batch: data}`\n");
    CHECK(with("rules: [{a: data, b: model}]") ==
          "E0306 2:9+1 a rule is a map of one entry, found 2 entries\n  help write `- {batch: data}`, or `- {batch: "
          "[data, model]}` for several mesh axes\n");
    CHECK(with("rules: [[batch, data]]") == "E0306 2:9+1 a rule is a map of one entry, found a list\n  help write `- "
                                            "{batch: data}`, or `- {batch: [data, model]}` for several mesh axes\n");
    CHECK(with("rules: [{a: [data, data]}]") == "E0306 2:20+4 mesh axis 'data' is named twice in one rule\n");
    CHECK(with("rules: [{a: [[data]]}]") == "E0113 2:14+1 a mesh axis: expected a string, found a list\n");
    CHECK(with("rules: [{a: {b: c}}]") ==
          "E0306 2:13+1 a rule's mesh axes cannot be a map\n"
          "  help write an axis, a list of axes, ~ (replicated) or \"?\" (unconstrained)\n");
    const std::string help = "  help a dim is an axis name, a list of names, ~ (replicated), \"?\" (open), \"name?\", "
                             "\"name@1\" or \"name:(1)2\"\n";
    CHECK(with("params: {w: data}") ==
          "E0113 2:13+4 sharding: expected a list with one entry per dim, found a string\n" + help);
    CHECK(with("params: {w: [2]}") == "E0305 2:14+1 '2' is not a sharding of a dim\n" + help);
    CHECK(with("params: {w: [\"data@x\"]}") == "E0305 2:14+8 'data@x' is not a sharding of a dim\n" + help);
    CHECK(with("params: {w: [\"data:(0)2\"]}") == "E0305 2:14+11 'data:(0)2' is not a sharding of a dim\n" + help);
    CHECK(with("params: {w: [[\"?\", data]]}") == "E0305 2:14+1 a list is not a sharding of a dim\n" + help);
    CHECK(with("params: {w: [\"\"]}") == "E0305 2:14+2 '' is not a sharding of a dim\n" + help);
    CHECK(with("params: {\"w[0]\": [data]}") ==
          "E0308 2:10+6 'w[0]' is not a path pattern\n  help use names, dots, * "
          "(any name), ** (any path), ? (one character), {0..3} and {a,b} (one of "
          "these)\n");
}

TEST_CASE("choices and keys of a layout") {
    CHECK(with("semantics: flax") == "E0118 2:12+4 semantics: unknown choice 'flax'\n  help choices: linen, nnx\n");
    CHECK(with("missing_axes: ignored") ==
          "E0118 2:15+7 missing_axes: unknown choice 'ignored'\n  help did you mean 'ignore'?\n");
    CHECK_FALSE(layout_of("mesh: {data: 8}\nsequence_parallel: never\n").sequence_parallel);
    CHECK(with("sequence_parallel: no").starts_with("E0118 2:20+2 "));
    CHECK(layout_of("mesh: {data: 8}\n").prefer == Prefer::time);
    CHECK(layout_of("mesh: {data: 8}\nprefer: memory\n").prefer == Prefer::memory);
    CHECK(with("prefer: speed").starts_with("E0118 2:9+5 "));
    CHECK(with("rulez: []") == "E0114 2:1+5 unknown key 'rulez' in a layout\n  help did you mean 'rules'?\n");
    CHECK(with("rng: pad") == "E0215 2:6+3 'rng' is not supported by this version\n  help remove it\n");
    CHECK(with("divisibility: odd") ==
          "E0118 2:15+3 divisibility: unknown choice 'odd'\n  help choices: error, drop, pad\n");
    CHECK(layout_of("mesh: {data: 8}\ndivisibility: drop\n").divisibility.otherwise == Divisibility::drop);
    const DivisibilityDecl by_axis =
        layout_of("mesh: {data: 8}\ndivisibility: {vocab: pad, default: drop}\n").divisibility;
    CHECK(by_axis.of("vocab") == Divisibility::pad);
    CHECK(by_axis.of("heads") == Divisibility::drop);
    CHECK(with("divisibility: {vocab: odd}").starts_with("E0118 2:23+3 divisibility of 'vocab': unknown choice 'odd'"));
    CHECK(layout_of("mesh: {seq: 8}\nattention: auto\n").attention.wishes[0].way == std::nullopt);
    const std::vector<AttentionDecl::Wish> wishes =
        layout_of("mesh: {seq: 8}\nattention: {\"**\": ring, \"*.o\": all_to_all}\n").attention.wishes;
    CHECK(wishes[0].way == SequenceWay::ring);
    CHECK(wishes[1].glob == "*.o");
    CHECK(wishes[1].way == SequenceWay::all_to_all);
    CHECK(with("attention: rings").starts_with("E0118 2:12+5 attention: unknown choice 'rings'"));
    CHECK(with("attention: {\"a b\": ring}").starts_with("E0308 2:13+5 'a b' is not a path pattern"));
    CHECK(with("divisability: pad") ==
          "E0114 2:1+12 unknown key 'divisability' in a layout\n  help did you mean 'divisibility'?\n");
    CHECK(with("quotient: pad") ==
          "E0114 2:1+8 unknown key 'quotient' in a layout\n  help known keys: mesh, device_ids, rules, semantics, "
          "missing_axes, divisibility, partitioner, prefer, attention, sequence_parallel, inputs, params, values, "
          "outputs, states, "
          "gradients, fsdp, hardware, policy\n");
    CHECK(layout_of("mesh: {data: 8}\n").partitioner == Partitioner::shardc);
    CHECK(layout_of("mesh: {data: 8}\npartitioner: xla\n").partitioner == Partitioner::xla);
    CHECK(with("partitioner: gspmd").starts_with("E0118 2:14+5 "));
}

TEST_CASE("fsdp names an axis, and the size from which on parameters are split") {
    const Layout layout = layout_of("mesh: {data: 8}\nfsdp: {axis: data, min_size: 16}\n");
    CHECK(layout.fsdp->axes[0].text == "data");
    CHECK(layout.fsdp->min_size == 16);
    CHECK(layout_of("mesh: {data: 8}\nfsdp: {axis: data}\n").fsdp->min_size == 262144);
    CHECK_FALSE(layout_of("mesh: {data: 8}\n").fsdp.has_value());
    const std::string help = "  help write fsdp: {axis: data}, or fsdp: {axis: data, min_size: 262144}\n";
    CHECK(with("fsdp: true") == "E0113 2:7+4 fsdp: expected a map, found true or false\n" + help);
    CHECK(with("fsdp: {min_size: 3}") == "E0116 2:7+1 fsdp has no 'axis'\n" + help);
    CHECK(with("fsdp: {axis: data, min_size: -1}") == "E0115 2:30+2 min_size cannot be negative, it is -1\n");
    CHECK(layout_of("mesh: {data: 8}\nfsdp: {axis: data}\n").fsdp->prefetch);
    const Layout more = layout_of("mesh: {node: 2, data: 4}\n"
                                  "fsdp: {axis: [node, data], prefetch: false, gather_again: false}\n");
    CHECK(more.fsdp->axes.size() == 2);
    CHECK(more.fsdp->axes[1].text == "data");
    CHECK_FALSE(more.fsdp->prefetch);
    CHECK(more.fsdp->gather_again == GatherAgain::no);
    CHECK(layout_of("mesh: {data: 8}\nfsdp: {axis: data, gather_again: auto}\n").fsdp->gather_again ==
          GatherAgain::if_faster);
    CHECK(
        with("fsdp: {axis: data, gather_again: often}").starts_with("E0113 2:34+5 gather_again: expected true, false"));
    CHECK(with("fsdp: {axis: []}") == "E0116 2:14+1 fsdp splits over no axis\n" + help);
    CHECK(with("fsdp: {axis: [data, data]}") == "E0115 2:21+4 fsdp names the axis 'data' twice\n");
    CHECK(with("fsdp: {axis: data, prefetch: 2}").starts_with("E0113 2:30+1 "));
    CHECK(with("fsdp: {axes: data}").starts_with("E0114 2:8+4 unknown key 'axes' in fsdp\n"));
}

TEST_CASE("shardings of states and gradients are overrides by path") {
    const Layout layout =
        layout_of("mesh: {data: 8}\nstates: {\"*.mu\": [data, ~]}\ngradients: {w1: [data, ~], w2: [~]}\n");
    REQUIRE(layout.states.size() == 1);
    CHECK(layout.states[0].glob == "*.mu");
    CHECK(layout.gradients.size() == 2);
}

TEST_CASE("policies hold amounts with units") {
    // The most bytes that a plan may have.
    const auto memory = [](const std::string& amount) {
        const Layout layout = layout_of("mesh: {}\npolicy: {max_memory_per_device: " + amount + "}\n");
        Plan plan;
        const auto is_fine = [&](i64 peak) {
            plan.report.memory.peak = peak;
            Diagnostics found;
            layout.policy.entries.at(0).test(plan, {}, found);
            return found.all().empty();
        };
        i64 most = 0;
        for (i64 step = i64{1} << 40; step > 0; step /= 2)
            if (is_fine(most + step)) most += step;
        return most;
    };
    CHECK(memory("16 GiB") == 17179869184);
    CHECK(memory("1.5 GB") == 1500000000);
    CHECK(memory("512KiB") == 524288);
    CHECK(memory("\"2 MB\"") == 2000000);
    CHECK(memory("1024") == 1024);
    CHECK(memory("0") == 0);
    const auto bad = [](const std::string& amount) {
        return policy_problems("max_memory_per_device: " + amount + "\n");
    };
    const std::string help = "  help write 16 GiB, 1.5 GB, 512 KiB or plain bytes\n";
    CHECK(bad("16 gib") == "E0309 1:24+6 max_memory_per_device: '16 gib' is not an amount of bytes\n" + help);
    CHECK(bad("-1") == "E0309 1:24+2 max_memory_per_device: '-1' is not an amount of bytes\n" + help);
    CHECK(bad("99999999 TiB") ==
          "E0309 1:24+12 max_memory_per_device: '99999999 TiB' is not an amount of bytes\n" + help);
    CHECK(bad("[1]") == "E0113 1:24+1 max_memory_per_device: expected a string, found a list\n");
    CHECK(policy_problems("max_colectives: 1\n") ==
          "E0114 1:1+14 unknown key 'max_colectives' in policy\n  help did you mean 'max_collectives'?\n");
    CHECK(policy_problems("forbid_collectives: [allreduce]\n") ==
          "E0118 1:22+9 unknown collective 'allreduce'\n  help did you mean 'all_reduce'?\n");
    CHECK(policy_problems("max_collectives: -1\nmax_step_seconds: -0.5\n") ==
          "E0115 1:18+2 max_collectives: must not be negative\n  help write 0 to allow none\nE0115 2:19+4 "
          "max_step_seconds: must not be negative\n  help write seconds, such as 0.5\n");
}
