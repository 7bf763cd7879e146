"""Random bandits: each run draws new online means, and logged means around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from driftanchor.core import check
from driftanchor.core.arms import MAX_ARMS
from driftanchor.core.check import Floats, Ints
from driftanchor.core.promises import Range
from driftanchor.errors import InvalidInput, UnknownName, shown
from driftanchor.simulation.bandit import Bandit

PARAMETERS = {"normal": ("mean", "sd"), "uniform": ("low", "high"), "beta": ("a", "b")}
KINDS = tuple(PARAMETERS)
MAX_DEVIATIONS = 14.0  # standard deviations: `driftanchor.core.noise` draws no larger normal


@dataclass(frozen=True)
class Law:
    """A probability distribution; make one with `Law.normal`, `Law.uniform` or `Law.beta`.

    Attributes:
        kind: `"normal"`, `"uniform"` or `"beta"`.
        first: Mean (normal), lower bound (uniform) or parameter a (beta).
        second: Standard deviation (normal), upper bound (uniform) or parameter b (beta).

    Example:
        >>> str(Law.normal(0, 1)), Law.uniform(0.1, 0.3).support
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
            raise InvalidInput(
                f"of {of} is {first:g} and high is {second:g}: low must be at most high",
                argument="low",
            )
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)

    @classmethod
    def normal(cls, mean: float, sd: float) -> Law:
        """Return a normal distribution."""
        return cls("normal", mean, sd)

    @classmethod
    def uniform(cls, low: float, high: float) -> Law:
        """Return the uniform distribution on [low, high]."""
        return cls("uniform", low, high)

    @classmethod
    def beta(cls, a: float, b: float) -> Law:
        """Return a Beta distribution on [0, 1]; a and b must be at least 1."""
        return cls("beta", a, b)

    @classmethod
    def of(cls, table: object, argument: str) -> Law:
        """Parse a table such as `{"law": "normal", "mean": 0, "sd": 1}`.

        Args:
            table: The table.
            argument: The name of the table in error messages.
        """
        if not isinstance(argument, str):
            raise InvalidInput(f"must be text, got {shown(argument)}", argument="argument")
        if not isinstance(table, Mapping) or "law" not in table:
            raise InvalidInput(
                f"must name a law, such as law = 'normal', got {shown(table)}", argument=argument
            )
        kind = check.choice(table["law"], "law", KINDS, of=argument)
        known = ("law", *PARAMETERS[kind])
        for key in table:
            if key not in known:
                raise UnknownName(f"key of the law of {argument}", key, known, argument=argument)
        for key in known:
            if key not in table:
                raise InvalidInput(f"has a law {kind!r} without {key}", argument=argument)
        first, second = (check.number(table[name], name, of=argument) for name in known[1:])
        return cls(kind, first, second)

    @property
    def mean(self) -> float:
        """The expected value."""
        if self.kind == "normal":
            return self.first
        if self.kind == "uniform":
            return (self.first + self.second) / 2
        return self.first / (self.first + self.second)

    @property
    def support(self) -> Range:
        """The lowest and the highest number that can be drawn."""
        if self.kind == "normal":
            width = MAX_DEVIATIONS * self.second
            return self.first - width, self.first + width
        return (self.first, self.second) if self.kind == "uniform" else (0.0, 1.0)

    def cdf(self, x: float) -> float:
        """Return the probability that a draw is at most x."""
        from scipy import special

        x = check.number(x, "x")
        low, high = self.support
        if not low < x < high:
            return 1.0 if x >= high else 0.0
        if self.kind == "normal":
            return float(special.ndtr((x - self.first) / self.second))
        if self.kind == "uniform":
            return (x - low) / (high - low)
        return float(special.betainc(self.first, self.second, x))

    def quantile(self, p: float) -> float:
        """Return the p-quantile: a draw is at most this number with probability p."""
        from scipy import special

        p = check.number(p, "p", low=0.0, high=1.0)
        low, high = self.support
        if p in (0.0, 1.0):
            return high if p else low
        if self.kind == "normal":
            return min(max(self.first + self.second * float(special.ndtri(p)), low), high)
        if self.kind == "uniform":
            return low + p * (high - low)
        return float(special.betaincinv(self.first, self.second, p))

    def __str__(self) -> str:
        one, other = PARAMETERS[self.kind]
        return f"{self.kind}({one}={self.first:g}, {other}={self.second:g})"


