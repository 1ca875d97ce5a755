"""Examples, shrunk, beside the same models written in JAX (`example_twins.py`): logits, loss, the gradient of every parameter.

    python tests/oracle/examples_check.py build/dev/shardc [example...]

Weights and inputs are drawn here and given to both, as .npy. shardc runs on eight emulated devices under two layouts, in
f32; ResNet-50, which magnifies rounding, in f64. Its gradients are read from what its optimizer keeps after one step: Adam's
mu is a tenth of it, the momentum of gradient descent is it. The largest difference of an array is relative to its
largest element, of a gradient to a hundredth of the largest of all at least (that of a bias of keys is nothing but
rounding), and must be below 1e-5. Without JAX it says so and exits 77 (skipped).
"""

import dataclasses
import functools
import json
import os
import subprocess
import sys
import tempfile
import typing

os.environ.setdefault("JAX_PLATFORMS", "cpu")

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError:
    print("SKIPPED: JAX is not installed")
    sys.exit(77)

import example_twins as twins

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")

SHARDC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "shardc"
TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
ALLOWED = 1e-5

DATA, TENSOR = "mesh: {data: 8}\nrules: [{batch: data}]\n", "mesh: {data: 2, model: 4}\nmissing_axes: ignore\n"
FSDP = DATA + "fsdp: {axis: data, min_size: 64}\n"
HEADS = TENSOR + "rules: [{batch: data}, {heads: model}, {mlp: model}, {experts: model}, {vocab: model}]\n"
ROWS = "mesh: {data: 4, rows: 2}\nrules: [{batch: data}, {height: rows}]\n"
POSITIONS = TENSOR + "rules: [{positions: data}, {heads: model}, {kv_heads: model}, {mlp: [model, data]}, {vocab: model}]\n"
# A step of decoding is not trained; a loss of its logits gives it gradients.
DECODE_LOSS = """
train:
  targets: {next: {shape: [8, 1], dtype: i32}}
  loss: {softmax_cross_entropy: [logits, next]}
  optimizer: {adamw: {learning_rate: 1.0e-3}}
"""


def cross_entropy(logits, label):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), label[..., None], -1))


@dataclasses.dataclass
class Case:
    twin: typing.Callable
    settings: str
    edits: list = dataclasses.field(default_factory=list)  # of the model's text
    layouts: tuple = (FSDP, HEADS)
    target: str = "next"
    outputs: tuple = ("logits",)  # the first is what the loss sees
    loss: typing.Callable = cross_entropy


CASES = {
    "llama3": Case(
        twins.llama,
        "batch=8 length=16 embed=16 heads=4 kv_heads=2 kv=8 mlp=32 vocab=64",
        [("times: 32", "times: 2"), ("{params: bf16}", "{params: f32}")],
    ),
    "gemma2": Case(
        functools.partial(twins.gemma2, window=5, cap=2, query_scale=8**-0.5),
        "precision.params=f32 batch=8 length=16 embed=16 heads=4 kv_heads=2 kv=8 mlp=32 vocab=64",
        [("times: 21", f"times: 2, window: 5, cap: 2, scale: {8**-0.5}"), ("59.866518", "4")],
    ),
    "mixtral": Case(
        twins.mixtral,
        "layers=2 by=dropless precision.params=f32"
        " batch=8 length=16 embed=16 heads=4 kv_heads=2 kv=8 expert_mlp=32 vocab=64",
    ),
    "deepseek_v3": Case(
        functools.partial(twins.deepseek_v3, groups=4, chosen_groups=2, chosen=3),
        "dense=2 sparse=2 pairs=2 groups=4 chosen_groups=2 chosen=3 precision.params=f32 batch=8 length=16 embed=16"
        " heads=4 kv=8 v_kv=6 q_rank=12 kv_rank=10 mlp=32 experts=8 expert_mlp=12 shared_mlp=20 capacity=16 vocab=64",
        [("std: 0.006}", f"std: 0.006, scale: {12**-0.5}}}")],
    ),
    "vit": Case(
        twins.vit,
        "layers=2 batch=8 height=32 width=32 embed=16 heads=4 kv=4 mlp=32 classes=10",
        target="label",
    ),
    "t5": Case(
        twins.t5,
        "layers=2 batch=8 length=160 target_length=144 embed=16 heads=4 kv=8 mlp=32 vocab=64",
        [("0.036084391824351615", "0.25")],
    ),
    "resnet50": Case(
        twins.resnet50,
        "width=8 image=32 classes=10 batch=16 dtype=f64",
        layouts=(DATA, ROWS),
        target="labels",
        outputs=(),  # forward it takes running averages
    ),
    "mamba": Case(twins.mamba, "layers=2 batch=8 length=16 embed=16 state=4 rank=4 vocab=64"),
    "decode": Case(
        twins.decode,
        "layers=2 positions=32 embed=16 heads=8 kv_heads=4 kv=8 mlp=32 vocab=64 precision.params=f32",
        [("dtype: bf16", "dtype: f32"), ("updates: {at: next_at}", "updates: {at: next_at}" + DECODE_LOSS)],
        layouts=(HEADS.replace("{heads: model}", "{heads: model}, {kv_heads: model}"), POSITIONS),
        outputs=("logits", "block.0.keys", "block.0.values", "block.1.keys", "block.1.values"),
    ),
}


