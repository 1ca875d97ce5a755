#!/usr/bin/env python3
"""Programs of JAX's guides, as they are printed there, imported beside the examples that have them by hand: the plans are the same.

    tests/oracle/guides_check.py build/dev/shardc

Of each: what `shardc diff` says of both plans, time, memory, bytes, collectives and shardings of what goes in; names are
each program's own. Exits 1 if any differs; without JAX it says so and exits 77 (skipped). Not part of ctest.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from imported import SHARDC  # before jax: it forces the devices

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def mesh_of(**axes):
    count = int(np.prod(list(axes.values())))
    return Mesh(np.array(jax.devices()[:count]).reshape(*axes.values()), tuple(axes))


def array(mesh, shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def block(mesh, x, w1, w2):
    y = jax.lax.with_sharding_constraint(jax.nn.relu(x @ w1), NamedSharding(mesh, P("data", "model")))
    return y @ w2


def dot_relu_dot():
    mesh = mesh_of(data=2, model=4)
    params = {"w1": array(mesh, (1024, 1024), None, "model"), "w2": array(mesh, (1024, 1024), "model", None)}
    return lambda params, x: block(mesh, x, **params), (params, array(mesh, (8, 1024), "data", None)), P("data", None)


def mlp():
    mesh = mesh_of(data=2, model=4)
    params = [dot_relu_dot()[1][0] for _ in range(4)]

    def forward(params, x):
        for layer in params:
            x = jax.lax.with_sharding_constraint(block(mesh, x, **layer), NamedSharding(mesh, P("data", None)))
        return x

    return forward, (params, array(mesh, (8, 1024), "data", None)), P("data", None)


def matmul_bias():
    mesh = mesh_of(i=4, j=2)
    body = jax.shard_map(lambda x, w, b: x @ w + b, mesh=mesh, in_specs=(P("i", None), P(None, "j"), P("j")),
                         out_specs=P("i", "j"))
    params = {"w": array(mesh, (64, 128), None, "j"), "b": array(mesh, (128,), "j")}
    return lambda params, x: body(x, params["w"], params["b"]), (params, array(mesh, (192, 64), "i", None)), P("i", "j")


def weight_gather():
    mesh = mesh_of(i=4, j=2)
    gather = lambda x, w: x @ jax.lax.all_gather(w, "i", axis=0, tiled=True)
    body = jax.shard_map(gather, mesh=mesh, in_specs=(P("i", None), P("i", None)), out_specs=P("i", None))
    params = {"w": array(mesh, (64, 128), "i", None)}
    return lambda params, x: body(x, params["w"]), (params, array(mesh, (192, 64), "i", None)), P("i", None)


# By the example that has it: the program, the example's layout, and the hardware of both where that names none.
GUIDES = {
    "dot_relu_dot/model.yaml": (dot_relu_dot, "dot_relu_dot/layout.yaml"),
    "mlp/logical_axes.yaml": (mlp, "mlp/rules.yaml"),
    "manual/matmul_bias/model.yaml": (matmul_bias, "manual/matmul_bias/layout.yaml"),
    "weight_gather/model.yaml": (weight_gather, "weight_gather/layout.yaml"),
}


def shardc(*arguments):
    done = subprocess.run([SHARDC, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"FAILED: shardc {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def figures(plan):
    """What a plan costs, and how what goes in lies: in any order, since names are each program's own."""
    read = json.loads(plan.read_text())
    report, buffers = read["report"], read["buffers"]
    given = sorted((tuple(b["global_shape"]), b["sharding"]) for b in (buffers[i["buffer"]] for i in read["inputs"]))
    sent = sorted((c["kind"], tuple(c["axes"]), c["wire_bytes_total"]) for c in report["collectives"])
    return {"inputs": given, "collectives": sent, "peak": read["peak_bytes"], "seconds": report["time"]["step_seconds"]}


def check(example, make, layout, folder):
    function, arguments, out = make()
    mesh = jax.tree.leaves(arguments)[0].sharding.mesh
    lowered = jax.jit(function, out_shardings=NamedSharding(mesh, out)).lower(*arguments)
    (folder / "guide.mlir").write_text(lowered.as_text(debug_info=True))
    shardc("import", folder / "guide.mlir", "--output", folder / "model.yaml", "--layout", folder / "layout.yaml")
    hardware = [line for line in (EXAMPLES / layout).read_text().splitlines() if line.startswith("hardware:")]
    with open(folder / "layout.yaml", "a") as file:
        file.write("".join(line + "\n" for line in hardware))
    shardc("plan", folder / "model.yaml", folder / "layout.yaml", "-o", folder / "imported.json")
    shardc("plan", EXAMPLES / example, EXAMPLES / layout, "-o", folder / "by_hand.json")
    print(shardc("diff", folder / "imported.json", folder / "by_hand.json"))
    imported, by_hand = figures(folder / "imported.json"), figures(folder / "by_hand.json")
    return [f"{example}: {name}: {imported[name]}, by hand {by_hand[name]}" for name in imported
            if imported[name] != by_hand[name]]


def main():
    differ = []
    for example, (make, layout) in GUIDES.items():
        with tempfile.TemporaryDirectory() as folder:
            differ += check(example, make, layout, pathlib.Path(folder))
    print("".join(line + "\n" for line in differ) or f"{len(GUIDES)} programs, the same plans")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
