"""Windowed, aligned distances of all pairs of frames with numpy: the peer of the bench `transitions`.

Reads float32 positions (frames x joints x 3) from a file. Prints one JSON object: how long all pairs of windows took in
seconds of CPU time, and the squared distances of some pairs.
"""
import json
import sys
import time

import numpy as np


def main():
    path, frames, joints, window = sys.argv[1], *map(int, sys.argv[2:5])
    p = np.fromfile(path, dtype=np.float32).reshape(frames, joints, 3)
    best, samples = float("inf"), []
    for _ in range(2):
        start = time.process_time()
        pairs, samples = distances(p, window)
        best = min(best, time.process_time() - start)
    print(json.dumps({"numpy": np.__version__, "pairs": pairs, "seconds": best, "samples": samples}))


def distances(p, w):
    frames, joints, _ = p.shape
    windows = frames - w + 1
    scale = np.float32(1.0 / (joints * w)) ** np.float32(0.5)
    x, y, z = (np.ascontiguousarray(p[:, :, k] * scale) for k in range(3))
    x -= x.mean()
    y -= y.mean()
    z -= z.mean()
    planar, turned = np.hstack([x, z]), np.hstack([z, -x])
    cumulated = lambda v: np.concatenate([[0.0], np.cumsum(v, dtype=np.float64)])
    over = lambda v: (cumulated(v)[w:] - cumulated(v)[:-w]).astype(np.float32)
    mx, mz = over(x.sum(1) * scale), over(z.sum(1) * scale)
    energy = over((x * x + y * y + z * z).sum(1)) - mx * mx - mz * mz
    rows, columns = 512, 1024
    nearest, samples = np.inf, []
    for s in range(0, windows, rows):
        n = min(rows, windows - s)
        for t in range(s - s % columns, windows, columns):
            m = min(columns, windows - t)
            i, j = slice(s, s + n + w - 1), slice(t, t + m + w - 1)
            dot, cross, up = planar[i] @ planar[j].T, planar[i] @ turned[j].T, y[i] @ y[j].T
            a, b, c = along(dot, w, n, m), along(cross, w, n, m), along(up, w, n, m)
            i, j = slice(s, s + n), slice(t, t + m)
            a -= np.outer(mx[i], mx[j]) + np.outer(mz[i], mz[j])
            b -= np.outer(mx[i], mz[j]) - np.outer(mz[i], mx[j])
            d = energy[i, None] + energy[None, j] - 2 * (c + np.sqrt(a * a + b * b))
            nearest = min(nearest, d.min())
            samples += [(s + k, t + k, float(d[k, k])) for k in range(0, min(n, m), 97) if t > s]
    return windows * (windows - 1) // 2, samples


def along(m, w, rows, columns):
    """Sums of w neighbours along diagonals, by doubling."""
    out, have, offset = None, m, 0
    length, power = w, 1
    while length:
        if length & 1:
            part = have[offset : offset + rows, offset : offset + columns]
            out = part.copy() if out is None else out + part
            offset += power
        length >>= 1
        if length:
            have = have[:-power, :-power] + have[power:, power:]
            power *= 2
    return out


main()
