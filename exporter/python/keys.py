def threefry(key, x0, x1):
    """The cipher Threefry2x32 with 20 rounds: two words of a block, in uint32."""
    keys = [jnp.asarray(word, jnp.uint32) for word in key]
    keys.append(keys[0] ^ keys[1] ^ jnp.uint32(0x1BD11BDA))
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x0 = x0 + x1
            x1 = ((x1 << turn) | (x1 >> (32 - turn))) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + jnp.uint32(group + 1)
    return x0, x1


def fold_in(key, data):
    if isinstance(data, int):
        data = jnp.asarray(data % 2**32, jnp.uint32)
    data = data.astype(jnp.uint32)
    return threefry(key, jnp.zeros_like(data), data)
