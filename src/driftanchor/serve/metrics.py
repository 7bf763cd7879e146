"""Metrics for Prometheus: counts and times, with neither ids nor units in them.

With several worker processes each keeps its numbers in files of a folder that all share; whichever
worker is asked adds them up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import prometheus_client as prometheus
from prometheus_client import multiprocess

from driftanchor.live.campaigns.decision import Decision, Receipt
from driftanchor.version import __version__

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # the folder; prometheus_client looks for it when it is loaded
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MEDIA = prometheus.CONTENT_TYPE_LATEST


class Metrics:
    """What one process counts."""

    def __init__(self) -> None:
        library: Any = prometheus
        library.disable_created_metrics()
        self.registry = prometheus.CollectorRegistry()
        self._requests = prometheus.Counter(
            "driftanchor_http_requests_total",
            "HTTP requests by route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = prometheus.Histogram(
            "driftanchor_http_request_duration_seconds",
            "Time from a request to the end of its answer.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._decisions = prometheus.Counter(
            "driftanchor_decisions_total",
            "Decisions that were answered: new ones and ones made before.",
            ["campaign", "answer"],
            registry=self.registry,
        )
        self._rewards = prometheus.Counter(
            "driftanchor_rewards_total",
            "Rewards by their effect.",
            ["campaign", "status"],
            registry=self.registry,
        )
        self._defaults = prometheus.Counter(
            "driftanchor_defaults_total",
            "Default arms that clients played because no answer came in time.",
            ["campaign"],
            registry=self.registry,
        )
        self.groups = prometheus.Histogram(
            "driftanchor_transaction_requests",
            "How many requests were written in one transaction.",
            buckets=SIZES,
            registry=self.registry,
        )
        self.failures = prometheus.Counter(
            "driftanchor_store_failures_total",
            "Transactions that failed because the store was unavailable or read-only.",
            registry=self.registry,
        )
        self.waiting = prometheus.Gauge(
            "driftanchor_waiting_requests",
            "Requests that wait for the store.",
            multiprocess_mode="livesum",
            registry=self.registry,
        )
        build = prometheus.Gauge(
            "driftanchor_build_info",
            "Always 1; the label says the version.",
            ["version"],
            multiprocess_mode="max",
            registry=self.registry,
        )
        build.labels(__version__).set(1)
        self._children: dict[tuple[str, ...], Any] = {}
        self._of_requests: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = method if method in METHODS else "other"
        found = self._of_requests.get((known, route, status))
        if found is None:
            counted = self._requests.labels(known, route, str(status))
            found = self._of_requests[known, route, status] = counted, self._seconds.labels(route)
        found[0].inc()
        found[1].observe(seconds)

    def decided(self, campaign: str, made: Iterable[Decision]) -> None:
        """Count decisions."""
        for decision in made:
            answer = "replayed" if decision.replayed else "new"
            self._child(self._decisions, campaign, answer).inc()

    def rewarded(self, campaign: str, receipt: Receipt) -> None:
        """Count a reward."""
        self._child(self._rewards, campaign, receipt.status).inc()

    def defaulted(self, campaign: str) -> None:
        """Count a default that a caller played."""
        self._child(self._defaults, campaign).inc()

    def text(self) -> bytes:
        """All of it as Prometheus reads it, of all workers."""
        registry = self.registry
        if SHARED in os.environ:
            registry = prometheus.CollectorRegistry()
            shared: Any = multiprocess
            shared.MultiProcessCollector(registry)
        return prometheus.generate_latest(registry)

    def _child(self, metric: Any, *labels: str) -> Any:
        """The number of some labels; to look it up in the metric takes longer."""
        key = (metric._name, *labels)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = metric.labels(*labels)
        return found
