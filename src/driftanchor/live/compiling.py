"""Compiles the rules of policies in the background while decisions are interpreted.

Kernels are cached in the process, one for each policy class and type of pulls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from driftanchor.compiled import kernels
from driftanchor.compiled.rules import live_chooser
from driftanchor.core.evidence import Evidence
from driftanchor.live.background import compile_once
from driftanchor.policies.base import Policy

Kernel = Callable[..., Any]
Kind = tuple[type, type]  # type of the policy's numbers, type of pulls

_kernels: dict[Kind, Kernel] = {}


def kind_of(policy: Policy, evidence: Evidence) -> Kind:
    """Return the cache key of a kernel: the policy's class and the type of pulls."""
    return kernels.policy_type(policy), evidence.pulls.dtype.type


def ready(kind: Kind) -> Kernel | None:
    """Return the compiled rule, if it is ready."""
    return _kernels.get(kind)


def request(kind: Kind, policy: Policy, arguments: tuple[Any, ...]) -> None:
    """Compile the rule of a policy for arguments of these types, once.

    Without Numba, or if the policy cannot be compiled, the rule never becomes ready.
    """
    work = functools.partial(_compile, kind, policy, arguments)
    compile_once(("decisions", kind), work)


def _compile(kind: Kind, policy: Policy, arguments: tuple[Any, ...]) -> None:
    rule = kernels.rule(policy, live_chooser, *arguments)
    _kernels[kind] = kernels.entry(rule, *arguments)
