"""Rotary positions as models write them, and rotations that are none: the program `ropes` of import_check.py."""

import jax.numpy as jnp
import numpy as np


def angles_of(x, theta=10000.0, positions=None):
    """(batch or 1, length, 1, width / 2), as Gemma makes them."""
    positions = jnp.arange(x.shape[1])[None] if positions is None else positions
    timescale = theta ** ((2.0 / x.shape[-1]) * jnp.arange(x.shape[-1] // 2, dtype=jnp.float32))
    return (positions[..., None] / timescale)[..., None, :]


def halves(x, angles, factor=None):
    first, second = jnp.split(x, 2, axis=-1)
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    if factor is not None:
        sin, cos = sin * factor, cos * factor
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def maxtext(x, positions, largest=500_000):
    half = x.shape[-1] // 2
    timescale = 1 * (largest / 1) ** (2 * jnp.arange(0, half) / x.shape[-1])
    angles = positions[:, :, jnp.newaxis, jnp.newaxis] / timescale
    sin, cos = jnp.sin(angles).astype(x.dtype), jnp.cos(angles).astype(x.dtype)
    first, second = jnp.split(x, 2, axis=-1)
    return jnp.concatenate((first * cos - second * sin, second * cos + first * sin), axis=-1)


def keras(x, theta=10000.0):
    """As keras-hub writes it, with angles of both halves."""
    width = x.shape[-1]
    frequencies = jnp.float32(theta) ** -(jnp.arange(0, width, 2, dtype=jnp.float32) / width)
    positions = (jnp.arange(x.shape[1], dtype=jnp.float32) + jnp.float32(0))[None]
    angles = jnp.einsum("bi,j->bij", positions, frequencies)
    angles = jnp.stack((angles, angles), -2).reshape(1, x.shape[1], width)[:, :, None]
    first, second = jnp.split(x, 2, axis=-1)
    turned = jnp.stack((-second, first), -2).reshape(x.shape)
    return x * jnp.cos(angles) + turned * jnp.sin(angles)


def heads_first(q, theta=10000.0):
    """(batch, heads, length, width), as torch's Llama has it, of f32 numbers that numpy has made."""
    width = q.shape[-1]
    inverse = (1.0 / theta ** (np.arange(0, width, 2) / width)).astype(np.float32)
    angles = jnp.outer(jnp.arange(q.shape[2]), inverse)
    both = jnp.concatenate((angles, angles), -1)
    turned = jnp.concatenate((-q[..., width // 2 :], q[..., : width // 2]), -1)
    return q * jnp.cos(both) + turned * jnp.sin(both)


def pairs(x, theta=10000.0, angles=None):
    """Neighbours are turned, as in Meta's Llama without its complex numbers."""
    angles = jnp.outer(jnp.arange(x.shape[1]), theta ** (-jnp.arange(0, x.shape[-1], 2) / x.shape[-1])) if angles is None else angles
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    apart = x.reshape(*x.shape[:-1], -1, 2)
    even, odd = apart[..., 0], apart[..., 1]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def every_two(x):
    """GPT-J's, of which the first part of a head is turned alone."""
    frequencies = 1.0 / (10000 ** (jnp.arange(0, 4, 2) / 4))
    angles = jnp.einsum("i,j->ij", jnp.arange(x.shape[1]).astype(jnp.float32), frequencies)
    cos, sin = (jnp.repeat(f(angles), 2, axis=-1)[None, :, None] for f in (jnp.cos, jnp.sin))
    part, rest = x[..., :4], x[..., 4:]
    turned = jnp.stack((-part[..., 1::2], part[..., ::2]), -1).reshape(part.shape)
    return jnp.concatenate((part * cos + turned * sin, rest), -1)


def stretched(x, factor=8.0, low=1.0, high=4.0, length=100):
    """The frequencies of Llama 3.1."""
    frequencies = 1.0 / (10000.0 ** (jnp.arange(0, x.shape[-1], 2) / x.shape[-1]))
    waves = 2 * jnp.pi / frequencies
    between = (length / waves - low) / (high - low)
    mixed = (1 - between) * frequencies / factor + between * frequencies
    frequencies = jnp.where(waves > length / low, frequencies / factor, jnp.where(waves < length / high, frequencies, mixed))
    return jnp.arange(x.shape[1])[:, None, None] * frequencies


def yarn(x, factor=4.0, first=3.0, last=10.0):
    """Frequencies and the factor of YaRN."""
    index = jnp.arange(x.shape[-1] // 2, dtype=jnp.float32)
    frequencies = 10000.0 ** (-index / (x.shape[-1] // 2))
    ramp = jnp.clip((index - first) / (last - first), 0, 1)
    frequencies = frequencies * (1 - ramp) + frequencies / factor * ramp
    return jnp.arange(x.shape[1])[:, None, None] * frequencies, 0.1 * jnp.log(factor) + 1


def looked_up(x, positions):
    """Sines and cosines of more positions than there are, of which those are looked up; outside of the table its last one, or none."""
    angles = angles_of(jnp.zeros((1, 20, 1, x.shape[-1])))[0, :, 0]
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    turned = []
    for at in (lambda table: table[positions], lambda table: jnp.take(table, positions >> 1, axis=0), lambda table: table[None, : x.shape[1]]):
        first, second = jnp.split(x, 2, axis=-1)
        s, c = at(sin)[:, :, None], at(cos)[:, :, None]
        turned += [jnp.concatenate((first * c - second * s, second * c + first * s), -1)]
    return turned


def ropes(x, by_heads, shared, one, wide, positions, at):
    """x (batch, length, heads, width); by_heads with heads before the length; shared has two dims of heads; one has neither batch nor
    heads; wide has 16 pairs; positions (batch, length), at (batch)."""
    angles = angles_of(x)
    narrow = x.astype(jnp.bfloat16)
    results = [halves(x, angles), maxtext(x, positions), keras(x), heads_first(by_heads, 1e6), pairs(x), every_two(x)]
    results += [halves(narrow, angles), halves(x, angles_of(x) / 4), halves(x[:, :1], angles_of(x[:, :1], 1e4, at[:, None]))]
    results += [halves(shared, angles_of(shared[:, :, 0])[..., None, :]), halves(one, angles_of(one)[0, :, 0])]
    results += [halves(x, angles_of(x, 1e4, positions[:1] + 3)), halves(wide, stretched(wide)), halves(wide, *yarn(wide))]
    results += looked_up(x, positions)
    # None: turned the other way; other angles beside; frequencies that are no powers, or too few to say how they are scaled.
    one_more = jnp.concatenate([angles[..., :2], angles[..., 2:] * 1.001], -1)
    first, second = jnp.split(x, 2, axis=-1)
    results += [halves(x, -angles), jnp.concatenate([first * jnp.cos(angles) - second * jnp.sin(angles + 1),
                                                     second * jnp.cos(angles) + first * jnp.sin(angles)], -1)]
    results += [halves(x, one_more), halves(x, stretched(x)), halves(x, angles[..., ::-1])]
    # Pairs that take one of their two twice.
    results += [jnp.concatenate([first * jnp.cos(angles) - first * jnp.sin(angles), second * jnp.cos(angles) + second * jnp.sin(angles)], -1)]
    return results


ROPES = (ropes, ((2, 8, 4, 8), (2, 4, 8, 8), (2, 8, 2, 2, 8), (8, 8), (2, 8, 2, 32),
                 ("i", 30, (2, 8)), ("i", 30, (2,))))
