def positions(keys, dim, descending, count):
    """Where the first `count` elements in order stand, the first key before the second.

    Equal ones stay in order; NaN is the largest number.
    """
    place = lax.broadcasted_iota(jnp.int32, keys[0].shape, dim)
    if descending:  # turned round twice, so that equal ones stand as they stood
        keys, place = [jnp.flip(key, dim) for key in keys], jnp.flip(place, dim)
    place = lax.sort((*keys, place), dimension=dim, is_stable=True, num_keys=len(keys))[-1]
    return lax.slice_in_dim(jnp.flip(place, dim) if descending else place, 0, count, axis=dim)
