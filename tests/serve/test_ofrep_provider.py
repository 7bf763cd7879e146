"""The unmodified OpenFeature SDK and its OFREP provider, against a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests
from campaign_parts import create
from http_server import HttpServer, http_server
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason

from driftanchor import Client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    address = f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.db'}"
    create(address, "checkout").close()
    create(address, "price", arms=["1", "2.5"]).close()
    create(address, "columns", arms=["2", "3"]).close()
    create(address, "banner", arms=["true", "false"]).close()
    stopped = create(address, "stopped")
    stopped.pause()
    stopped.close()
    with http_server(address) as running:
        yield running


@pytest.fixture(scope="module")
def flags(server: HttpServer) -> Iterator[OpenFeatureClient]:
    provider = OFREPProvider(server.url)
    api.set_provider(provider)
    yield api.get_client()
    api.shutdown()
    provider.session.close()


def user(name: str) -> EvaluationContext:
    return EvaluationContext(name, {"country": "FI"})


def test_an_arm_comes_with_its_decision_and_the_reward_counts(
    server: HttpServer, flags: OpenFeatureClient
) -> None:
    found = flags.get_string_details("checkout", "A", user("user-1"))
    assert (found.error_code, found.reason) == (None, Reason.SPLIT)
    assert found.value == found.variant
    assert found.value in ("A", "B", "C")
    assert 0 < float(found.flag_metadata["propensity"]) <= 1
    again = flags.get_string_details("checkout", "A", user("user-1"))
    assert again.flag_metadata == found.flag_metadata
    with Client(server.url, campaign="checkout") as client:
        receipt = client.tell(str(found.flag_metadata["decision_id"]), 1.0)
        assert (receipt.status, receipt.arm) == ("recorded", found.value)
        assert client.status()["arms"][found.value]["live_n"] == 1


def test_in_bulk_too_an_arm_comes_with_its_decision(
    server: HttpServer, flags: OpenFeatureClient
) -> None:
    """Providers of browsers ask for all flags at once; the one of Python asks for each."""
    url = f"{server.url}/ofrep/v1/evaluate/flags"
    body = {"context": {"targetingKey": "user-2"}}
    with requests.Session() as session:
        answer = session.post(url, json=body, timeout=30)
        cached = session.post(
            url, json=body, headers={"If-None-Match": answer.headers["ETag"]}, timeout=30
        )
    assert (answer.status_code, cached.status_code) == (200, 304)
    by_name = {flag["key"]: flag for flag in answer.json()["flags"]}
    mine = by_name["checkout"]
    with Client(server.url, campaign="checkout") as client:
        before = client.status()["rewards"]
        assert client.tell(mine["metadata"]["decision_id"], 0.0).arm == mine["variant"]
        assert client.status()["rewards"] == before + 1
    single = flags.get_float_details("price", 9.5, user("user-2"))
    assert single.flag_metadata["decision_id"] == by_name["price"]["metadata"]["decision_id"]


def test_values_have_the_types_of_the_flags(flags: OpenFeatureClient) -> None:
    price = flags.get_float_details("price", 9.5, user("u"))
    assert (price.error_code, price.value in (1.0, 2.5)) == (None, True)
    columns = flags.get_integer_details("columns", 9, user("u"))
    assert (columns.error_code, columns.value in (2, 3)) == (None, True)
    banner = flags.get_boolean_details("banner", False, user("u"))
    assert banner.error_code is None
    assert banner.variant == str(banner.value).lower()


def test_the_default_is_played_where_there_is_no_value(flags: OpenFeatureClient) -> None:
    paused = flags.get_string_details("stopped", "mine", user("u"))
    assert (paused.value, paused.reason, paused.error_code) == ("mine", Reason.DISABLED, None)
    missing = flags.get_string_details("none", "mine", user("u"))
    assert (missing.value, missing.error_code) == ("mine", ErrorCode.FLAG_NOT_FOUND)
    nobody = flags.get_string_details("checkout", "mine", EvaluationContext())
    assert (nobody.value, nobody.error_code) == ("mine", ErrorCode.TARGETING_KEY_MISSING)
    assert nobody.error_message == "say in context.targetingKey which unit asks"
    wrong = flags.get_string_details("checkout", "mine", user("bell\u0007"))
    assert (wrong.value, wrong.error_code) == ("mine", ErrorCode.INVALID_CONTEXT)
