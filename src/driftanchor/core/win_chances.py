"""The probability that each arm has the largest index, given the laws of all indices.

With F_i the law of arm i's index and G = Π F_i that of the largest one, arm i wins with probability
∫ Π_{j≠i} F_j dF_i = ∫ G/F_i dF_i. We cut the line at every atom and into panels that are about as
wide as the narrowest law around them, with Gauss–Legendre nodes on each. The parts of all arms must
add up to the increase of G over the panel, which is known: panels without an increase are skipped,
panels whose sum is off are halved.

At an atom we integrate over 0 ≤ s ≤ 1, with P(below) + s P(there) in place of F_i. Since
∫ sⁿ ds = 1/(n + 1), each of n + 1 tied arms gets an equal share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core.beta_law import beta_below, beta_density, beta_ends, beta_sd
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.index_law import BETA, MEDIAN, MIXTURE, IndexLaw
from driftanchor.core.legendre import POINTS, WEIGHTS

NEVER = -1.0  # the kind of an arm that cannot be played
REACH = 6.5  # a normal is further than this from its mean, in sds, with a chance of 1e-10
WIDTH = 2.0  # of panels, in sds of the narrowest law; some are half as wide
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(6)
SKIPPED = 1e-7  # sum of the increases of G that are left out in each row
CLOSE = 1e-8  # allowed error of the sum over all arms on one panel
HALVINGS = 60
MANY = 30  # arms; with more, it pays to find the range of the largest index first
CHUNK = 50_000  # numbers computed at once: they fit the cache
TINY = 1e-300
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


Laws = Floats  # one law per row, with the fields of `IndexLaw` as columns
Column = Any  # a list or an array of numbers


class Columns(NamedTuple):
    """The fields of `IndexLaw`, each an array of shape (rows, arms)."""

    kind: Floats
    place: Floats
    mean: Floats
    sd: Floats
    other_mean: Floats
    other_sd: Floats


def write_law(laws: Laws, row: int, law: IndexLaw) -> None:
    """Write a law into one row; an index that is not a number never wins. Can be compiled."""
    laws[row, 0] = law.kind
    laws[row, 1] = law.place
    laws[row, 2] = law.mean
    laws[row, 3] = law.sd
    laws[row, 4] = law.other_mean
    laws[row, 5] = law.other_sd
    if math.isnan(law.place) or math.isnan(law.mean) or math.isnan(law.other_mean):
        laws[row, 0] = NEVER


def win_chances(laws: Floats) -> Floats:
    """Return the probability that each arm has the largest index, with ties split evenly.

    The sum's distance from 1 is the error; the caller checks it. All are 0 if no arm can win.

    Args:
        laws: The laws of all arms, of shape (..., arms, 6); the columns are those of `IndexLaw`.

    Example:
        >>> from driftanchor.core.index_law import constant, one_sample
        >>> win_chances(np.array([one_sample(0, 1), one_sample(0, 2), constant(0)])).round(6)
        array([0.375, 0.375, 0.25 ])
    """
    rows = Columns(*np.moveaxis(laws.reshape(-1, *laws.shape[-2:]), -1, 0))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = ends(rows)
        playable = rows.kind != NEVER
        floor = low.max(axis=1, where=playable, initial=-np.inf)
        alive = playable & (high >= floor[:, None])
        count = alive.sum(axis=1)
        chances: Floats = alive / np.maximum(count, 1)[:, None]  # right if all are constants
        drawn = (count > 1) & (alive & (low < high)).any(axis=1)
        if drawn.all():
            chances = _integrated(rows, low, high, alive)
        elif drawn.any():
            part = Columns(*(column[drawn] for column in rows))
            chances[drawn] = _integrated(part, low[drawn], high[drawn], alive[drawn])
    return chances.reshape(laws.shape[:-1])


def ends(laws: Columns) -> tuple[Floats, Floats]:
    """Return two numbers for each law that the index is hardly ever outside of."""
    reach, other_reach = REACH * laws.sd, REACH * laws.other_sd
    low, high = laws.mean - reach, laws.mean + reach
    other_low, other_high = laws.other_mean - other_reach, laws.other_mean + other_reach
    least, most = np.minimum(low, other_low), np.maximum(high, other_high)
    low = np.maximum(least, np.minimum(np.maximum(low, other_low), laws.place))
    high = np.maximum(np.minimum(high, other_high), np.minimum(most, laws.place))
    if laws.kind.max() > MEDIAN:
        mixed, beta = laws.kind == MIXTURE, laws.kind == BETA
        low[mixed], high[mixed] = least[mixed], most[mixed]
        low[beta], high[beta] = beta_ends(laws.mean[beta], laws.sd[beta])
    return low, high


def _integrated(laws: Columns, low: Floats, high: Floats, alive: Bools) -> Floats:
    """Return the chances for rows with at least one random index."""
    laws, low, high = _prepared(laws, low, high, alive)
    floor, top = low.max(axis=1), high.max(axis=1)
    if alive.shape[1] > MANY:
        floor, top = _narrowed(laws, floor, top)
        alive = alive & (high >= floor[:, None])
    count = int(alive.sum(axis=1).max())
    if count == alive.shape[1]:
        return _parts(laws, low, high, floor, top)
    chances = np.zeros(alive.shape)
    places = np.argsort(~alive, axis=1, kind="stable")[:, :count]
    kept = (np.take_along_axis(column, places, axis=1) for column in (*laws, low, high))
    *columns, low, high = kept
    np.put_along_axis(chances, places, _parts(Columns(*columns), low, high, floor, top), axis=1)
    return chances


def _prepared(
    laws: Columns, low: Floats, high: Floats, alive: Bools
) -> tuple[Columns, Floats, Floats]:
    """Make laws too narrow for floats constants, dead arms −∞, and Beta laws medians."""
    fixed, beta = ~alive | (low == high), laws.kind == BETA
    alone = fixed | beta  # no second sample
    if not alone.any():
        return laws, low, high
    low, high = np.where(alive, low, -np.inf), np.where(alive, high, -np.inf)
    columns = Columns(
        np.where(fixed, MEDIAN, laws.kind),
        np.where(fixed, low, np.where(beta, -np.inf, laws.place)),
        np.where(fixed, -np.inf, laws.mean),
        np.where(fixed, 1.0, laws.sd),
        np.where(alone, np.inf, laws.other_mean),
        np.where(alone, 1.0, laws.other_sd),
    )
    return columns, low, high


def _narrowed(laws: Columns, floor: Floats, top: Floats) -> tuple[Floats, Floats]:
    """Narrow the range of the largest index by bisection, where G says so."""
    steps = math.ceil(math.log2(laws.kind.shape[1])) + 5
    rows = np.arange(floor.size)
    ranges = []
    for least in (True, False):
        left, right = floor, top
        for _ in range(steps):
            middle = 0.5 * (left + right)
            below, _ = _sides(laws, rows, middle)
            g = below.prod(axis=1)
            go_right = g < 0.1 * SKIPPED if least else g < 1.0 - 0.1 * SKIPPED
            left, right = np.where(go_right, middle, left), np.where(go_right, right, middle)
        ranges.append(left if least else right)
    return ranges[0], ranges[1]


def _edges(
    laws: Columns, low: Floats, high: Floats, floor: Floats, top: Floats
) -> tuple[Floats, Ints]:
    """Return the edges of all panels, ascending in each row, and the row of each."""
    beta = laws.kind == BETA if laws.kind.max() == BETA else None
    sides = [(laws.mean, laws.sd), (laws.other_mean, laws.other_sd)]
    lines = [floor[:, None], top[:, None]]
    for mean, sd in sides[: 2 if np.isfinite(laws.other_mean).any() else 1]:
        start = np.maximum(mean - REACH * sd, low)
        end = np.minimum(mean + REACH * sd, high)
        if beta is not None:
            sd = np.where(beta, beta_sd(mean, sd) if mean is laws.mean else 0.0, sd)
            start, end = np.where(beta, low, start), np.where(beta, high, end)
        start, end = np.maximum(start, floor[:, None]), np.minimum(end, top[:, None])
        _, exponent = np.frexp(WIDTH * sd)
        width = np.ldexp(0.5, exponent)  # a power of 2, so that alike laws share their cells
        here = (start < end) & (sd > 0.0)
        first = np.where(here, np.floor(start / width), 0.0)
        cells = np.where(here, np.ceil(end / width) - first, 0.0)
        steps = np.minimum(np.arange(int(cells.max()) + 1.0), cells[..., None])
        at = np.where(here[..., None], (first[..., None] + steps) * width[..., None], -np.inf)
        lines.append(at.reshape(floor.size, -1))
    lines.append(np.where(laws.kind == MEDIAN, laws.place, laws.other_mean))
    edges = np.concatenate(lines, axis=1)
    np.clip(edges, floor[:, None], top[:, None], out=edges)
    edges.sort(axis=1)
    new = np.ones(edges.shape, np.bool_)
    np.greater(edges[:, 1:], edges[:, :-1], out=new[:, 1:])
    return edges[new], np.nonzero(new)[0]


def _parts(laws: Columns, low: Floats, high: Floats, floor: Floats, top: Floats) -> Floats:
    """Integrate over all atoms and panels."""
    chances = np.zeros(low.shape)
    edges, rows = _edges(laws, low, high, floor, top)
    below, mass = _sides(laws, rows, edges)
    g_below, g_at = below.prod(axis=1), (below + mass).prod(axis=1)
    least = SKIPPED * floor.size / edges.size
    there = np.flatnonzero(g_at - g_below > least)
    if there.size:
        _add(chances, rows[there], _won_at_atoms(below[there], mass[there], g_at[there]))
    there = np.flatnonzero((g_below[1:] - g_at[:-1] > least) & (rows[1:] == rows[:-1]))
    rows, left, right = rows[there], edges[there], edges[there + 1]
    g_left, g_right = g_at[there], g_below[there + 1]
    while rows.size:
        won, middle = _won_between(laws, rows, left, right), 0.5 * (left + right)
        off = np.abs(won.sum(axis=1) - (g_right - g_left)) > CLOSE
        off &= (left < middle) & (middle < right)
        _add(chances, rows[~off], won[~off])
        rows, left, right, middle = rows[off], left[off], right[off], middle[off]
        g_middle = _sides(laws, rows, middle)[0].prod(axis=1)
        g_left, g_right = _both(g_left[off], g_middle), _both(g_middle, g_right[off])
        rows, left, right = _both(rows, rows), _both(left, middle), _both(middle, right)
    return chances


def _both(first: Any, second: Any) -> Any:
    """Return the first of each, then the second of each, in turn."""
    return np.stack([first, second], axis=1).ravel()


def _add(chances: Floats, rows: Ints, won: Floats) -> None:
    """Add parts to their rows, which ascend."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if starts.size:
        chances[rows[starts]] += np.add.reduceat(won, starts, axis=0)


