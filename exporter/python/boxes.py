def copy_box(out, x, permutation, in_start, in_stride, out_start, out_stride, extent):
    """Writes a box of x into out; what is outside of either is left out.

    Dim d of out runs along dim permutation[d] of x.
    """
    sources, targets = [None] * x.ndim, []
    for d, k in enumerate(permutation):
        count = jnp.arange(extent[d])
        source = in_start[k] + in_stride[k] * count
        target = out_start[d] + out_stride[d] * count
        inside = (source >= 0) & (source < x.shape[k]) & (target >= 0)
        sources[k] = jnp.clip(source, 0, x.shape[k] - 1)
        targets.append(jnp.where(inside, target, out.shape[d]))
    box = x[jnp.ix_(*sources)].transpose(permutation)
    return out.at[jnp.ix_(*targets)].set(box, mode="drop")
