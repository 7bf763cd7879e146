"""Compare answers of a running server with OFREP's own OpenAPI file.

    python -m benchmarks.torture.ofrep_protocol PATH/openapi.yaml

A server with keys and a rate limit is started over a new store. It is asked for one flag and for
all flags in every way that the protocol documents an answer for, and each answer must have the
media type and the schema that the file gives for its status.

In version 0.3.0 of the file, `oneOf` lists the types of a value beside a type without one, which
matches every answer, so that not even the file's own examples are valid. It is read as `anyOf`.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import jsonschema_rs
import yaml  # type: ignore[import-untyped]

from driftanchor import TS, Campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store

ALL = "/ofrep/v1/evaluate/flags"
ONE = ALL + "/{key}"
UNIT = {"context": {"targetingKey": "user-1", "country": "FI"}}
RATE = 5  # requests a second
EXPECTED = {
    ONE: {200, 400, 401, 403, 404, 429, 500, 503},
    ALL: {200, 304, 400, 401, 403, 429, 503},
}


class Reply(NamedTuple):
    """An answer to an evaluation."""

    route: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class Flags:
    """A server with flags.

    Args:
        folder: The folder of its store.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "flags.db"
        address = f"sqlite:///{self.file}"
        store = open_store(address)
        for name, arms in (("colour", ["red", "blue"]), ("price", ["1", "2.5"]),
                           ("columns", ["2", "3"]), ("banner", ["true", "false"]),
                           ("damaged", ["A", "B"]), ("stopped", ["A", "B"])):  # fmt: skip
            Campaign.create(name, arms=arms, policy=TS(), reward_range=(0, 1), store=store)
        Campaign.create("fresh", arms=["A", "B"], sticky=None, reward_range=(0, 1), store=store)
        Campaign.load("stopped", store=store).pause()
        self.keys: dict[str, str] = {}
        for name, role in (("decide", "decide"), ("busy", "decide"), ("read", "read")):
            self.keys[name], row = make_key([role], now=time.time())
            store.add_key(row)
        store.close()
        with contextlib.closing(sqlite3.connect(self.file)) as database, database:
            database.execute(
                "UPDATE arms SET memory = 'x' WHERE campaign_id = "
                "(SELECT id FROM campaigns WHERE name = 'damaged')"
            )
        command = [sys.executable, "-m", "driftanchor", "serve", "--store", address, "--json"]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--rate-limit", str(RATE)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = urlsplit(json.loads(self.process.stdout.readline())["url"])

    def ask(
        self,
        flag: str | None = None,
        body: object = UNIT,
        key: str | None = "decide",
        wait: bool = True,
        headers: Mapping[str, str] = {},
    ) -> Reply:
        """Evaluate one flag, or all of them."""
        if wait:
            time.sleep(1.5 / RATE)  # to stay below the limit
        sent = {"Content-Type": "application/json", **headers}
        if key is not None:
            sent["Authorization"] = f"Bearer {self.keys.get(key, key)}"
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        client = http.client.HTTPConnection(str(self.url.hostname), self.url.port, timeout=60)
        with contextlib.closing(client):
            path = ALL if flag is None else f"{ALL}/{flag}"
            client.request("POST", path, text, sent)
            answer = client.getresponse()
            route = ALL if flag is None else ONE
            fields = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(route, answer.status, fields, answer.read())

    def close(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.communicate()


def replies(flags: Flags) -> Iterator[Reply]:
    """Ask in every way that has an answer of its own."""
    for name in ("colour", "price", "columns", "banner", "fresh", "stopped", "none", "a b"):
        yield flags.ask(name.replace(" ", "%20"))
    yield flags.ask("damaged")
    whole = flags.ask()
    yield whole
    yield flags.ask(None, headers={"If-None-Match": whole.headers["etag"]})
    wrong: list[object] = [
        b"", b"{", b"[" * 60_000, b"\xff", b"[]", {}, {"context": {}}, {"context": []},
        {"context": {"targetingKey": ""}}, {"context": {"targetingKey": None}},
        {"context": {"targetingKey": 7}}, {"context": {"targetingKey": "a\0"}},
    ]  # fmt: skip
    both: tuple[str | None, ...] = ("colour", None)
    for flag in both:
        for body in wrong:
            yield flags.ask(flag, body)
        yield flags.ask(flag, headers={"Content-Type": "text/plain"})
        yield flags.ask(flag, key=None)
        yield flags.ask(flag, key="wrong")
        yield flags.ask(flag, key="read")
        for _ in range(3 * RATE):
            yield flags.ask(flag, key="busy", wait=False)
    away = flags.file.with_name("away")
    flags.file.rename(away)
    yield from (flags.ask(flag) for flag in both)
    away.rename(flags.file)


def fault(reply: Reply, protocol: Mapping[str, Any]) -> str:
    """Return what an answer violates; empty if nothing."""
    answers = protocol["paths"][reply.route]["post"]["responses"]
    documented = answers.get("500" if reply.status >= 500 else str(reply.status))
    if documented is None:
        return f"{reply.status} is not documented"
    if reply.status == 304:
        return "304 has a body" if reply.body else ""
    if reply.headers.get("content-type") != "application/json":
        return f"{reply.status} is {reply.headers.get('content-type')}"
    if reply.status in (429, 503) and not reply.headers.get("retry-after", "").isdigit():
        return f"{reply.status} does not say when to retry"
    if "content" in documented:
        schema = {**documented["content"]["application/json"]["schema"]}
        validator = jsonschema_rs.validator_for(
            {**schema, "components": protocol["components"]},
        )
        errors = [str(error) for error in validator.iter_errors(json.loads(reply.body))]
        return f"{reply.status}: {errors[0]}" if errors else ""
    return ""


def relaxed(schema: Any) -> Any:
    """Return a schema with `anyOf` in place of `oneOf`."""
    if isinstance(schema, list):
        return [relaxed(x) for x in schema]
    if not isinstance(schema, dict):
        return schema
    return {"anyOf" if key == "oneOf" else key: relaxed(x) for key, x in schema.items()}


def main() -> int:
    """Compare all answers, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("protocol", type=Path, help="OFREP's openapi.yaml")
    file: Path = parser.parse_args().protocol
    protocol = relaxed(yaml.safe_load(file.read_text(encoding="utf-8")))
    statuses: dict[str, set[int]] = {ONE: set(), ALL: set()}
    faults, count = list[str](), 0
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Flags(Path(folder))) as flags:
        for reply in replies(flags):
            count += 1
            statuses[reply.route].add(reply.status)
            if text := fault(reply, protocol):
                faults.append(f"{reply.route}: {text}: {reply.body[:200]!r}")
    faults += [f"{x}: never answered {sorted(EXPECTED[x] - statuses[x])}"
               for x in statuses if EXPECTED[x] - statuses[x]]  # fmt: skip
    print(f"{count} answers; statuses {[sorted(x) for x in statuses.values()]}")
    print("\n".join(faults) or "all as the protocol documents")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
