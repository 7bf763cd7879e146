"""Metrics for Prometheus: counts and times, without ids or units.

Each of several workers keeps its numbers in files of a shared folder; the worker that is asked adds
them up.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import prometheus_client as prometheus
from prometheus_client import multiprocess

from driftanchor.live.campaigns.decision import Decision, Receipt
from driftanchor.version import __version__

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # the folder; prometheus_client reads it when it is imported
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MEDIA = prometheus.CONTENT_TYPE_LATEST


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        library: Any = prometheus
        library.disable_created_metrics()
        registry = self.registry = prometheus.CollectorRegistry()
        self._requests = prometheus.Counter(
            "driftanchor_http_requests_total",
            "HTTP requests by route and status.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._seconds = prometheus.Histogram(
            "driftanchor_http_request_duration_seconds",
            "Time from a request to the end of its answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._decisions = prometheus.Counter(
            "driftanchor_decisions_total",
            "Decisions that were answered: new ones and ones made before.",
            ["campaign", "answer"],
            registry=registry,
        )
        self._rewards = prometheus.Counter(
            "driftanchor_rewards_total",
            "Rewards by their effect.",
            ["campaign", "status"],
            registry=registry,
        )
        self._defaults = prometheus.Counter(
            "driftanchor_defaults_total",
            "Default arms that clients played because no answer came in time.",
            ["campaign"],
            registry=registry,
        )
        self._batches = prometheus.Histogram(
            "driftanchor_transaction_requests",
            "How many requests were written in one transaction.",
            buckets=SIZES,
            registry=registry,
        )
        self._failures = prometheus.Counter(
            "driftanchor_store_failures_total",
            "Transactions that failed because the store was unavailable or read-only.",
            registry=registry,
        )
        self.waiting = prometheus.Gauge(
            "driftanchor_waiting_requests",
            "Requests that wait for the store.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        build = prometheus.Gauge(
            "driftanchor_build_info",
            "Always 1; the label says the version.",
            ["version"],
            multiprocess_mode="max",
            registry=registry,
        )
        build.labels(__version__).set(1)
        # Looking up a series by its labels takes longer than counting.
        self._series = functools.cache(
            lambda method, route, status: (
                self._requests.labels(method, route, str(status)),
                self._seconds.labels(route),
            )
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = method if method in METHODS else "other"
        count, duration = self._series(known, route, status)
        count.inc()
        duration.observe(seconds)

    def decided(self, campaign: str, decision: Decision) -> None:
        """Count a decision."""
        answer = "replayed" if decision.replayed else "new"
        self._decisions.labels(campaign, answer).inc()

    def rewarded(self, campaign: str, receipt: Receipt) -> None:
        """Count a reward."""
        self._rewards.labels(campaign, receipt.status).inc()

    def defaulted(self, campaign: str) -> None:
        """Count a default that a caller played."""
        self._defaults.labels(campaign).inc()

    def written(self, requests: int, error: Exception | None) -> None:
        """Count a transaction; the number of failed ones is separate."""
        self._batches.observe(requests)
        if error is not None:
            self._failures.inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format, of all workers together."""
        registry = self.registry
        if SHARED in os.environ:
            registry = prometheus.CollectorRegistry()
            shared: Any = multiprocess
            shared.MultiProcessCollector(registry)
        return prometheus.generate_latest(registry)