def random_bandit(
    means: Law,
    arms: int,
    offline_pulls: Sequence[int] | Ints | int = 0,
    bias_bound: Sequence[float] | Floats | float | None = None,
    reward: str = "gaussian",
    noise: Sequence[float] | Floats | float = 1.0,
    *,
    bias: Law | None = None,
    delay: int = 0,
    batch: int = 1,
    relative_bound: Sequence[float] | Floats | float | None = None,
    common_shift: float = 0.0,
) -> Bandit:
    """Make a bandit that draws new means in each run.

    The mean regret over runs is then the Bayesian regret. Run r has the same means for every
    policy, so comparisons of policies are paired, as for any bandit. Runs are independent of one
    another. `instance_of` returns the bandit of one run.

    Args:
        means: The distribution of the online means.
        arms: Number of arms.
        offline_pulls: As for `Bandit`.
        bias_bound: As for `Bandit`. `None` means the true differences of each run, or no bound if
            there is a relative bound.
        reward: As for `Bandit`; Bernoulli rewards need means between 0 and 1.
        noise: Standard deviation of a reward: one number for all arms, or one for each.
        bias: The distribution of an arm's logged mean minus its online mean; `None` for unbiased
            logs. With Bernoulli rewards, logged means are clipped to [0, 1].
        delay: Rounds between a pull and its reward.
        batch: Number of rounds whose arms are chosen together.
        relative_bound: As for `Bandit`.
        common_shift: The move that all arms made together since the logs. It is added to the drawn
            online means.

    Example:
        >>> bandit = random_bandit(Law.uniform(0, 1), 3, reward="bernoulli")
        >>> instance_of(bandit, seed=1, run=0).online.round(3).tolist()
        [0.637, 0.379, 0.44]
    """
    laws: dict[str, object] = {"means": means, **({} if bias is None else {"bias": bias})}
    for name, law in laws.items():
        if not isinstance(law, Law):
            raise InvalidInput(
                f"must be a Law such as Law.normal(0, 1), got {shown(law)}", argument=name
            )
    count = check.whole(arms, "arms", low=1, high=MAX_ARMS)
    move = check.number(common_shift, "common_shift")
    bandit = Bandit(
        [means.mean] * count,
        means.mean,
        offline_pulls,
        bias_bound,
        reward,
        noise,
        delay=delay,
        batch=batch,
        relative_bound=relative_bound,
        common_shift=move,
    )
    low, high = (end + move for end in means.support)
    if reward == "bernoulli" and not 0.0 <= low <= high <= 1.0:
        raise InvalidInput(
            f"are {means}, moved by {move:g}, and may leave [0, 1], where Bernoulli means are: "
            "use Law.beta, or Law.uniform within 0 and 1",
            argument="means",
        )
    vars(bandit).update(means=means, bias=bias)
    return bandit


def instance_of(bandit: Bandit, *, seed: int, run: int) -> Bandit:
    """Return a bandit whose means are fixed at the values that `bandit` draws for run `run`.

    If the means of `bandit` are fixed already, it is returned unchanged.
    """
    # Imported here, because `world` imports Law from this module.
    from driftanchor.simulation.world import drawn_means, settle, world_of

    if bandit.means is None:
        return bandit
    first = check.whole(run, "run")
    world = world_of(bandit, drawn_means(bandit, seed, first, 1, compiled=False), first)
    settle(world, first)
    return Bandit(
        world.online,
        world.offline,
        world.offline_pulls,
        world.bias_bounds,
        bandit.reward,
        bandit.arm_noise,
        delay=bandit.delay,
        batch=bandit.batch,
        relative_bound=bandit.relative_bound,
    )