def _sides(laws: Columns, rows: Ints, levels: Floats) -> tuple[Floats, Floats]:
    """Return the probability of each index to be below a level of its row, and exactly there."""
    below, mass = np.empty((2, rows.size, laws.kind.shape[1]))
    for part in _chunks(rows.size, below.shape[1]):
        here, x = _taken(laws, rows[part]), levels[part, None]
        first, second = _samples_below(here, x)
        below[part] = _index_below(here, x > here.place, first, second)
        there = np.where(x == here.place, first + second - 2.0 * first * second, 0.0)
        if (here.kind == MIXTURE).any():
            on = (here.other_sd == 0.0) & (x == here.other_mean)
            there = np.where(here.kind == MIXTURE, on * (1.0 - here.place), there)
        mass[part] = there
    return below, mass


def _won_between(laws: Columns, rows: Ints, left: Floats, right: Floats) -> Floats:
    """Return what each arm wins on panels without atoms."""
    won = np.empty((rows.size, laws.kind.shape[1]))
    half = 0.5 * (right - left)
    nodes = (left + half)[:, None] + half[:, None] * NODES
    for part in _chunks(rows.size, NODES.size * won.shape[1]):
        here = Columns(*(column[:, None] for column in _taken(laws, rows[part])))
        x, above = nodes[part, :, None], left[part, None, None] >= here.place
        first, second = _samples_below(here, x)
        dense, other_dense = _samples_dense(here, x, half[part, None, None])
        slope = dense * np.where(above, 1.0 - second, second)
        slope += other_dense * np.where(above, 1.0 - first, first)
        if (here.kind == MIXTURE).any():
            both = here.place * dense + (1.0 - here.place) * other_dense
            slope = np.where(here.kind == MIXTURE, both, slope)
        won[part] = _won(_index_below(here, above, first, second), slope, NODE_WEIGHTS)
    return won


