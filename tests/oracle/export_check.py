#!/usr/bin/env python3
"""Uses what `shardc export` writes in JAX, Flax and optax, on eight devices forced on the CPU.

    tests/oracle/export_check.py build/dev/shardc

Prints one line a case and exits 1 if one fails; without JAX it says so and exits 77 (skipped). Not part of ctest.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    from flax import nnx
    from flax.linen.spmd import logical_to_mesh_axes
    from flax.training.train_state import TrainState
    from jax.sharding import PartitionSpec
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

SHARDC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "shardc"
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
FAILED = []


def check(name, condition, detail=""):
    print(f"{'ok' if condition else 'FAILED':7}{name} {detail}")
    if not condition:
        FAILED.append(name)


def load(folder, target, *arguments):
    """The module that shardc writes of arguments in a folder."""
    text = subprocess.run(
        [SHARDC, "export", *arguments, "--to", target], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    path = pathlib.Path(tempfile.mkdtemp()) / "exported.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folder_of(**files):
    folder = pathlib.Path(tempfile.mkdtemp())
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def rules_give_specs(name, specs, model_axes):
    """Flax's own reading of the rules against the tables; model_axes: the logical axes of each array."""
    others = getattr(specs, "NOT_BY_RULES", ())
    wrong = [
        array
        for array, axes in model_axes.items()
        if (logical_to_mesh_axes(axes, specs.LOGICAL_AXIS_RULES) != specs.spec(array)) != (array in others)
    ]
    check(f"{name}: Flax makes the planned specs of the rules", not wrong, wrong or "")


class DotReluDot(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.relu(nn.Dense(1024, use_bias=False)(x))
        kernel = self.param("W2", nn.initializers.xavier_normal(), (1024, 1024))
        return y @ kernel


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(4):
            x = DotReluDot()(x)
        return x


def linen_and_optax():
    specs = load(EXAMPLES / "linen_guide", "specs", "model.yaml", "layout.yaml", "--mode", "train")
    mesh, model, x = specs.mesh(), MLP(), jnp.ones((8, 1024))

    def init(key):
        return TrainState.create(apply_fn=model.apply, params=model.init(key, x), tx=optax.adam(1e-3))

    shapes = jax.eval_shape(init, jax.random.key(0))
    planned = specs.shardings(shapes, mesh)
    state = jax.jit(init, out_shardings=planned)(jax.random.key(0))
    check("linen: a TrainState as planned", specs.differences(state, mesh) == [])
    spec = state.opt_state[0].mu["params"]["DotReluDot_2"]["Dense_0"]["kernel"].sharding.spec
    check("linen: Adam's states as planned", spec == specs.spec("DotReluDot.2.Dense_0.kernel.mu"), spec)

    def step(state, x):
        loss, grads = jax.value_and_grad(lambda params: state.apply_fn(params, x).sum())(state.params)
        return state.apply_gradients(grads=grads), loss

    step = jax.jit(
        step, in_shardings=(planned, specs.sharding("x", mesh)), out_shardings=(planned, specs.sharding("loss", mesh))
    )
    state, _ = step(state, x)
    check("linen: still as planned after a step", specs.differences(state, mesh) == [])
    moved = jax.device_put(state.params, jax.sharding.NamedSharding(mesh, PartitionSpec()))
    check("linen: what is not as planned is found", len(specs.differences(moved, mesh)) == 8)
    axes = {f"DotReluDot.{i}.W2": ("hidden", "embed") for i in range(4)}
    rules_give_specs(
        "linen", specs, {**axes, "DotReluDot.0.Dense_0.kernel": ("embed", "hidden"), "x": ("batch", "embed")}
    )


class Dot(nnx.Module):
    def __init__(self, rngs):
        init = nnx.initializers.lecun_normal()
        self.w1 = nnx.Param(init(rngs.params(), (1024, 1024)))
        self.w2 = nnx.Param(init(rngs.params(), (1024, 1024)))

    def __call__(self, x):
        return nn.relu(x @ self.w1[...]) @ self.w2[...]


def nnx_model_and_optimizer():
    specs = load(EXAMPLES / "nnx_guide", "specs", "model.yaml", "layout.yaml", "--mode", "train")
    mesh = specs.mesh()

    @nnx.jit
    def create():
        model = Dot(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
        for part in (model, optimizer):
            state = nnx.state(part)
            nnx.update(part, jax.lax.with_sharding_constraint(state, specs.shardings(state, mesh)))
        return model, optimizer

    model, optimizer = create()
    check("nnx: a model and its optimizer as planned", [] == specs.differences(nnx.state((model, optimizer)), mesh))
    check("nnx: the parameter is split", model.w1[...].sharding.spec == specs.spec("w1"), specs.spec("w1"))
    rules_give_specs("nnx", specs, {"w1": ("embed", "hidden"), "w2": ("hidden", "embed"), "input": ("batch", "embed")})


def states_of_their_own():
    specs = load(EXAMPLES / "zero", "specs", "model.yaml", "zero1.yaml", "--mode", "train")
    mesh, params = specs.mesh(), {name: jax.ShapeDtypeStruct((1024, 1024), jnp.float32) for name in specs.PARAMS}
    state = specs.shardings(jax.eval_shape(optax.adam(1e-3).init, params), mesh)
    check(
        "ZeRO 1: a state is split where its parameter is not",
        (state[0].mu["w3"].spec, specs.spec("w3")) == (PartitionSpec("data", None), PartitionSpec(None, None)),
    )


def page():
    """The job of docs/export.md, as it stands there."""
    specs = load(EXAMPLES / "linen_guide", "specs", "model.yaml", "layout.yaml", "--mode", "train")
    text = (EXAMPLES.parent / "docs" / "export.md").read_text()
    sys.modules["specs"] = specs
    names = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    check("the job of docs/export.md runs", bool(jnp.isfinite(names["loss"])), names["loss"])


def torch_placements():
    try:
        from torch.distributed.tensor import Replicate, Shard
    except ImportError as problem:
        return print(f"skipped torch: {problem}")
    specs = load(EXAMPLES / "linen_guide", "specs", "model.yaml", "layout.yaml", "--mode", "train")
    check("torch: placements", specs.placements("DotReluDot.0.W2") == [Replicate(), Shard(0)])


def unusual_meshes():
    model = "model: m\ninputs: {x: {shape: [8, 4], mesh: [[b, a], ~]}}\ngraph: [{y: {relu: x}}]\noutputs: [y]\n"
    specs = load(
        folder_of(model=model, layout="mesh: {a: 2, b: 4}\ndevice_ids: [1, 0, 2, 3, 7, 6, 5, 4]\n"),
        "specs",
        "model.yaml",
        "layout.yaml",
    )
    ids = [device.id for device in specs.mesh().devices.flat]
    check("the order of the devices", ids == [1, 0, 2, 3, 7, 6, 5, 4], ids)
    value = jax.device_put(jnp.arange(32.0).reshape(8, 4), specs.sharding("x", specs.mesh()))
    held = {shard.device.id: float(shard.data[0, 0]) for shard in value.addressable_shards}
    # Device 6 stands at position 5: a 1, b 1; major to minor that is the block 1 * 2 + 1.
    check("a dim over two axes, major to minor", held[6] == 3 * 4, held)


if __name__ == "__main__":
    linen_and_optax()
    nnx_model_and_optimizer()
    states_of_their_own()
    unusual_meshes()
    torch_placements()
    page()
    print(f"{len(FAILED)} failed")
    sys.exit(1 if FAILED else 0)
