def rbg_bits(key, shape, start, block):
    """A device's block of what XLA draws on CPUs and GPUs for a whole array under a key of rbg.

    An element is one of the four words of a block of the cipher Philox4x32 with 10 rounds.
    """
    place = jnp.zeros(block, jnp.uint32)
    for d, size in enumerate(shape):
        index = lax.broadcasted_iota(jnp.uint32, block, d)
        if start is not None:
            index = index + jnp.asarray(start[d]).astype(jnp.uint32)
        place = place * jnp.uint32(size) + index
    key = [jnp.asarray(word).astype(jnp.uint32) for word in key]
    state, carry = [], place >> 2
    for word in key[2:] + key[:2]:
        state.append(carry + word)
        carry = (state[-1] < word).astype(jnp.uint32)
    keys = key[:2]
    for _ in range(10):
        a, b = high_low(state[0], 0xD2511F53), high_low(state[2], 0xCD9E8D57)
        state = [b[0] ^ state[1] ^ keys[0], b[1], a[0] ^ state[3] ^ keys[1], a[1]]
        keys = [keys[0] + jnp.uint32(0x9E3779B9), keys[1] + jnp.uint32(0xBB67AE85)]
    return lax.select_n((place & 3).astype(jnp.int32), *state)


def high_low(x, factor):
    """The two words of a product of two words."""
    x0, x1 = x & 0xFFFF, x >> 16
    f0, f1 = jnp.uint32(factor & 0xFFFF), jnp.uint32(factor >> 16)
    a, b = x1 * f0, x0 * f1
    carry = ((x0 * f0 >> 16) + (a & 0xFFFF) + (b & 0xFFFF)) >> 16
    return x1 * f1 + (a >> 16) + (b >> 16) + carry, x * jnp.uint32(factor)
