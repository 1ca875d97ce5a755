"""Examples, shrunk, beside the same models written in JAX: logits, loss, and the gradient of every parameter.

    python tests/oracle/examples_check.py build/dev/shardc [example...]

Weights and inputs are drawn here and given to both, as .npy. shardc runs on eight emulated devices under two layouts, in
f32; ResNet-50, which magnifies rounding, in f64. Its gradients are read from what its optimizer keeps after one step: Adam's
mu is a tenth of it, the momentum of gradient descent is it. The largest difference of an array is relative to its
largest element, of a gradient to a hundredth of the largest of all at least (that of a bias of keys is nothing but
rounding), and must be below 1e-5. Without JAX it says so and exits 77 (skipped).
"""

import json
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError:
    print("SKIPPED: JAX is not installed")
    sys.exit(77)

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")

SHARDC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "shardc"
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
ALLOWED = 1e-5


def cross_entropy(logits, label):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), label[..., None], -1))


def rms_norm(x, scale, eps=1e-5):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * scale


def layer_norm(x, scale, bias, eps):
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) / jnp.sqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + eps) * scale + bias


def rope(x, theta):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None].astype(x.dtype), jnp.sin(angle)[:, None].astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def attend(n, p, theta, causal):
    q, k, v = (jnp.einsum("bld,dhk->blhk", n, p[w]) for w in ("wq", "wk", "wv"))
    if "bq" in p:
        q, k, v = q + p["bq"], k + p["bk"], v + p["bv"]
    if theta:
        q, k = rope(q, theta), rope(k, theta)
    k, v = (jnp.repeat(t, q.shape[2] // t.shape[2], 2) for t in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return jnp.einsum("blhk,hkd->bld", out, p["wo"])


def layers_of(params, block):
    stack = {name.removeprefix(block + "."): w for name, w in params.items() if name.startswith(block + ".")}
    for layer in range(next(iter(stack.values())).shape[0]):
        yield {name: w[layer] for name, w in stack.items()}


def language_model(params, inputs, block, mlp, theta):
    x = params["wte"][inputs["tokens"]]
    for p in layers_of(params, block):
        x = x + attend(rms_norm(x, p["attention_norm"]), p, theta, True)
        x = x + mlp(rms_norm(x, p["mlp_norm"]), p)
    return rms_norm(x, params["norm"]) @ params["unembed"]


def llama(params, inputs):
    gated = lambda n, p: (jax.nn.silu(n @ p["w_gate"]) * (n @ p["w_up"])) @ p["w_down"]
    return language_model(params, inputs, "llama_block", gated, 500000)


def mixtral(params, inputs):
    def experts(n, p):
        best, chosen = jax.lax.top_k(jax.nn.softmax(n @ p["moe.router"]), 2)
        share = jnp.einsum("blk,blke->ble", best / best.sum(-1, keepdims=True), jax.nn.one_hot(chosen, 8))
        made = jax.nn.silu(jnp.einsum("bld,edf->blef", n, p["moe.w_gate"]))
        made = made * jnp.einsum("bld,edf->blef", n, p["moe.w_up"])
        return jnp.einsum("blef,efd,ble->bld", made, p["moe.w_down"], share)

    return language_model(params, inputs, "moe_block", experts, 1000000)


def vit(params, inputs):
    image = inputs["image"]
    batch, channels, height, width = image.shape
    patches = image.reshape(batch, channels, height // 16, 16, width // 16, 16)
    x = jnp.einsum("bcrpsq,cpqd->brsd", patches, params["w_patch"]) + params["b_patch"]
    x = x.reshape(batch, -1, x.shape[-1])
    first = jnp.broadcast_to(params["cls"], (batch, 1, x.shape[-1]))
    x = jnp.concatenate([first, x], 1) + params["wpe"]
    for p in layers_of(params, "vit_block"):
        x = x + attend(layer_norm(x, p["ln1_scale"], p["ln1_bias"], 1e-6), p, None, False) + p["bo"]
        n = layer_norm(x, p["ln2_scale"], p["ln2_bias"], 1e-6)
        x = x + jax.nn.gelu(n @ p["w_up"] + p["b_up"], approximate=False) @ p["w_down"] + p["b_down"]
    x = layer_norm(x, params["ln_scale"], params["ln_bias"], 1e-6)
    return x[:, 0] @ params["w_head"] + params["b_head"]


def resnet50(params, inputs):
    def conv_norm(x, path, stride, relu=True):
        w = params[path + ".w"]
        pad = (w.shape[0] - 1) // 2
        x = jax.lax.conv_general_dilated(
            x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = x - jnp.mean(x, (0, 1, 2))
        x = x * jax.lax.rsqrt(jnp.mean(x * x, (0, 1, 2)) + 1e-5) * params[path + ".batch_norm.scale"]
        x = x + params[path + ".batch_norm.bias"]
        return jax.nn.relu(x) if relu else x

    def bottleneck(x, path, stride, project):
        y = conv_norm(x, path + ".conv_norm", 1)
        y = conv_norm(y, path + ".conv_norm_2", stride)
        y = conv_norm(y, path + ".conv_norm_3", 1, False)
        return jax.nn.relu((conv_norm(x, path + ".shortcut", stride, False) if project else x) + y)

    x = conv_norm(inputs["images"], "conv_norm", 2)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
    for n, more in enumerate([2, 3, 5, 2]):
        path = "stage" if n == 0 else f"stage_{n + 1}"
        x = bottleneck(x, path + ".first", 1 if n == 0 else 2, True)
        for block in range(more):
            x = bottleneck(x, f"{path}.bottleneck.{block}", 1, False)
    return jnp.mean(x, (1, 2)) @ params["head"] + params["head_bias"]


DATA, TENSOR = "mesh: {data: 8}\nrules: [{batch: data}]\n", "mesh: {data: 2, model: 4}\nmissing_axes: ignore\n"
FSDP = DATA + "fsdp: {axis: data, min_size: 64}\n"
HEADS = TENSOR + "rules: [{batch: data}, {heads: model}, {mlp: model}, {experts: model}, {vocab: model}]\n"
CASES = {
    "llama3": (
        llama,
        "next",
        [("times: 32", "times: 2"), ("{params: bf16}", "{params: f32}")],
        "batch=8 length=16 embed=16 heads=4 kv_heads=2 kv=8 mlp=32 vocab=64",
        [FSDP, HEADS],
    ),
    "mixtral": (
        mixtral,
        "next",
        [],
        "layers=2 by=dropless precision.params=f32 batch=8 length=16 embed=16 heads=4 kv_heads=2 kv=8 expert_mlp=32 vocab=64",
        [FSDP, HEADS],
    ),
    "vit": (
        vit,
        "label",
        [],
        "layers=2 batch=8 height=32 width=32 embed=16 heads=4 kv=4 mlp=32 classes=10",
        [FSDP, HEADS],
    ),
    "resnet50": (
        resnet50,
        "labels",
        [],
        "width=8 image=32 classes=10 batch=16 dtype=f64",
        [DATA, "mesh: {data: 4, rows: 2}\nrules: [{batch: data}, {height: rows}]\n"],
    ),
}


def shardc(*arguments):
    subprocess.run([SHARDC, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def drawn(buffer, random):
    name, shape, role = buffer["name"], buffer["global_shape"], buffer["role"]
    if buffer["dtype"] == "i32":
        return random.integers(0, 10, shape).astype(np.int32)
    values = random.standard_normal(shape)
    if role == "param":
        values = values * 0.2 + ("norm" in name or "scale" in name)
    return values.astype(np.float64 if buffer["dtype"] == "f64" else np.float32)


def difference(got, want, least=1e-30):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return float(np.abs(got - want).max() / max(np.abs(want).max(), least))


def check(example, model, target, edits, settings, layouts):
    worst = 0.0
    with open(f"{EXAMPLES}/{example}/model.yaml") as file:
        text = file.read()
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    sets = [word for setting in settings.split() for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("model.yaml"), "w") as file:
            file.write(text)
        for layout in layouts:
            with open(path("layout.yaml"), "w") as file:
                file.write(layout)
            files = [path("model.yaml"), path("layout.yaml")]
            shardc("plan", *files, "--mode", "train", *sets, "--quick", "-o", path("plan.json"))
            with open(path("plan.json")) as file:
                plan = json.load(file)
            random = np.random.default_rng(0)
            begun = [plan["buffers"][i["buffer"]] for i in plan["inputs"]]
            given = {b["name"]: drawn(b, random) for b in begun if b["role"] in ("param", "input")}
            inputs = []
            for name, values in given.items():
                np.save(path(f"in.{name}.npy"), values)
                inputs += ["--input", f"{name}={path(f'in.{name}.npy')}"]
            out = path("out")
            shardc("run", path("plan.json"), *inputs, "--output", out)
            read = lambda name: np.load(os.path.join(out, name + ".npy"))
            params = {b["name"]: given[b["name"]] for b in begun if b["role"] == "param"}
            rest = {name: values for name, values in given.items() if name not in params}

            def loss(params):
                return cross_entropy(model(params, rest), rest[target])

            value, gradients = jax.value_and_grad(loss)(params)
            found = {"loss": difference(read("loss"), value)}
            largest = max(float(np.abs(gradient).max()) for gradient in gradients.values())
            for name, gradient in gradients.items():
                is_adam = os.path.exists(os.path.join(out, name + ".mu.npy"))
                kept = read(name + ".mu") * 10 if is_adam else read(name + ".momentum")
                found[name + ".grad"] = difference(kept, gradient, largest / 100)
            if example != "resnet50":  # which takes running averages then
                forward = [word for n, word in enumerate(inputs) if not inputs[n | 1].startswith(target + "=")]
                shardc("run", *files, *sets, *forward, "--output", f"logits={path('logits.npy')}")
                found["logits"] = difference(np.load(path("logits.npy")), model(params, rest))
            name = max(found, key=found.get)
            print(f"{example}: {layout.splitlines()[0]}: largest difference {found[name]:.2g}, of {name}")
            worst = max(worst, found[name])
    return worst


def main():
    worst = max(check(example, *case) for example, case in CASES.items() if not sys.argv[2:] or example in sys.argv[2:])
    if worst > ALLOWED:
        sys.exit(f"FAILED: {worst:.2g} is more than {ALLOWED}")


main()
