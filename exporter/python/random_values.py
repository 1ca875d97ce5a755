def random_bits(
    key,
    shape,
    start,
    block,
    partitionable=True,
    layers=(),
    folds=(),
    blocks=(),
    multiplier=1,
    words=1,
):
    """A device's block of the random bits of a whole array of this shape.

    Bits follow from the key and an element's place in the whole, as in jax.random: with
    jax_threefry_partitionable, or as it was before 0.5. `layers` are keys of the entries
    of the first dims, `blocks` into how many arrays of their own each dim is cut.
    """
    index = [lax.broadcasted_iota(jnp.uint32, block, d) for d in range(len(shape))]
    if start is not None:
        index = [i + jnp.asarray(s).astype(jnp.uint32) for i, s in zip(index, start)]
    for data in folds:
        key = fold_in(key, data)
    stacks = 0
    if len(layers) > 0:
        number, entries = jnp.uint32(0), 1
        while entries < len(layers) or stacks == 0:
            number = number * jnp.uint32(shape[stacks]) + index[stacks]
            entries, stacks = entries * shape[stacks], stacks + 1
        table = jnp.array(layers, jnp.uint32)
        key = table[number, 0], table[number, 1]
    sizes, index = shape[stacks:], index[stacks:]
    if len(blocks) > 0 and len(shape) > 0:
        sizes = [size // count for size, count in zip(sizes, blocks)]
        number = jnp.uint32(0)
        for d, count in enumerate(blocks):
            number = number * jnp.uint32(count) + index[d] // jnp.uint32(sizes[d])
            index[d] = index[d] % jnp.uint32(sizes[d])
        key = fold_in(key, number)
    place, total = jnp.zeros(block, jnp.uint32), 1
    for i, size in zip(index, sizes):
        place, total = place * jnp.uint32(size) + i, total * size
    zero = jnp.zeros_like(place)
    if partitionable:
        keys = [threefry(key, zero, zero + jnp.uint32(n)) for n in range(2)]
    else:
        lanes = [
            threefry(key, zero + jnp.uint32(n), zero + jnp.uint32(n + 2))
            for n in range(2)
        ]
        keys = [(lanes[0][0], lanes[1][0]), (lanes[0][1], lanes[1][1])]

    def draw(key):
        if partitionable:
            bits = jnp.bitwise_xor(*threefry(key, zero, place))
        else:
            half = jnp.uint32((total + 1) // 2)
            low = jnp.where(place < half, place, place - half)
            high = jnp.where(low + half < jnp.uint32(total), low + half, zero)
            first, second = threefry(key, low, high)
            bits = jnp.where(place < half, first, second)
        return bits * jnp.uint32(multiplier)

    return draw(key) if words == 1 else (draw(keys[0]), draw(keys[1]))


def uniform(bits, low=0.0, high=1.0, scale=1.0, offset=0.0):
    low, high = jnp.float32(low), jnp.float32(high)
    ones = jnp.uint32(0x3F800000)
    unit = lax.bitcast_convert_type((bits >> 9) | ones, jnp.float32) - jnp.float32(1)
    return jnp.maximum(low, unit * (high - low) + low) * jnp.float32(scale) + offset


def normal(bits, scale=1.0, offset=0.0):
    value = uniform(bits, numpy.nextafter(numpy.float32(-1), numpy.float32(0)), 1.0)
    return jnp.float32(2**0.5) * lax.erf_inv(value) * jnp.float32(scale) + offset


def truncated_normal(bits, low, high, scale=1.0, offset=0.0):
    ends = [lax.erf(jnp.float32(end) / jnp.float32(2**0.5)) for end in (low, high)]
    value = jnp.float32(2**0.5) * lax.erf_inv(uniform(bits, *ends))
    least = numpy.nextafter(numpy.float32(low), numpy.float32(numpy.inf))
    most = numpy.nextafter(numpy.float32(high), numpy.float32(-numpy.inf))
    return jnp.clip(value, least, most) * jnp.float32(scale) + offset


def bernoulli(bits, probability):
    return uniform(bits) < jnp.float32(probability)


def randint(bits, low, high):
    least, most = -(2**31), 2**31 - 1
    first, last = max(min(int(low), most), least), max(min(int(high), most), least)
    span = max(last - first, 1) + (1 if high > most and last > first else 0)
    if span == 2**32:
        offset = bits[1]
    else:
        factor = (65536 % span) * (65536 % span) % 2**32 % span
        span = jnp.uint32(span)
        offset = (bits[0] % span * jnp.uint32(factor) + bits[1] % span) % span
    return (jnp.uint32(first % 2**32) + offset).astype(jnp.int32)
