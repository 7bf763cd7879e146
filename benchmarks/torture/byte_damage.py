"""Damage to bytes: of text before it is packed, and of packed files."""

import numpy as np

Rng = np.random.Generator


def of_text(rng: Rng, content: bytes) -> tuple[bytes, list[str]]:
    """Damage that the text itself may have."""
    kind = str(
        rng.choice(
            ["", "flip", "cut", "nul", "bad utf-8", "utf-16"], p=[0.7, 0.12, 0.08, 0.04, 0.05, 0.01]
        )
    )
    at = int(rng.integers(0, len(content) + 1))
    if kind == "flip":
        content = _flipped(rng, content, int(rng.integers(1, 6)))
    elif kind == "cut":
        content = content[:at]
    elif kind in ("nul", "bad utf-8"):
        content = content[:at] + (b"\0" if kind == "nul" else b"\xff") + content[at:]
    elif kind == "utf-16":
        content = content.decode(errors="replace").encode("utf-16")
    return content, [kind] if kind else []


def of_packed(rng: Rng, content: bytes) -> tuple[bytes, list[str]]:
    """Damage of the packed file: cut, changed, or a wrong checksum."""
    kind = str(
        rng.choice(["", "packed flip", "packed cut", "packed tail"], p=[0.7, 0.12, 0.12, 0.06])
    )
    if kind == "packed flip":
        content = _flipped(rng, content, 1)
    elif kind == "packed cut":
        content = content[: int(rng.integers(0, len(content)))]
    elif kind == "packed tail" and content:  # where checksums are
        at = len(content) - 1 - int(rng.integers(0, min(8, len(content))))
        content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    return content, [kind] if kind else []


def _flipped(rng: Rng, content: bytes, times: int) -> bytes:
    changed = bytearray(content)
    for _ in range(times if changed else 0):
        changed[int(rng.integers(0, len(changed)))] ^= 1 << int(rng.integers(0, 8))
    return bytes(changed)
