"""Random JAX programs: steps drawn from tables, one after the other and in the bodies of loops, branches, checkpoints and jitted functions.

Everything is drawn before JAX traces, so that a program is the same whenever it is called.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def rows(v):
    return v.reshape(-1, v.shape[-1])


def rolled_rows(v):
    """Of each row a part that begins somewhere else."""
    twice = jnp.concatenate([rows(v), rows(v)], -1)
    take = lambda row, at: lax.dynamic_slice_in_dim(row, at, v.shape[-1], 0)
    return jax.vmap(take)(twice, jnp.arange(len(twice)) % 3).reshape(v.shape)


def convolved(v):
    kernel = jnp.full((3, v.shape[-1], v.shape[-1]), 0.05)
    return lax.conv_general_dilated(rows(v)[None], kernel, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")).reshape(v.shape)


def window_max(v):
    return lax.reduce_window(v, -jnp.inf, lax.max, (1,) * (v.ndim - 1) + (3,), (1,) * v.ndim, "SAME")


def recurrence(v):
    return lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (jax.nn.sigmoid(v), v), axis=0)[1]


def at_largest(v):
    place = jnp.argmax(jnp.sum(v, axis=tuple(range(1, v.ndim))))
    return lax.dynamic_update_slice_in_dim(v, v[:1] * 2, place, 0) + lax.dynamic_slice_in_dim(v, place, 1, 0)


OF_ONE = [
    jnp.tanh, jnp.sin, jnp.abs, jnp.round, jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jax.nn.standardize, jax.scipy.special.erf, jnp.sinc,
    rolled_rows, convolved, window_max, recurrence, at_largest,
    lambda v: v * 0.5,
    lambda v: jnp.where(v > 0, v, 0.1 * v),
    lambda v: jnp.clip(v, -1, 1),
    lambda v: jax.nn.softmax(v, -1),
    lambda v: jax.nn.log_softmax(v / 0.7, -1) * 0.2,
    lambda v: v - jnp.mean(v, -1, keepdims=True),
    lambda v: jnp.sort(v, -1),
    lambda v: jnp.cumsum(v, 0) * 0.1,
    lambda v: lax.cummax(v, axis=0),
    lambda v: jnp.flip(v, 0),
    lambda v: jnp.roll(v, 1, -1),
    lambda v: jnp.exp(-v * v),
    lambda v: lax.stop_gradient(v) + v,
    lambda v: jnp.sign(v) * jnp.sqrt(jnp.abs(v) + 0.1),
    lambda v: jnp.log1p(jnp.abs(v)),
    lambda v: jnp.diff(v, axis=-1, prepend=v[..., :1]),
    lambda v: jnp.tril(v),
    lambda v: jnp.triu(jnp.ones(v.shape[-2:])) * v,
    lambda v: jnp.arctan2(v, 1.5),
    lambda v: lax.rem(v, 0.7),
    lambda v: jnp.floor(v * 4) / 4,
    lambda v: v.at[0].set(0.5),
    lambda v: v.at[..., 1].add(v[..., 0]),
    lambda v: v.astype(jnp.bfloat16).astype(v.dtype),
    lambda v: v + lax.top_k(v, 3)[0].sum(-1, keepdims=True) * 0.1,
    lambda v: jnp.einsum("...i,...j->...ij", v, v).sum(-1) * 0.1,
    lambda v: jax.nn.one_hot(jnp.argmax(v, -1), v.shape[-1]) * v + v * 0.5,
    lambda v: jnp.linalg.norm(v, axis=-1, keepdims=True) * 0.1 + v,
    lambda v: jax.jvp(jnp.sin, (v,), (v * 0.5,))[1],
    lambda v: jax.grad(lambda u: jnp.sum(jnp.tanh(u) ** 2))(v),
    lambda v: jnp.nan_to_num(v) * 0.1 + v,
    lambda v: jnp.mod(jnp.arange(v.shape[-1]), 3).astype(v.dtype) * v * 0.3,
    lambda v: (v > 0).astype(jnp.int32).cumsum(-1).astype(v.dtype) * 0.1 + v,
    lambda v: jnp.percentile(v, 40, axis=-1, keepdims=True) + v * 0.2,
    lambda v: jnp.searchsorted(jnp.array([-1.0, 0.0, 0.5]), v).astype(v.dtype) * 0.2 + v,
    lambda v: jax.ops.segment_sum(rows(v), jnp.arange(len(rows(v))) % 2, 2).sum(0) + v,
    lambda v: jnp.split(v, 2, -1)[1].repeat(2, -1) + v,
    lambda v: jax.nn.glu(jnp.concatenate([v, v * 0.5], -1)),
    lambda v: jnp.select([v > 1, v < -1], [v * 0.5, v * 2], v),
    lambda v: jnp.interp(v, jnp.array([-1.0, 0.0, 1.0]), jnp.array([0.0, 1.0, 0.5])),
    lambda v: jnp.argsort(jnp.argsort(v, -1), -1).astype(v.dtype) * 0.1 + v,
    lambda v: jnp.take_along_axis(v, jnp.argsort(v, axis=-1), -1) * 0.5 + v,
    lambda v: jnp.bitwise_and(v.astype(jnp.int32) + 5, 3).astype(v.dtype) + v,
    lambda v: v.reshape(-1)[::-1].reshape(v.shape),
    lambda v: jnp.swapaxes(jnp.swapaxes(v, 0, -1) * 0.9, 0, -1),
    lambda v: jnp.pad(v, [(1, 0)] + [(0, 0)] * (v.ndim - 1))[:-1],
    lambda v: jnp.concatenate([v[..., ::2], v[..., 1::2]], -1),
    lambda v: jax.vmap(lambda u: u - u.max())(v),
    lambda v: lax.map(lambda u: jnp.sin(u) + u.sum() * 0.01, v),
    lambda v: v * jax.random.bernoulli(jax.random.fold_in(jax.random.key(3), 1), 0.7, v.shape) + jax.random.normal(jax.random.key(5), v.shape) * 0.1,
] + [lambda v, reduced=reduced, axis=axis: v * 0.5 + reduced(v, axis=axis, keepdims=True) * 0.2
     for reduced in (jnp.sum, jnp.max, jnp.std, jax.nn.logsumexp, jnp.prod) for axis in (0, -1)]

OF_TWO = [
    jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.hypot, jnp.logaddexp, jnp.copysign,
    lambda a, b: jnp.where(a > b, a, b * 0.5),
    lambda a, b: a / (1 + b * b),
    lambda a, b: a * jax.nn.sigmoid(b),
    lambda a, b: jnp.stack([a, b]).sum(0),
]


@jax.custom_vjp
def damped_sine(v):
    return jnp.sin(v)


damped_sine.defvjp(lambda v: (jnp.sin(v), v), lambda v, cotangent: (cotangent * jnp.cos(v) * 0.9,))


class Drawn:
    """Steps are functions of the weights and an array, which they give in its shape."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.shape = self.random.choice([(4, 8), (8, 8), (3, 8), (2, 4, 8)])
        self.steps = [self.step(0) for _ in range(self.random.randint(2, 5))]

    def __call__(self, weights, x):
        x = x + weights["b"]
        for step in self.steps:
            x = step(weights, x).astype(x.dtype)
        return x

    def step(self, depth):
        simple = [self.one, self.one, self.one, self.two, self.product]
        nested = [self.scan, self.scan, self.pair, self.fori, self.branch, self.switch, self.wrapped, self.layers, self.layers]
        return self.random.choice(simple + (nested if depth < 2 else []))(depth)

    def body(self, depth):
        steps = [self.step(depth + 1) for _ in range(self.random.randint(1, 3))]

        def run(weights, x):
            for step in steps:
                x = step(weights, x).astype(x.dtype)
            return x
        return run

    def one(self, depth):
        function = self.random.choice(OF_ONE + [damped_sine])
        return lambda weights, x: function(x)

    def two(self, depth):
        function, other = self.random.choice(OF_TWO), self.random.choice(OF_ONE)
        return lambda weights, x: function(x, other(x))

    def product(self, depth):
        turned = self.random.random() < 0.3
        return lambda weights, x: jnp.dot(x, weights["w"].T if turned else weights["w"]) / 3

    def scan(self, depth):
        body, trips = self.body(depth), self.random.randint(2, 4)
        reverse, stacks, over, unroll = (self.random.random() < share for share in (0.3, 0.6, 0.5, 0.2))

        def run(weights, x):
            def trip(carried, entry):
                made = body(weights, carried if entry is None else carried + entry)
                return jnp.tanh(made), carried * 0.5 if stacks else None
            entries = jnp.stack([x * (i + 1) * 0.3 for i in range(trips)]) if over else None
            last, stack = lax.scan(trip, x, entries, length=trips, reverse=reverse, unroll=2 if unroll else 1)
            return last + (stack.sum(0) if stacks else 0)
        return run

    def pair(self, depth):
        """A loop that carries two arrays, which change places, and counts."""
        body, trips = self.body(depth), self.random.randint(2, 4)

        def run(weights, x):
            def trip(carried, _):
                first, second, number = carried
                return (jnp.tanh(body(weights, second)), first, number + 1), first[0]
            (first, second, number), stack = lax.scan(trip, (x, x * 0.5, 0), None, length=trips)
            return first + second * number + stack.sum(0)
        return run

    def fori(self, depth):
        body, trips = self.body(depth), self.random.randint(2, 4)
        return lambda weights, x: lax.fori_loop(0, trips, lambda i, y: jnp.tanh(body(weights, y * (1 + 0.1 * i))), x)

    def branch(self, depth):
        body, other = self.body(depth), self.random.choice(OF_ONE)
        return lambda weights, x: lax.cond(x.sum() > 0, lambda y: body(weights, y), other, x)

    def switch(self, depth):
        functions = [self.random.choice(OF_ONE) for _ in range(3)]
        return lambda weights, x: lax.switch(jnp.argmax(x.reshape(-1)[:3]), functions, x)

    def wrapped(self, depth):
        body, wrap = self.body(depth), self.random.choice([jax.checkpoint, jax.jit])
        return lambda weights, x: wrap(lambda y: body(weights, y))(x)

    def layers(self, depth):
        """Alike, but for one of them now and then: what `import` folds into a module has to be the same."""
        count, function, joined = self.random.randint(2, 4), self.random.choice(OF_ONE), self.random.choice(OF_TWO)
        odd, how = self.random.choice([None, 0, 1, count - 1]), self.random.choice(["scaled", "skipped", "other", "order"])
        wrap = self.random.choice([lambda f: f, jax.jit, jax.checkpoint])

        def run(weights, x):
            for number in range(count):
                def layer(weights, x, how=how if number == odd else ""):
                    h = jnp.dot(x, weights["w"]) / 2
                    h = jnp.cos(h) if how == "other" else function(h)
                    if how == "skipped":
                        return h
                    h = h * 0.7 if how == "scaled" else h
                    return (joined(h, x) if how == "order" else joined(x, h)) * 0.5 + weights["b"] * 0.1
                x = wrap(layer)(weights, x)
            return x
        return run


def program(seed):
    """What it is (forward, loss or gradient), the function and its arguments."""
    drawn = Drawn(seed)
    numbers = np.random.RandomState(seed)
    weights = {"w": numbers.randn(8, 8).astype("f") * 0.4, "b": numbers.randn(8).astype("f") * 0.5}
    arguments = weights, numbers.randn(*drawn.shape).astype("f")
    loss = lambda weights, x: jnp.mean(jnp.square(drawn(weights, x)))
    kind = drawn.random.choice(["forward", "loss", "gradient"])
    return kind, {"forward": drawn, "loss": loss, "gradient": jax.value_and_grad(loss)}[kind], arguments
