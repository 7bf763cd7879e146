"""Log files in the folder of the test, of two arms unless it says otherwise."""

from pathlib import Path
from typing import Any

from driftanchor import OfflineData

CSV = "arm,reward\nA,1\nB,0\nA,0\nB,1\n"


def read(logs: object, **options: Any) -> OfflineData:
    return OfflineData.from_logs(logs, arm="arm", reward="reward", **options)


def write(name: str, content: str | bytes = CSV) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name
