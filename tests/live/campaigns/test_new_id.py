"""Ids of decisions differ, also between threads and forked processes."""

from __future__ import annotations

import os
import threading

from driftanchor.live.campaigns.new_id import MANY, new_id


def test_ids_are_all_different_in_threads_and_forked_processes() -> None:
    found = [new_id() for _ in range(3)]  # some are left for later
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writes, "".join(new_id() for _ in range(MANY)).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as lines:
        theirs = lines.read()
    assert os.waitpid(child, 0)[1] == 0
    found += [theirs[i : i + 32] for i in range(0, len(theirs), 32)]

    def draw() -> None:
        found.extend(new_id() for _ in range(3 * MANY))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 3 + 13 * MANY
    assert all(len(x) == 32 and int(x, 16) >= 0 for x in found)
