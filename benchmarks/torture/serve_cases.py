"""Requests made from the OpenAPI document of the server, right ones and wrong ones.

Schemathesis draws them. No answer may be an error of the server, or one that is not documented, and
what is not as documented must be refused.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from starlette.testclient import TestClient

from benchmarks.torture import page
from benchmarks.torture.children import Outcome
from driftanchor import TS, Campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store
from driftanchor.serve.app import create_app
from driftanchor.serve.app_state import AppState
from driftanchor.serve.request_log import Log

if TYPE_CHECKING:  # it takes long to load, and only requests need it
    from schemathesis import Case, GenerationMode

EACH = 220  # requests of each kind and route
URL = "http://127.0.0.1:8484"
CHECKS = (
    "content_type_conformance",
    "negative_data_rejection",
    "not_a_server_error",
    "response_headers_conformance",
    "response_schema_conformance",
    "status_code_conformance",
    "unsupported_method",
)
KNOWN = 0.7  # of the right requests are about something that is there


@contextlib.contextmanager
def client(address: str) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """A server in this process, and what it has: the names of parameters, and a value of each."""
    store = open_store(address)
    campaign = Campaign.create(
        "known", arms=["A", "B"], policy=TS(), reward_range=(0, 1), seed=1, store=store
    )
    made = campaign.ask()
    key, row = make_key(["admin"], now=time.time())
    store.add_key(row)
    state = AppState(store, log=Log(io.StringIO()))
    with TestClient(create_app(state), URL, raise_server_exceptions=False) as http:
        yield http, {"name": "known", "decision_id": str(made.id), "key": key}


def fuzz(address: str, each: int, number: int = 0, *, with_key: bool = True) -> Outcome:
    """Try requests of every operation.

    Args:
        address: An empty store.
        each: How many right ones of each operation, and how many wrong ones.
        number: The seed.
        with_key: Whether requests bring a key.
    """
    import schemathesis

    failures: list[str] = []
    with client(address) as (http, known):
        key = known.pop("key")
        if with_key:
            http.headers["Authorization"] = f"Bearer {key}"
        schema: Any = schemathesis.openapi.from_dict(
            _without_keys(http.get("/openapi.json").json())
        )
        cases = 0
        for found in schema.get_all_operations():
            operation = found.ok()
            for mode in schemathesis.GenerationMode:
                if mode is schemathesis.GenerationMode.NEGATIVE and _takes_any_text(operation):
                    continue  # Schemathesis would search long for what is not there
                played, wrong = _play(operation, mode, http, known, each, number)
                cases += played
                failures += wrong
    return Outcome(cases, (0.0, ""), tuple(failures))


def _without_keys(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what it says of keys, which the client brings."""
    for methods in document["paths"].values():
        for route in methods.values():
            route.pop("security", None)
    return document


def _takes_any_text(operation: Any) -> bool:
    """Whether nothing that can be sent to it is wrong: it takes text in its address at most."""
    raw = operation.definition.raw
    kinds = [(each["in"], each["schema"].get("type")) for each in raw.get("parameters", ())]
    return "requestBody" not in raw and all(kind == ("path", "string") for kind in kinds)


def _play(
    operation: Any,
    mode: GenerationMode,
    http: TestClient,
    known: dict[str, str],
    each: int,
    number: int,
) -> tuple[int, list[str]]:
    """How many requests of an operation were tried, and what is wrong."""
    from schemathesis import GenerationMode, checks

    played, asked = 0, [getattr(checks, name) for name in CHECKS]

    @seed(number)
    @settings(
        max_examples=each,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case: Case[Any]) -> None:
        nonlocal played
        if mode is GenerationMode.POSITIVE and played % 10 < 10 * KNOWN:
            case.path_parameters = {
                name: known.get(name, value) for name, value in (case.path_parameters or {}).items()
            }
        played += 1
        response = http.request(**case.as_transport_kwargs(base_url=URL))
        too_large = response.status_code == 413  # which Schemathesis does not take for a refusal
        excluded = [checks.negative_data_rejection] if too_large else []
        case.validate_response(response, checks=asked, excluded_checks=excluded)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one()
    except Exception as error:
        return played, [f"{operation.label}, {mode.value}: {error}"]
    except BaseExceptionGroup as group:
        return played, [f"{operation.label}, {mode.value}: {error}" for error in group.exceptions]
    return played, []


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many requests."""
    parser.add_argument(
        "--each", type=int, default=EACH, help="right and wrong ones, of each route"
    )
    parser.add_argument("--seed", type=int, default=0)


def run(asked: argparse.Namespace) -> int:
    """Try requests; 1 if an answer is wrong."""
    outcomes: dict[str, Outcome] = {}
    for with_key, which in ((True, "with a key"), (False, "without a key")):
        with tempfile.TemporaryDirectory() as folder:
            address = f"sqlite:///{folder}/store.db"
            found = fuzz(address, asked.each, asked.seed, with_key=with_key)
        outcomes[which] = found
        failures = len(found.failures)
        print(f"{found.cases:,} requests {which}: {failures} failures", flush=True)
        print(*found.failures, sep="\n")
    if asked.each >= EACH:
        page.write({"torture-requests": page.of_requests(outcomes, asked.seed)})
    return 1 if any(found.failures for found in outcomes.values()) else 0
