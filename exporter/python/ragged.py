def own_groups(sizes, row, group, rows, groups):
    """Where the groups from `group` on begin and end in the rows from `row` on.

    Groups behind the last one have no rows.
    """
    behind = [(0, 0)] * (sizes.ndim - 1) + [(0, groups)]
    counts = jnp.pad(jnp.maximum(sizes, 0), behind)
    ends = jnp.cumsum(counts, axis=-1)
    own = (
        lax.dynamic_slice_in_dim(at, group, groups, -1) for at in (ends - counts, ends)
    )
    return [jnp.clip(at - row, 0, rows).astype(jnp.int32) for at in own]


def ragged_rows(x, w, begins, ends, wide):
    """Rows in groups that follow each other, each times the matrix of its group.

    x is (o, b, rows, k), w (b, groups, k, n); rows of no group give zeros.
    """

    def product(at):
        o, b = at // x.shape[1], at % x.shape[1]
        begin, end, row = begins[o, b], ends[o, b], jnp.arange(x.shape[2])[:, None]
        here = jnp.roll(x[o, b], -begin[0], 0)
        y = lax.ragged_dot(here, w[b], end - begin, preferred_element_type=wide)
        y = jnp.roll(y, begin[0], 0)
        return jnp.where((row >= begin[0]) & (row < end[-1]), y, 0)

    made = lax.map(product, jnp.arange(x.shape[0] * x.shape[1]))
    return made.reshape((*x.shape[:3], w.shape[3]))


def ragged_groups(x, given, begins, ends, wide):
    """For each group the sum over its rows, and over o, of x times given."""
    dims = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())

    def sums(at):
        o, b = at // x.shape[1], at % x.shape[1]
        begin, end = begins[o, b], ends[o, b]
        here = [jnp.roll(of[o, b], -begin[0], 0) for of in (x, given)]
        return lax.ragged_dot_general(
            *here, end - begin, dims, preferred_element_type=wide
        )

    made = lax.map(sums, jnp.arange(x.shape[0] * x.shape[1]))
    return made.reshape((*x.shape[:2], *made.shape[1:])).sum(0)
