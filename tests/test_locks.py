"""One at a time, within a process and between processes; where that cannot be, go on."""

import subprocess
import sys
import threading
from pathlib import Path

from driftanchor.locks import alone

HOLD = """
import sys
from pathlib import Path
from driftanchor.locks import alone
with alone(Path(sys.argv[1]), 5) as held:
    print(held, flush=True)
    sys.stdin.read()
"""


def test_another_process_holds_it_until_it_ends_however_it_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        with alone(tmp_path, 0.05) as held:
            assert not held
        other.kill()
    with alone(tmp_path, 5) as held:
        assert held


def test_threads_wait_for_one_another(tmp_path: Path) -> None:
    file, inside, most = tmp_path / "lock", list[int](), list[int]()
    file.touch()

    def enter(number: int) -> None:
        with alone(file, 60) as held:
            assert held
            inside.append(number)
            most.append(len(inside))
            inside.remove(number)

    threads = [threading.Thread(target=enter, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_where_there_is_nothing_to_lock_it_goes_on_and_makes_nothing(tmp_path: Path) -> None:
    for place in (tmp_path / "missing", tmp_path / "a\0b", tmp_path / "no" / "folder"):
        with alone(place, 1) as held:
            assert not held
    assert list(tmp_path.iterdir()) == []