def _won_at_atoms(below: Floats, mass: Floats, g_at: Floats) -> Floats:
    """Return what each arm wins at atoms, a row for each."""
    ties = int((mass > 0.0).sum(axis=1).max())
    if ties == 1:
        alone: Floats = g_at[:, None] * (mass / (below + mass))
        return alone
    # Ten nodes are exact for 20 ties. With more, G gathers near s = 1, and so do the panels.
    cuts = 1.0 - 0.5 ** np.arange(math.ceil(math.log2(ties / 20)) + 1) if ties > 20 else np.zeros(1)
    half = 0.5 * np.diff(cuts, append=1.0)[:, None]
    s = (cuts[:, None] + half * (1.0 + POINTS)).ravel()
    won, weights = np.empty(below.shape), (half * WEIGHTS).ravel()
    for part in _chunks(below.shape[0], s.size * below.shape[1]):
        slope = mass[part, None]
        won[part] = _won(below[part, None] + s[:, None] * slope, slope, weights)
    return won


def _won(law: Floats, slope: Floats, weights: Floats) -> Floats:
    """Return ∫ G/F dF for each arm, from F and dF at the nodes of the middle axis."""
    law = np.maximum(law, TINY)
    g = law.prod(axis=2) * weights
    won: Floats = (slope / law * g[..., None]).sum(axis=1)
    return won