def shardc(*arguments):
    done = subprocess.run([SHARDC, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"FAILED: shardc {' '.join(arguments)}\n{done.stderr}")


def drawn(buffer, random):
    name, shape, role = buffer["name"], buffer["global_shape"], buffer["role"]
    if buffer["dtype"] == "i32":
        return np.asarray(random.integers(0, 10, shape), np.int32)
    values = random.standard_normal(shape)
    if role == "param":
        values = values * 0.2 + ("norm" in name or "scale" in name)
    return values.astype(np.float64 if buffer["dtype"] == "f64" else np.float32)


def difference(got, want, least=1e-30):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, (got.shape, want.shape)
    found = float(np.abs(got - want).max() / max(np.abs(want).max(), least))
    return found if np.isfinite(found) else np.inf


def given_to_both(plan, path):
    """Parameters, and all else that a step begins with, optimizer states apart; and the arguments that say so to shardc."""
    random = np.random.default_rng(0)
    params, rest, arguments = {}, {}, {}
    for place in plan["inputs"]:
        buffer = plan["buffers"][place["buffer"]]
        name, role = buffer["name"], buffer["role"]
        if role not in ("param", "input", "variable"):
            continue
        values = (params if role == "param" else rest)[name] = drawn(buffer, random)
        np.save(path(f"in.{name}.npy"), values)
        arguments[name] = ["--input", f"{name}={path(f'in.{name}.npy')}"]
    return params, rest, arguments


def check_on(case, layout, text, path):
    """How far each array is from its twin, by name."""
    files = [path("model.yaml"), path("layout.yaml")]
    for file, what in zip(files, (text, layout)):
        with open(file, "w") as out:
            out.write(what)
    sets = [word for setting in case.settings.split() for word in ("--set", setting)]
    shardc("plan", *files, "--mode", "train", *sets, "--quick", "-o", path("plan.json"))
    with open(path("plan.json")) as file:
        params, rest, arguments = given_to_both(json.load(file), path)
    shardc("run", path("plan.json"), *sum(arguments.values(), []), "--output", path("out"))
    read = lambda name: np.load(os.path.join(path("out"), name + ".npy"))

    def loss(params):
        made = case.twin(params, rest)
        made = made if isinstance(made, tuple) else (made,)
        return case.loss(made[0], rest[case.target]), made

    (value, made), gradients = jax.value_and_grad(loss, has_aux=True)(params)
    found = {"loss": difference(read("loss"), value)}
    largest = max(float(np.abs(gradient).max()) for gradient in gradients.values())
    for name, gradient in gradients.items():
        is_adam = os.path.exists(os.path.join(path("out"), name + ".mu.npy"))
        kept = read(name + ".mu") * 10 if is_adam else read(name + ".momentum")
        found[name + ".grad"] = difference(kept, gradient, largest / 100)
    if case.outputs:
        del arguments[case.target]
        shardc("run", *files, *sets, *sum(arguments.values(), []), "--output", path("forward") + "/")
        for name, want in zip(case.outputs, made):
            found[name] = difference(np.load(os.path.join(path("forward"), name + ".npy")), want)
    return found


def check(example, case):
    worst = 0.0
    with open(os.path.join(TREE, f"examples/{example}/model.yaml")) as file:
        text = file.read()
    for before, after in case.edits:
        assert before in text, before
        text = text.replace(before, after)
    for layout in case.layouts:
        with tempfile.TemporaryDirectory() as folder:
            found = check_on(case, layout, text, lambda name: os.path.join(folder, name))
        name = max(found, key=found.get)
        print(
            f"{example}: {layout.splitlines()[0]}: {len(found)} arrays, largest difference {found[name]:.2g}, of {name}",
            flush=True,
        )
        worst = max(worst, found[name])
    return worst


def main():
    asked = sys.argv[2:] or CASES
    worst = max(check(example, CASES[example]) for example in asked)
    if worst > ALLOWED:
        sys.exit(f"FAILED: {worst:.2g} is more than {ALLOWED}")


main()
