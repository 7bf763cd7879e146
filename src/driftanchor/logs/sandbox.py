"""DuckDB that can read the given files, within a given memory, and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from glob import escape
from pathlib import Path

import duckdb

from driftanchor.cores import usable_cores
from driftanchor.errors import DriftanchorError, InvalidInput, excerpt
from driftanchor.logs.clean_copy import originals
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.sql import literal

INTERRUPTED = "Query interrupted"  # what DuckDB raises at Ctrl-C
MOST_THREADS = 8  # each reader of CSV holds some tens of megabytes


def connect(paths: Iterable[Path], memory: str) -> duckdb.DuckDBPyConnection:
    """A database in memory: no other file, no extension, no Python variable, no way back.

    Args:
        paths: What may be read.
        memory: What may be used, such as `"400MB"`.
    """
    names = [name for path in paths for name in (str(path), escape(str(path)))]
    allowed = ", ".join(map(literal, dict.fromkeys(names)))
    settings = {
        "memory_limit": literal(memory),
        "threads": min(usable_cores(), MOST_THREADS),
        "temp_directory": "''",  # nothing is written beside the logs; too little memory is an error
        "enable_progress_bar": "false",
        "TimeZone": "'UTC'",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "allowed_paths": f"[{allowed}]",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    connection = duckdb.connect(":memory:")
    connection.execute("; ".join(f"SET {name} = {value}" for name, value in settings.items()))
    return connection


@contextlib.contextmanager
def naming_logs(files: Sequence[LogFile], memory: str) -> Iterator[None]:
    """Turn errors of DuckDB into one line that names the logs."""
    name = ", ".join(repr(file.name) for file in files[:3])
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.InterruptException) as error:
        raise DriftanchorError(
            f"reading {name} needs more memory than {memory}: allow more with memory (--memory), "
            "or check that the file is what it claims to be"
        ) from error
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        reason = excerpt(originals(str(error), files).strip().partition("\n")[0])
        raise InvalidInput(f"cannot read {name}: {reason}") from error
