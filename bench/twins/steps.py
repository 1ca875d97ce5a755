"""A twin that runs: its model is written in JAX here, its initial values and shardings are those of shardc's plan.

`shardc export --to jax` writes what the plan starts from, and how it is split. These alone are taken of it: the step
is the twin's own, jitted over whole arrays, and XLA partitions it. The values are drawn by the program of one device,
once, not by each of eight.
"""

import importlib.util
import time

import jax
import jax.numpy as jnp
import models
import numpy
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

jax.config.update("jax_default_matmul_precision", "highest")
FIRST_STEPS = 3


def load(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    return exported


def drawn(path):
    """State and inputs to start from. Compiled in less time than it takes to compile well."""
    module = load(path)
    start = jax.jit(module.local_start).lower().compile(compiler_options={"xla_backend_optimization_level": 1})
    return start()


def adam(params, grads, state, rate, decay, clip):
    """optax's arithmetic: clip, then Adam with decoupled weight decay."""
    if clip is not None:
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads.values()))
        grads = {name: jnp.where(norm < clip, g, g / norm * clip) for name, g in grads.items()}
    count = state["count"]
    after = (count + 1).astype(jnp.float32)
    c1, c2 = 1 - jnp.float32(0.9) ** after, 1 - jnp.float32(0.999) ** after
    rate = rate(count) if callable(rate) else rate
    new = {"count": count + 1}
    for name, g in grads.items():
        mu = (1 - 0.9) * g + 0.9 * state[f"{name}.mu"]
        nu = (1 - 0.999) * (g * g) + 0.999 * state[f"{name}.nu"]
        direction = (mu / c1) / (jnp.sqrt(nu / c2) + 1e-8)
        new[name] = params[name] - rate * (direction + decay * params[name] if decay else direction)
        new[f"{name}.mu"], new[f"{name}.nu"] = mu, nu
    return new


class Running:
    def __init__(self, twin, exported, values, train):
        module = load(exported)
        mesh = module.mesh()
        split = [
            {name: jax.device_put(value, NamedSharding(mesh, specs[name])) for name, value in some.items()}
            for some, specs in zip(drawn(values), (module.STATE, module.INPUTS), strict=True)
        ]
        self.state, self.inputs = jax.block_until_ready(split)
        made = models.TWINS[twin]
        axis = "data" if "data" in mesh.axis_names else None

        def constrain(x, *axes):
            """Splits the first dim as the batch, others over the mesh axes that are named and there."""
            spec = P(axis, *(name if name in mesh.axis_names else None for name in axes))
            return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))

        if train:
            names = [name for name in self.state if f"{name}.mu" in self.state]

            def step(state, inputs):
                params = {name: state[name] for name in names}
                loss, grads = jax.value_and_grad(lambda params: made.loss(params, inputs, constrain))(params)
                return adam(params, grads, state, made.rate, made.decay, made.clip), loss

        else:

            def step(state, inputs):
                return state, made.output(inputs, inputs, constrain)

        kept = {name: value.sharding for name, value in self.state.items()}
        result = NamedSharding(mesh, P()) if train else NamedSharding(mesh, module.OUTPUTS[made.output_name])
        self.step = jax.jit(step, out_shardings=(kept, result), donate_argnums=0)
        self.first = []
        for _ in range(FIRST_STEPS if train else 1):
            self.state, out = self.step(self.state, self.inputs)
            flat = numpy.asarray(out, numpy.float64).ravel()
            self.first += [float(value) for value in flat[:4]]

    def seconds(self, count):
        found = []
        for _ in range(count):
            begin = time.perf_counter()
            self.state, out = self.step(self.state, self.inputs)
            jax.block_until_ready((self.state, out))
            found.append(time.perf_counter() - begin)
        return found
