def zero_padding(block, start, shape):
    """A device's block of an array of this shape, with zeros where it reaches beyond."""
    for d, (first, size) in enumerate(zip(start, shape)):
        place = lax.broadcasted_iota(jnp.int32, block.shape, d) + first
        block = jnp.where(place < size, block, jnp.zeros((), block.dtype))
    return block


def pad(name, array):
    """The array as the program takes it: with zeros behind its elements."""
    whole = PADDED[name][0] if name in PADDED else array.shape
    behind = [(0, size - real) for size, real in zip(whole, array.shape)]
    return jnp.pad(array, behind)


def crop(name, array):
    """What of an array that the program gives is no padding."""
    real = PADDED[name][1] if name in PADDED else array.shape
    return array[tuple(slice(size) for size in real)]
