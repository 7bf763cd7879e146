"""Which files are read, and which are refused."""

from __future__ import annotations

import glob
import gzip
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from log_folder import CSV, read, write

from driftanchor import DriftanchorError, InvalidInput, OfflineData, RejectedRows, read_logs

pytestmark = pytest.mark.usefixtures("in_own_folder")
duckdb: Any = importlib.import_module("duckdb")
pyarrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")


DIALECTS: dict[str, str | bytes] = {
    "comma.csv": CSV,
    "tab.tsv": CSV.replace(",", "\t"),
    "semicolon.txt": CSV.replace(",", ";"),
    "pipe.csv": CSV.replace(",", "|"),
    "bom.csv": b"\xef\xbb\xbf" + CSV.encode(),
    "quoted.csv": b'\xef\xbb\xbf"arm", "reward"\n' + CSV.partition("\n")[2].encode(),
    "windows.csv": CSV.replace("\n", "\r\n"),
    "mixed line ends.csv": CSV.replace("1\n", "1\r\n").replace("A,0\n", "A,0\r"),
    "blank lines.csv": CSV.replace("\n", "\n\n") + "  \n\t\n\n",
    "names after blank lines.csv": "\n \n" + CSV,
    "commas at the end.csv": CSV.replace("B,0", "B,0,").replace("A,0", "A,0,,"),
    "blanks around quotes.csv": 'arm, "reward"\n "A" , "1"\nB,0\nA, "0"\n"B" ,1\n',
    "old mac.csv": CSV.replace("\n", "\r"),
    "no last line end.csv": CSV.strip(),
    "it's.CSV": CSV,
    "packed.csv.gz": gzip.compress(CSV.encode()),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_csv_in_its_dialects(name: str) -> None:
    offline = read(write(name, DIALECTS[name]))
    assert (offline.n.tolist(), offline.mean.tolist()) == ([2, 2], [0.5, 0.5])


def test_lines_of_zstandard_have_their_numbers() -> None:
    connection = duckdb.connect()
    connection.execute(
        "COPY (FROM (VALUES ('A', '1'), ('B', 'x'), ('A', '0'), ('B', '0')) t(arm, reward)) "
        "TO 'a.csv.zst' (FORMAT csv, HEADER, COMPRESSION zstd)"
    )
    summary = read_logs("a.csv.zst", arm="arm", reward="reward", allow_rejects=True)
    assert str(summary.examples[0]) == "a.csv.zst:3 'x'"


def test_quotes_that_come_late_are_understood() -> None:
    late = "arm,reward,note\n" + "A,1,x\nB,0,y\n" * 20_000 + 'A,0,"a,b"\nB,1,"""c"""\n'
    assert read(write("late.csv", late)).n.tolist() == [20_001, 20_001]


def test_numbers_that_become_fractions_late_are_understood() -> None:
    late = "arm,reward\n" + "1,1\n2,0\n" * 20_000 + "1,0.5\n02,1\n"
    offline = read(write("late.csv", late))
    assert list(offline.arms) == ["1", "02", "2"]
    assert offline.n.tolist() == [20_001, 1, 20_000]


def test_files_of_different_columns_are_read_together() -> None:
    write("a.csv")
    write("b.csv", "x;reward;arm\n1;1;A\n2;0;B\n")
    assert read(["a.csv", Path("b.csv")]).n.tolist() == [3, 3]
    table = pyarrow.table({"arm": ["A", "B", "B"], "reward": [1, 0, 1]})
    parquet.write_table(table, "a.parquet")
    parquet.write_table(
        table.select(["reward", "arm"]).cast(
            pyarrow.schema([("reward", pyarrow.float32()), ("arm", pyarrow.string())])
        ),
        "b.parquet",
    )
    assert read("*.parquet").mean.tolist() == [1.0, 0.5]
    write("c.csv", "x,reward\n1,1\n")
    with pytest.raises(LookupError, match=r"'c\.csv' has no column 'arm'"):
        read("*.csv")


def test_patterns_look_into_folders() -> None:
    write("logs/2026/01/a.csv")
    write("logs/2026/02/b.csv", CSV + "A,0\n")
    assert read("logs/**/*.csv").n.tolist() == [5, 4]
    with pytest.raises(InvalidInput, match=r"no file matches 'logs/\*\.csv'"):
        read("logs/*.csv")


def test_whole_numbers_truth_values_and_decimals_in_parquet() -> None:
    decimal = pyarrow.array([1, 0], pyarrow.decimal128(10, 2))
    table = pyarrow.table(
        {"arm": [True, False], "reward": [1, 0], "won": [True, False], "d": decimal}
    )
    parquet.write_table(table, "a.parquet")
    for column in ("reward", "won", "d"):
        offline = OfflineData.from_logs("a.parquet", arm="arm", reward=column)
        assert dict(zip(offline.arms, offline.mean, strict=True)) == {"false": 0.0, "true": 1.0}
    parquet.write_table(pyarrow.table({"arm": ["A"], "s": [{"x": 1}]}), "b.parquet")
    with pytest.raises(
        InvalidInput, match=r"reward is column 's', which holds STRUCT.*, not numbers"
    ):
        OfflineData.from_logs("b.parquet", arm="arm", reward="s")
    parquet.write_table(pyarrow.table({"l": [["A"]], "b": [b"A"], "reward": [1]}), "c.parquet")
    for column in ("l", "b"):
        with pytest.raises(InvalidInput, match=rf"column '{column}', which holds .*, not labels"):
            OfflineData.from_logs("c.parquet", arm=column, reward="reward")


REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "empty": ("a.csv", "", "'a.csv' is empty"),
    "blank": ("a.csv", "\n\n", "'a.csv' has no line of column names"),
    "names only": ("a.csv", "arm,reward\n", "'a.csv' has column names and no rows"),
    "missing column": (
        "a.csv",
        "arm,rewards\nA,1\n",
        "'a.csv' has no column 'reward'; did you mean 'rewards'",
    ),
    "no header": ("a.csv", "A,1\nB,0\n", "'a.csv' has no column 'arm'; known: A, 1"),
    "twice": (
        "a.csv",
        "arm,reward,reward\nA,1,1\n",
        "reward is 'reward', and 'a.csv' has more than",
    ),
    "utf-16": (
        "a.csv",
        CSV.encode("utf-16"),
        "'a.csv' is UTF-16 or not text: convert it .* iconv",
    ),
    "utf-16 big": ("a.csv", b"\xfe\xff" + CSV.encode("utf-16-be"), "UTF-16 or not text"),
    "binary": ("a.csv", bytes(range(256)), "'a.csv' has a NUL byte on line 1"),
    "nul further down": (
        "a.jsonl",
        '{"arm": "A", "reward": 1}\n' * 9_000 + '{"arm": "A\0"}',
        "'a.jsonl' has a NUL byte on line 9001",
    ),
    "zeros": ("a.csv", bytes(256), "UTF-16 or not text"),
    "nul": ("a.csv", "arm,reward\nA,1\nB\0,0\n", r"has a NUL byte on line 3, .* tr -d '\\000'"),
    "names of 2 MB": ("a.csv", "a," * 10**6 + "a\nA,1\n", "longer than 2,000,000 bytes: is it CSV"),
    "name of 1 MB": ("a.csv", "a" * 2**20 + ",arm\nA,1\n", "has no column .* known: a{200}…, arm$"),
    "name in red": (
        "a.csv",
        "\x1b[31mred,arm\nA,1\n",
        r"has no column .* known: \\x1b\[31mred, arm$",
    ),
    "open name": ("a.csv", '"arm,reward\nA,1\n', "the names .* has a quote that is out of place"),
    "not gzip": ("a.csv.gz", CSV, "'a.csv.gz' is damaged: Not a gzipped file"),
    "cut gzip": ("a.csv.gz", gzip.compress(CSV.encode())[:20], "'a.csv.gz' ends too early"),
    "not zstd": ("a.csv.zst", CSV, "'a.csv.zst' is damaged: .* Unknown frame"),
    "not parquet": ("a.parquet", CSV, "cannot read 'a.parquet'"),
    "cut parquet": ("a.parquet", b"PAR1" + b"x" * 50, "cannot read 'a.parquet'"),
    "json array": ("a.json", '[{"arm": "A"}]', "is a JSON array: write one object a line"),
    "json with bom": ("a.jsonl", b"\xef\xbb\xbf{}", "starts with a byte order mark"),
    "json without key": ("a.jsonl", '{"arm": "A", "rewad": 1}', "'reward'; did you mean 'rewad'"),
    "no json": ("a.jsonl", "arm,reward\nA,1\n", "'a.jsonl' has no column 'arm'; known: none"),
    "unknown suffix": ("a.dat", CSV, "'a.dat' does not say its format"),
    "no suffix": ("part-0", CSV, "'part-0' does not say its format"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused(case: str) -> None:
    name, content, message = REFUSED[case]
    write(name, content)
    with pytest.raises(InvalidInput, match=message):
        read(name)


def test_a_file_that_ends_in_the_middle_is_refused() -> None:
    whole = gzip.compress(CSV.encode() + b"A,1\n" * 100_000)
    write("a.csv.gz", whole[: len(whole) // 2])
    with pytest.raises(DriftanchorError, match=r"a\.csv\.gz"):
        read("a.csv.gz")


def test_other_encodings_are_rejected_line_by_line() -> None:
    write("a.csv", "arm,reward\nÄ,1\nB,1\nB,0\n".encode("latin-1"))
    with pytest.raises(
        RejectedRows, match=r"1 of 3 rows of 'a.csv' .* line_unreadable 1 \(a.csv:2"
    ):
        read("a.csv")


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ([], "no files are given"),
        ("", "must be named by text"),
        ("a\0.csv", "must be named by text"),
        ("missing.csv", "cannot read 'missing.csv': No such file or directory"),
        ("folder.csv", "'folder.csv' is not a regular file"),
        ("/dev/null", "'/dev/null' is not a regular file"),
        ("fifo.csv", "'fifo.csv' is not a regular file"),
        ("loop.csv", "cannot read 'loop.csv'"),
        ("https://example.com/a.csv", "is not a local file: fetch it first"),
        ("s3://bucket/a.csv", "is not a local file"),
        (["a.csv", "./a.csv"], "'./a.csv' is given twice"),
        (["a.csv", "a.*"], "is given twice"),
        (["a.csv", "b.parquet"], "'a.csv' is csv and 'b.parquet' is parquet"),
        ("[dir]/x[1].csv", "no file matches"),
        (os.fsdecode(b"\xff.csv"), r"the name of '\\udcff\.csv' is not UTF-8: rename"),
        (3, "logs must be paths of files, a pandas, polars or pyarrow frame"),
        (["a.csv", 3], "logs must be paths of files"),
        (None, "logs must be paths of files"),
    ],
)
def test_what_is_no_log_file_is_refused(logs: object, message: str) -> None:
    write("a.csv")
    write("b.parquet", "PAR1")
    write(os.fsdecode(b"\xff.csv"))
    Path("folder.csv").mkdir()
    os.mkfifo("fifo.csv")
    Path("loop.csv").symlink_to("loop.csv")
    with pytest.raises(InvalidInput, match=message):
        read(logs)


@pytest.mark.parametrize("name", ["x[1].csv", "y*.csv", "z?.csv", "[d]/[!a].csv", "**.csv"])
@pytest.mark.parametrize("named_by", [str, glob.escape])
def test_a_file_named_like_a_pattern_is_read(name: str, named_by: Callable[[str], str]) -> None:
    write(name)
    for other in ("x1.csv", "yy.csv", "zz.csv", "d/b.csv", "a.csv"):
        write(other, "arm,reward\nC,1\nD,0\n")
    summary = read_logs(named_by(name), arm="arm", reward="reward")
    assert list(summary.arms) == ["A", "B"]
    assert summary.provenance.sources[0].name == name


def test_only_files_under_the_root_are_read() -> None:
    write("secret.csv")
    write("logs/a.csv")
    Path("logs/link.csv").symlink_to(Path("secret.csv").resolve())
    Path("logs/inside.csv").symlink_to("a.csv")
    assert read("logs/a.csv", root="logs").n.sum() == 4
    assert read("logs/inside.csv", root=Path("logs").resolve()).n.sum() == 4
    for name in ("logs/link.csv", "logs/../secret.csv", "secret.csv", "/etc/passwd", "logs/*k.csv"):
        with pytest.raises(InvalidInput, match="is outside the allowed folder 'logs'"):
            read(name, root="logs")
    with pytest.raises(InvalidInput, match="is outside the allowed folder"):  # nor is it told
        read("../no/such/file.csv", root="logs")  # whether it is there


def test_the_format_can_be_said() -> None:
    write("part-0")
    assert read("part-0", format="csv").n.sum() == 4
    with pytest.raises(InvalidInput, match="unknown format 'cvs'; did you mean 'csv'"):
        read("part-0", format="cvs")


def test_a_column_of_endless_values_is_no_arm() -> None:
    lines = "\n".join(f"user {i},1" for i in range(100_001))
    with pytest.raises(
        InvalidInput, match="column 'arm', which has more than 100,000 different values"
    ):
        read(write("a.csv", f"arm,reward\n{lines}\n"))
