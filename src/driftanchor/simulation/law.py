"""Law: what the means of a random bandit are drawn from, anew in each run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from driftanchor.core import check
from driftanchor.core.promises import Range
from driftanchor.errors import InvalidInput, UnknownName, shown

PARAMETERS = {"normal": ("mean", "sd"), "uniform": ("low", "high"), "beta": ("a", "b")}
KINDS = tuple(PARAMETERS)
STEPS = 60  # of a bisection
FARTHEST = 14.0  # standard deviations: no normal of `driftanchor.core.noise` is farther out


@dataclass(frozen=True)
class Law:
    """A law of numbers; make one with `Law.normal`, `Law.uniform` or `Law.beta`.

    Attributes:
        kind: `"normal"`, `"uniform"` or `"beta"`.
        first: Its mean, its lowest number, or its a.
        second: Its standard deviation, its highest number, or its b.

    Example:
        >>> str(Law.normal(0, 1)), Law.uniform(0.1, 0.3).ends
        ('normal(mean=0, sd=1)', (0.1, 0.3))
    """

    kind: str
    first: float
    second: float

    def __post_init__(self) -> None:
        one, other = PARAMETERS[check.choice(self.kind, "law", KINDS)]
        of = f"law {self.kind!r}"
        lows = {"sd": 0.0, "a": 1.0, "b": 1.0}
        first, second = (
            check.number(value, name, of=of, low=lows.get(name, -1e100), high=1e100)
            for name, value in ((one, self.first), (other, self.second))
        )
        if self.kind == "uniform" and first > second:
            raise InvalidInput(f"of {of} is {first:g} and high is {second:g}", argument="low")
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)

    @classmethod
    def normal(cls, mean: float, sd: float) -> Law:
        """A normal law."""
        return cls("normal", mean, sd)

    @classmethod
    def uniform(cls, low: float, high: float) -> Law:
        """Every number between two is as likely."""
        return cls("uniform", low, high)

    @classmethod
    def beta(cls, a: float, b: float) -> Law:
        """A Beta law on [0, 1]; a and b are at least 1."""
        return cls("beta", a, b)

    @classmethod
    def of(cls, words: object, argument: str) -> Law:
        """The law that a table such as `{"law": "normal", "mean": 0, "sd": 1}` describes."""
        if not isinstance(argument, str):
            raise InvalidInput(f"must be text, got {shown(argument)}", argument="argument")
        if not isinstance(words, Mapping) or "law" not in words:
            raise InvalidInput(
                f"must name a law, such as law = 'normal', got {shown(words)}", argument=argument
            )
        kind = check.choice(words["law"], "law", KINDS, of=argument)
        known = ("law", *PARAMETERS[kind])
        for word in words:
            if word not in known:
                raise UnknownName(f"word of the law of {argument}", word, known, argument=argument)
        for word in known:
            if word not in words:
                raise InvalidInput(f"has a law {kind!r} without {word}", argument=argument)
        first, second = (check.number(words[name], name, of=argument) for name in known[1:])
        return cls(kind, first, second)

    @property
    def mean(self) -> float:
        """The mean of the numbers."""
        if self.kind == "normal":
            return self.first
        if self.kind == "uniform":
            return (self.first + self.second) / 2
        return self.first / (self.first + self.second)

    @property
    def ends(self) -> Range:
        """The lowest and the highest number that is ever drawn."""
        if self.kind == "normal":
            reach = FARTHEST * self.second
            return self.first - reach, self.first + reach
        return (self.first, self.second) if self.kind == "uniform" else (0.0, 1.0)

    def below(self, x: float) -> float:
        """The probability of a number of at most x."""
        x = check.number(x, "x")
        low, high = self.ends
        if not low < x < high:
            return 1.0 if x >= high else 0.0
        if self.kind == "normal":
            return NormalDist(self.first, self.second).cdf(x)
        if self.kind == "uniform":
            return (x - low) / (high - low)
        from scipy.special import betainc

        return float(betainc(self.first, self.second, x))

    def quantile(self, p: float) -> float:
        """The number that a draw is at most with probability p."""
        low, high = self.ends
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.below(middle) >= p else (middle, high)
        return high

    def __str__(self) -> str:
        one, other = PARAMETERS[self.kind]
        return f"{self.kind}({one}={self.first:g}, {other}={self.second:g})"
