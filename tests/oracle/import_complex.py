"""Complex numbers for import_check.py: rotary positions, Fourier transforms, state spaces, and what else is done with them."""

import jax
import jax.numpy as jnp
import numpy as np

LAX = jax.lax


def turned(x, turns):
    """Pairs of neighbours as complex numbers, as EasyLM and Meta's Llama write it."""
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    made = LAX.complex(pairs[..., 0], pairs[..., 1]) * turns
    return jnp.stack((jnp.real(made), jnp.imag(made)), -1).reshape(x.shape)


def complex_ropes(q, k):
    """By a table that was made before, and by exponentials; halves instead of neighbours."""
    angles = np.outer(np.arange(q.shape[1]), 10000.0 ** (-np.arange(0, 8, 2) / 8)).astype(np.float32)
    table = jnp.asarray(np.exp(1j * angles).astype(np.complex64))[:, None]
    computed = jnp.exp(1j * (jnp.arange(k.shape[1])[:, None] * 10000.0 ** (-jnp.arange(4) / 4)))[:, None]
    halves = LAX.complex(*jnp.split(q, 2, -1)) * computed
    back = jax.grad(lambda k: jnp.sum(jnp.sin(turned(k, computed))))(k)
    return turned(q, table), turned(k, computed), jnp.concatenate([halves.real, halves.imag], -1), back


def convolved(u, kernel):
    n = u.shape[-1]
    return jnp.fft.irfft(jnp.fft.rfft(u, 2 * n) * jnp.fft.rfft(kernel, 2 * n), 2 * n)[..., :n]


def fourier(x, kernel, long):
    """FNet's mixing, long convolutions and their gradients, odd lengths, lengths that take two products, all kinds."""
    mixed = jnp.fft.fft2(x).real
    back = jax.grad(lambda x, kernel: jnp.sum(jnp.sin(convolved(x, kernel))), (0, 1))(x[0], kernel)
    odd = jnp.fft.irfft(jnp.fft.rfft(x[..., :9]) * (1 - 0.5j), 9)
    both = jnp.fft.ifft(LAX.complex(x, jnp.cos(x)), axis=1)
    spectrum = jnp.fft.rfft2(x) * (1 + 0.5j)
    power = jnp.abs(jnp.fft.fft(long)) / 8
    return (mixed, jnp.fft.ifftn(jnp.fft.fftn(x) * 1j).imag, convolved(x, kernel), back, odd, both.real, both.imag,
            jnp.fft.irfft2(spectrum, x.shape[1:]), power, jnp.fft.irfft(jnp.fft.rfft(long), 160))


def states(x, decay, angle, into, out):
    """A linear recurrence with complex rates (LRU), by a scan and by its kernel (S4D), with gradients."""
    def by_scan(decay, angle, into):
        rate = jnp.exp(LAX.complex(-jnp.exp(decay), angle))
        step = lambda h, x: (rate * h + x,) * 2
        return LAX.scan(step, jnp.zeros(rate.shape, jnp.complex64), x @ into.astype(jnp.complex64))[1]

    rate = LAX.complex(-jnp.exp(decay), angle)
    kernel = jnp.exp(rate[:, None] * 0.1 * jnp.arange(x.shape[0])) * ((jnp.exp(rate * 0.1) - 1) / rate)[:, None]
    loss = lambda *given: jnp.sum((by_scan(*given) @ out).real ** 2)
    return by_scan(decay, angle, into).real, 2 * (out[:, :1].T @ kernel).real, jax.grad(loss, (0, 1, 2))(decay, angle, into)


def complex_numbers(x, y):
    z = LAX.complex(x, y) + (2 + 1j)
    computed = (z * z + 2, (1 + z) / (z * z + 2.0), jnp.conj(z) / 2, jnp.exp(z) - z**3, jnp.log(z), jnp.sqrt(z),
                LAX.rsqrt(z), jnp.sin(z), jnp.cos(z), jnp.tan(z), jnp.tanh(z), z**0.7, z ** (1 - z), jnp.square(z), -z)
    moved = jnp.pad(jnp.concatenate([z, z[::-1]])[1:6].T, ((1, 1), (0, 0)))
    moved = jnp.take(moved, jnp.array([0, 2, 5]), axis=0).at[0].set(1j).at[1, jnp.array([0, 2, 2])].add(2 - 1j)
    chosen = jnp.where(x > 0, z, 1j)
    large, small = z * 1e20, z * 1e-30  # whose squares are infinite, or 0
    ends = (jnp.abs(large), jnp.abs(small) * 1e30, (large / (large + z)).real, (small / (small * 1j)).imag,
            jnp.abs((z - z) ** 0.1))
    sums = (z.sum(0), z.mean(), jnp.cumsum(z, 1), jnp.einsum("ij,kj->ik", z, jnp.conj(z)), z @ x.T)
    parts = jax.tree.map(lambda z: (z.real, z.imag), (computed, moved, LAX.dynamic_slice(moved, (1, 1), (2, 3)), sums))
    return parts, jnp.abs(z), jnp.angle(z), chosen.imag, (chosen == z) & (z != 0), jnp.abs(1j * x), ends


COMPLEX = {
    "complex_ropes": (complex_ropes, ((2, 8, 4, 8), (2, 8, 2, 8))),
    "fourier": (fourier, ((2, 8, 12), (12,), (4, 160))),
    "states": (states, ((16, 4), (8,), (8,), (4, 8), (8, 4))),
    "complex_numbers": (complex_numbers, ((4, 8), (4, 8))),
}
