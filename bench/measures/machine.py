"""The machine in words, as it is when asked."""

import os
import pathlib
import platform


def line_of(path, key):
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return ""


def cores():
    return len(os.sched_getaffinity(0))


def caches():
    """The last level's size, as the system writes it: 32768K."""
    levels = sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    return levels[-1].read_text().strip() if levels else ""


def text():
    memory = int((line_of("/proc/meminfo", "MemTotal") or "0").split()[0]) / 2**20
    model = line_of("/proc/cpuinfo", "model name") or platform.machine()
    flags = line_of("/proc/cpuinfo", "flags").split()
    vectors = next((name for name in ("avx512f", "avx2", "avx", "sse2") if name in flags), "")
    parts = [f"{cores()} cores of {model}" + (f" ({vectors})" if vectors else ""), f"{memory:.0f} GiB of memory"]
    if caches():
        parts.append(f"last cache {caches()}")
    parts.append(f"{platform.system()} {platform.release().split('-')[0]}")
    return ", ".join(parts)


def busy():
    """Processes that ran in the last minute: figures of a machine that is not quiet are not to be kept."""
    return os.getloadavg()[0]
