"""Compilation of a chain of ops, and of a train step over any number of devices, for the plots of growth."""

import time

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def chain_seconds(ops):
    """The chain of bench/measures/models.py."""
    mesh = Mesh(numpy.array(jax.devices()).reshape(2, -1), ("data", "model"))

    def chain(x, up, down, b):
        for n in range(ops):
            kind = n % 8
            if kind in (0, 4):
                x = x @ (up if kind == 0 else down)
            elif kind in (3, 6):
                x = jnp.tanh(x)
            else:
                x = {1: jax.nn.relu, 2: lambda x: x * 0.5, 5: lambda x: x + b, 7: lambda x: x - b}[kind](x)
        return x

    def array(shape, spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))

    arrays = (
        array((64, 256), P("data")),
        array((256, 256), P(None, "model")),
        array((256, 256), P("model")),
        array((256,), P()),
    )
    begin = time.perf_counter()
    jax.jit(chain).lower(*arrays).compile()
    return time.perf_counter() - begin


def wide_seconds():
    """One train step of two products over all devices, batch split."""
    mesh = Mesh(jax.devices(), ("data",))
    batch, weights = NamedSharding(mesh, P("data", None)), NamedSharding(mesh, P())

    def step(params, x, y):
        def loss(params):
            return jnp.mean((jax.nn.relu(x @ params[0]) @ params[1] - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return [p - 1e-3 * g for p, g in zip(params, grads)], value

    rows = jax.ShapeDtypeStruct((8 * len(jax.devices()), 1024), jnp.float32, sharding=batch)
    matrix = jax.ShapeDtypeStruct((1024, 1024), jnp.float32, sharding=weights)
    begin = time.perf_counter()
    jax.jit(step, donate_argnums=0).lower([matrix, matrix], rows, rows).compile()
    return time.perf_counter() - begin
