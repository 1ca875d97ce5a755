"""Updates of a batch for import_check.py: caches with a position per sequence, and what is looked up in them."""

import jax
import jax.numpy as jnp

LAX = jax.lax


def dropped(cache, rows, place):
    """A window that does not fit is left out, where dynamic_update_slice moves it."""
    numbers = LAX.ScatterDimensionNumbers(update_window_dims=(0, 1, 2), inserted_window_dims=(),
                                          scatter_dims_to_operand_dims=(0,))
    return LAX.scatter(cache, place[None], rows, numbers, mode=LAX.GatherScatterMode.FILL_OR_DROP)


def batched_updates(c, u, rows, p, q):
    """One update for each sequence: moved into the cache, or left out where it is beyond; and several."""
    p, q, each = p - 2, q - 2, jnp.arange(4)  # some below 0, which count from the end, and some beyond
    write = lambda c, u, p: LAX.dynamic_update_slice(c, u, (p, 0, 0))
    one = (jax.vmap(write)(c, u[:, None], p), jax.vmap(write)(c, rows, p), jax.vmap(dropped)(c, rows, p),
           jax.vmap(write, in_axes=(1, 0, 0), out_axes=1)(c.swapaxes(0, 1), rows, p),
           jax.vmap(lambda c, u, p: c.at[p].set(u))(c, u, p), c.at[each, p].set(u),
           jnp.stack([c, c + 1]).at[1, each, p].set(u), jnp.stack([c, c + 1]).at[2, each, p].set(u),
           jax.vmap(lambda c, u, p: c.at[:, p % 2].set(u[0]))(c, u, p), jax.vmap(lambda c, p: c.at[p].set(2.0))(c, p),
           jax.vmap(lambda c, u, p: c.at[p].multiply(u))(c, u, p), jax.vmap(lambda c, u, p: c.at[p].add(u))(c, u, p))
    several = tuple(jax.vmap(lambda c, r, q: getattr(c.at[q], combine)(r))(c, rows, q)
                    for combine in ("set", "multiply", "max", "add"))
    wide = c.reshape(4, 48)
    along = jnp.put_along_axis(wide, jnp.abs(q) * 5, rows.reshape(4, 18)[:, :3], 1, inplace=False)
    return one, several, along


def batched_lookups(c, u, i, j):
    """By two indices of each of a batch, with what is added there and the gradient."""
    pick = jax.vmap(lambda c, i, j: c[i, j])
    back = jax.grad(lambda c: jnp.sum(pick(c, i, j) ** 2))(c)
    middle = jax.grad(lambda c: jnp.sum(jax.vmap(lambda c, i, j: c[i, j], in_axes=(1, 0, 1))(c, i, j.T) ** 2))
    added = jax.vmap(lambda c, i, j, u: c.at[i, j].add(u))(c, i, j, u)
    return pick(c, i, j), back, middle(c.swapaxes(0, 1)), added, c[jnp.arange(4)[:, None], i], c[1, i, j]


def whole_updates(x, y):
    """Of whole arrays, which no index tells a place of."""
    return (x.at[:, :].set(y), x.at[:, :].add(y), x.at[...].multiply(y), x.at[:, :].max(y), x.at[:].min(y[0]),
            jax.grad(lambda x: jnp.sum(x.at[:].multiply(y) ** 2))(x))


UPDATES = {
    "whole_updates": (whole_updates, ((4, 8), (4, 8))),
    "batched_updates": (batched_updates, ((4, 8, 2, 3), (4, 2, 3), (4, 3, 2, 3), ("i", 13, (4,)), ("i", 11, (4, 3)))),
    "batched_lookups": (batched_lookups, ((4, 8, 2, 3), (4, 3, 3), ("i", 8, (4, 3)), ("i", 2, (4, 3)))),
}
