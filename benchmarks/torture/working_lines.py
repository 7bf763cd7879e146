"""Command lines that work, from which the cases of `commands` start."""

LOGS = ["good.csv", "--arm", "ad", "--reward", "won"]
COUNTS = ["counts.csv", "--arm", "ad", "--count", "views", "--total", "clicks"]
TINY = ["--horizon", "3", "--worlds", "2", "--quiet"]
BOUND = ["--bias-bound", "0.1"]
SIMULATE = ["--policy", "ts", "--horizon", "3", "--runs", "2", "--engine", "interpreted"]
STORE = ["--store", "sqlite:///kept.db"]
REPRODUCE = ["--runs", "1", "--horizon", "3", "--out", "out", "--quiet"]
LINES = {
    "logs": (LOGS, COUNTS),
    "shift": (
        [*LOGS, "--time", "at", "--by", "week"],
        [*COUNTS, "--by", "at"],
        [*LOGS, "--time", "at", "--by", "day", "--plot", "a.svg"],
    ),
    "plan": (
        [*LOGS, *TINY, *BOUND],
        ["good.json", *TINY, *BOUND, "--law", "bernoulli"],
        [*COUNTS, *TINY, "--relative-bound", "0.1", "--law", "bernoulli", "--page", "a.html"],
        [*LOGS, *TINY, "--time", "at", "--by", "day", "--relative-bound", "auto"],
    ),
    "replay": (
        [*LOGS, *TINY, *BOUND, "--time", "at", "--split", "2026-01-11"],
        [*COUNTS, *TINY, "--split", "at < '2026-01-09'", "--page", "a.html"],
    ),
    "simulate": (
        SIMULATE,
        [*SIMULATE, "--online", "0.6,0.5", "--offline", "same", "--csv", "a.csv"],
        [*SIMULATE, "--relative-bound", "1", "--reward", "student", "--plot", "a.svg"],
    ),
    "identify": (["--runs", "1", "--most-pulls", "9", "--engine", "interpreted", "--quiet"],),
    "campaign create": (
        ["c", *LOGS, *BOUND, *STORE],
        ["d", "--arms", "A,B", "--range", "0", "1", "--floor", "0.1", *STORE],
        ["e", "good.json", "--relative-bound", "0.1", "--reward-window", "1d", *STORE],
    ),
    "campaign ask": (["kept", *STORE], ["kept", "--unit", "u", *STORE]),
    "campaign tell": (["kept", "0" * 32, "1", *STORE], ["kept", "--file", "good.csv", *STORE]),
    "campaign correct": (["kept", "0" * 32, "--from", "1", "--to", "0", *STORE],),
    "campaign change": (["kept", "--floor", "0.1", "--reason", "more data", *STORE],),
    "campaign expose": (["kept", "0" * 32, *STORE],),
    "campaign explain": (["kept", "0" * 32, *STORE],),
    "campaign export": (["kept", "a.csv", *STORE], ["kept", "a.jsonl", *STORE]),
    **{
        f"campaign {word}": (["kept", *STORE],)
        for word in ("show", "pause", "resume", "epoch", "sweep", "verify")
    },
    "campaign list": (STORE,),
    **{
        f"campaign arm {word}": (["kept", "A", *STORE],)
        for word in ("add", "pause", "archive", "restore", "distrust")
    },
    "serve": (
        ["--port", "0", *STORE],
        ["--log", *LOGS, *BOUND, "--port", "0", "--json", *STORE],
        ["--demo", "--port", "0"],
    ),
    "keys create": (["--role", "decide", "--role", "reward", *STORE],),
    "keys list": (STORE,),
    "keys revoke": (["00000000", *STORE],),
    "theory": (["--online", "0.6,0.5", "--offline", "same", "--offline-pulls", "10"],),
    "policies": ([],),
    "doctor": (STORE, ["--url", "http://127.0.0.1:9", *STORE]),
    "store upgrade": (STORE,),
    "store verify": (STORE,),
    "store backup": (["a.db", *STORE],),
    "store copy": (["sqlite:///b.db", *STORE],),
    "reproduce": (["good.toml", *REPRODUCE], ["wide.toml", *REPRODUCE]),
}
