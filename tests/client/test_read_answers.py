"""Answers of a server become the objects of `Campaign`."""

from __future__ import annotations

from typing import Any

import pytest

from driftanchor.client.read_answers import decision_of, list_in, outcome_of, receipt_of
from driftanchor.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from driftanchor.live.campaigns.decision import Decision, Receipt


def test_decisions_and_receipts_come_back_as_they_were() -> None:
    decision = Decision("9f", "A", 0.25, True, "c", 3, "u", 1, 17.5, "why")
    assert decision_of({**decision.to_json(), "newer": 1}) == decision
    receipt = Receipt("9f", "replayed", "A", 1.0)
    assert receipt_of(receipt.to_json()) == receipt


@pytest.mark.parametrize("data", [None, [], 3, {"id": "x"}, "text"])
def test_what_is_no_decision_is_refused(data: Any) -> None:
    with pytest.raises(StoreUnavailable, match="no usable decision"):
        decision_of(data)


def test_outcomes_are_receipts_or_errors() -> None:
    receipt = Receipt("9f", "recorded", "A", 1.0)
    assert outcome_of(receipt.to_json()) == receipt
    missing = outcome_of({"status": "refused", "code": "not_found", "detail": "no"})
    assert isinstance(missing, NotFound)
    other = outcome_of({"status": "refused", "code": "reward_conflict", "detail": "no"})
    assert isinstance(other, Conflict)
    wrong = outcome_of({"status": "refused", "code": "reward_out_of_range", "detail": "no"})
    assert isinstance(wrong, InvalidInput)


@pytest.mark.parametrize("data", [None, [], {"campaigns": 3}])
def test_a_list_that_is_missing_is_named(data: Any) -> None:
    with pytest.raises(StoreUnavailable, match="no usable campaigns"):
        list_in(data, "campaigns")
