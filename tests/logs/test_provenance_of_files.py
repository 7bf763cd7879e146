"""What is remembered of a file: its name, its size, and a hash of what it held."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from log_folder import CSV, read, write

from driftanchor.logs import log_file, log_files

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_a_hash_is_of_the_whole_file_or_says_that_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("a.csv")
    provenance = read("a.csv").provenance
    assert provenance is not None
    (source,) = provenance.sources
    whole = f"sha256:{hashlib.sha256(CSV.encode()).hexdigest()}"
    assert (source.name, source.digest, source.size) == ("a.csv", whole, len(CSV))
    monkeypatch.setattr(log_file, "WHOLE", 100)
    monkeypatch.setattr(log_file, "SAMPLE", 10)
    (file,) = log_files.find([write("b.csv", CSV * 50)])
    sampled = file.source(full_hash=False)
    assert str(sampled.digest).startswith("sha256-sampled:")
    write("b.csv", CSV * 49 + CSV.replace("0", "1"))
    assert file.source(full_hash=False) != sampled
    whole = f"sha256:{hashlib.sha256(Path('b.csv').read_bytes()).hexdigest()}"
    assert file.source(full_hash=True).digest == whole
