"""Where what is built once is kept: the C loop and the environments of the peers."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder, made if need be; it can be removed at any time."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "driftanchor" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