def _index_below(laws: Columns, above: Bools, first: Floats, second: Floats) -> Floats:
    """Return the probability of an index to be below a level, from those of its samples."""
    both = first * second
    below = np.where(above, first + second - both, both)
    if (laws.kind == MIXTURE).any():
        mixed = laws.place * first + (1.0 - laws.place) * second
        below = np.where(laws.kind == MIXTURE, mixed, below)
    return below


def _samples_below(laws: Columns, x: Floats) -> tuple[Floats, Floats]:
    """Return the probability of both samples to be below a level."""
    from scipy.special import ndtr

    first: Floats = ndtr((x - laws.mean) / laws.sd)
    beta = laws.kind == BETA
    if beta.any():
        first = np.where(beta, beta_below(laws.mean, laws.sd, x), first)
    if not np.isfinite(laws.other_mean).any():
        return first, (laws.other_mean < 0.0).astype(np.float64)
    second = ndtr((x - laws.other_mean) / laws.other_sd)
    second[np.isnan(second)] = 0.0  # a constant is not below itself
    return first, second


def _samples_dense(laws: Columns, x: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Return the densities of both samples, times a scale."""
    z = (x - laws.mean) / laws.sd
    first = np.exp(-0.5 * z * z) * (_DENSITY * scale / laws.sd)
    beta = laws.kind == BETA
    if beta.any():
        first = np.where(beta, beta_density(laws.mean, laws.sd, x) * scale, first)
    if not np.isfinite(laws.other_mean).any():
        return first, np.zeros(1)
    z = (x - laws.other_mean) / laws.other_sd
    second = np.exp(-0.5 * z * z) * (_DENSITY * scale / np.maximum(laws.other_sd, TINY))
    return first, second


def _taken(laws: Columns, rows: Ints) -> Columns:
    """Return the laws of some rows."""
    return Columns(*(column[rows] for column in laws))


def _chunks(size: int, each: int) -> Iterator[slice]:
    """Cut rows of `each` numbers into chunks."""
    step = max(1, CHUNK // each)
    return (slice(i, i + step) for i in range(0, size, step))
