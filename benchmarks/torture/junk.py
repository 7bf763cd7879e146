"""Junk that somebody may type, by mistake or on purpose, and the files that it names."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from random import Random

TEXTS = (
    *("", " ", "a", "A", "A,B", "ad", "\t", "'", '"', "a'b", ";", "--", "-", "-x", "--help"),
    *("\x1b[31mred", "\x07", "\u202eabc", "\udcff", "é", "漢字", "👩\u200d💻", "\u0301", "\ufeff"),
    *("%s", "{0}", "{", "[red]x[/red]", "[", "*", "?", "[!", "$(x)", "`x`", "\\", "\n", "a\nb"),
    *("nan", "NaN", "inf", "-inf", "true", "none", "null", "auto", "same", "x" * 3000, "\\udcff"),
    *("=", "a=b", "=ts", "ts:", "ts:noise", "ts:noise=0", "ucb:c=1e308", "x=ts", ",", ",,", "a,,b"),
    *("A=0.1,B=0.2", "A=1", "=1", "A=nan", "0.5*2", "0.5*0", "0.5*1e9", "*2", "0.5*", "1,2,3"),
    *("2026-01-11", "2026-13-01", "9999-12-31T23:59-12:00", "0001-01-01", "31/12/24", "now"),
    *("ad = 'A'", "ad = ", "won >= 0.5", "won > nan", "(" * 50, "not " * 30 + "won = 1", "1 = 1"),
    *("day", "week", "month", "csv", "jsonl", "parquet", "400MB", "1KB", "-1MB", "1e99TB", "MB"),
    *("bernoulli", "gaussian", "student", "optimal", "interpreted", "events", "processes"),
    *("tcp://", "tcp://:x", "http://a", "tcp://[", "proved", "guessed", "ad=='A'", "fig1/*"),
)
LIKELY = {  # what is often right, by what stands for the value in the help
    "COLUMN": ("ad", "won", "at", "views", "clicks", "AD", "none"),
    "FILTER": (
        "ad = 'A'",
        "won >= 0.5",
        "won > 0 and ad != 'B'",
        "at >= '2026-01-09'",
        "views = 1",
    ),
    "DATE|FILTER": ("2026-01-11", "ad = 'A'", "won = 1", "2026-01-01", "at < '2026-01-09'"),
    "TIME": ("2026-01-11", "2026-01-05T12:00+02:00", "2030-01-01", "0001-01-01"),
    "PERIOD": ("day", "week", "month", "ad", "won", "at", "views"),
    "NAME": (
        "ts",
        "auto",
        "gaussian",
        "bernoulli",
        "student",
        "uniform",
        "csv",
        "proved",
        "events",
    ),
    "LIST": ("0.5", "0.5,0.6", "0.8,0.5*9", "10", "A,B", "B", "0.5*10", "inf", "0,0"),
    "LIST|same": ("same", "0.5*10", "0.5,0.6"),
    "N|LIST": ("2", "1,2,3", "100"),
    "V": ("0", "0.1", "inf", "auto", "A=0.1,B=0.2", "0.1,inf", "1e80"),
    "W": ("0", "0.05", "inf", "auto", "A=0.1,B=0.2", "1e80"),
    "LO HI": ("0", "1", "-1e9", "1e9", "0.5"),
    "SIZE": ("400MB", "1GB", "50MB"),
    "ADDRESS": ("sqlite:///kept.db", "sqlite:///new.db", "sqlite:///no/a.db", "sqlite:///good.csv"),
    "URL": ("http://127.0.0.1:9", "http://127.0.0.1:9/x", "127.0.0.1:9", "https://127.0.0.1:9"),
    "P": ("0", "0.1", "0.5", "1"),
    "ARM=P": ("A=0.1", "A=0.1,B=0.05", "A=1", "Z=0.1"),
    "UNIT": ("u", "user-1", "é"),
    "ARM": ("A", "B", "C"),
    "GLOB": ("*", "good*", "good/[!"),
}
# Small or impossible: a horizon of a billion is not junk, only slow.
NUMBERS = (
    *("0", "1", "2", "3", "-1", "-0", "0.5", "0.95", "1.5", "-0.5", "1e-300", "1e300", "1e308"),
    *("1e400", "-1e400", "9" * 30, "9" * 400, "1_0", "٣", "0x10", "1e", ".5", "5.", "+1", "1 2"),
)
TO_READ = (
    *("good.csv", "other.csv", "good.json", "good.toml", "empty.csv", "binary.csv", "header.csv"),
    *("binary.parquet", "binary.json", "bad.toml", "folder.csv", "folder.toml", "missing.csv"),
    *(
        "missing.toml",
        "missing.json",
        "pipe.toml",
        "pipe.json",
        "pipe.csv",
        "zero.toml",
        "zero.json",
    ),
    *("link.csv", "loop.csv", "loop.toml", "deep.json", "quotes.csv", "odd.csv", "*.csv", "**"),
    *("huge.csv", "one.csv", "counts.csv", "times.csv", "same.csv", "wide.toml", "odd.toml"),
    *("/dev/null", "/dev/full", "/dev/zero", "/", ".", "..", "good.csv/x.csv", "~", "fig1"),
)
TO_WRITE = (
    *("a.csv", "a.svg", "a.png", "a.pdf", "a.html", "a.json", "out", "\udcff.svg", "é.html"),
    *("x" * 300 + ".svg", "missing/x.svg", "good.csv/x.html", "a b.csv", "-.svg", "loop.html"),
    *("link.svg", "link.html", "A.HTML", "/sys/x.html", "folder.csv", "good.toml", "\x1b[31m.csv"),
)
ROWS = "".join(f"{'AB'[i % 2]},{int(i % 3 == 0)},2026-01-{1 + i // 3:02}\n" for i in range(60))
CSV = f"ad,won,at\n{ROWS}"
EXPERIMENT = """
engine = "interpreted"
policies = ["ts", { policy = "ucb", label = "=1" }]
runs = 1
horizon = 3
"""
COUNTS = "".join(f"{'AB'[i % 2]},{9 + i},{i % 7},2026-01-{1 + i // 3:02}\n" for i in range(60))
CONTENTS = {
    "huge.csv": f"ad,won,at\n{ROWS.replace('1,2026', '1e150,2026')}",
    "one.csv": "ad,won,at\n" + "A,1,2026-01-01\n" * 9,
    "same.csv": f"ad,won,at\n{ROWS.replace(',0,', ',1,')}",
    "times.csv": f"ad,won,at\n{ROWS.replace('2026-01-1', '9999-12-3')}A,1,-1\nB,0,inf\n",
    "counts.csv": f"ad,views,clicks,at\n{COUNTS}",
    "wide.toml": f"{EXPERIMENT}[[sweep]]\nvary.gap = [0.3, 1e90]\nfixed.arms = 3\n",
    "odd.toml": EXPERIMENT.replace("=1", "\\u001b[31m\\n") + 'title = "\\u202e"\n',
    "good.csv": CSV,
    "other.csv": CSV,
    "empty.csv": "",
    "header.csv": "ad,won,at\n",
    "quotes.csv": f'{CSV}"A,1\n{ROWS}',
    "odd.csv": f"\x1b[31mad,won,{'x' * 5000}\n{ROWS}",
    "good.toml": EXPERIMENT,
    "bad.toml": "policies = [1\n",
    "deep.json": "[" * 10_000,
}
LINKS = {
    **{name: "good.csv" for name in ("link.csv", "link.svg", "link.html")},
    **{name: name for name in ("loop.csv", "loop.toml", "loop.html")},
    **{name: "/dev/zero" for name in ("zero.toml", "zero.json")},
}


def text(rng: Random) -> str:
    """Any text that can stand on a command line."""
    if rng.random() < 0.8:
        return rng.choice(rng.choice((TEXTS, NUMBERS, TO_READ, TO_WRITE)))
    signs = (rng.randrange(*rng.choice(((32, 127), (1, 0x3000)))) for _ in range(5))
    return "".join(map(chr, signs)).replace("/", "|")  # nothing is written elsewhere


def make_files() -> None:
    """Make the files that junk names, here."""
    from driftanchor import OfflineData

    for name, content in CONTENTS.items():
        Path(name).write_text(content, encoding="utf-8")
    logs = OfflineData.from_summary({"A": (30, 0.4, 0.2), "B": (30, 0.3, 0.2)})
    Path("good.json").write_text(json.dumps(logs.to_json()), encoding="utf-8")
    _make_store()
    for name in ("binary.csv", "binary.parquet", "binary.json"):
        Path(name).write_bytes(bytes(range(256)) * 20)
    for name in ("folder.csv", "folder.toml"):
        Path(name).mkdir()
    for name in ("pipe.toml", "pipe.json", "pipe.csv"):
        os.mkfifo(name)
    for name, target in LINKS.items():
        Path(name).symlink_to(target)


def _make_store() -> None:
    """A store with a campaign, all of it in one file."""
    from driftanchor import Campaign

    campaign = Campaign.create(
        "kept", arms=["A", "B"], reward_range=(0, 1), seed=1, store="sqlite:///kept.db"
    )
    campaign.close()
    with contextlib.closing(sqlite3.connect("kept.db")) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for left in Path().glob("kept.db-*"):
        left.unlink()
