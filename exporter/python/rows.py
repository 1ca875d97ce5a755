def own_rows(indices, size, start, rows):
    """Indices into a table of `size` rows, as those of a device that has `rows` from `start` on.

    What another device has is out of range here.
    """
    row = jnp.clip(indices, 0, size - 1) - start
    return jnp.where((row >= 0) & (row < rows), row, rows)
