"""The probability that each arm has the largest index, given the distributions of all indices.

Let F_i be the distribution function of arm i's index. The largest index has the distribution
function G = Π F_i. Arm i wins with probability ∫ Π_{j≠i} F_j dF_i = ∫ G/F_i dF_i. An atom is a
value that some index takes with positive probability. We split the real line at every atom, then
into panels about as wide as the narrowest distribution nearby, and integrate over each panel by
Gauss–Legendre quadrature. The integrals of all arms must add up to the increase of G over the
panel, which is known. We skip panels on which G hardly increases. If the sum for a panel is off, we
halve the panel.

At an atom x we replace F_i by P(index < x) + s P(index = x) and integrate over 0 ≤ s ≤ 1. Since
∫ sⁿ ds = 1/(n + 1), each of n + 1 tied arms gets an equal share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.index_law import BETA, MEDIAN, MIXTURE, NEVER, constant

REACH = 6.5  # in sds: a normal sample is farther than this from its mean with probability 1e-10
WIDTH = 3.0  # of panels, in sds of the narrowest distribution nearby; rounded to a power of 2
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)  # for each panel
TIE_NODES, TIE_WEIGHTS = np.polynomial.legendre.leggauss(10)  # for each atom with ties
SKIPPED = 1e-7  # total increase of G that may be skipped in each row
CLOSE = 5e-8  # allowed error of the sum over all arms on one panel
MANY = 60  # with more arms, it pays to narrow the range of the largest index first
CHUNK = 50_000  # numbers computed at once, so that they fit into the CPU cache
TINY = 1e-300
FAR = 26.0  # a sample leaves the range of `beta_ends` with probability at most 2 exp(−26) = 1e-11
SQRT_2_PI = math.sqrt(2.0 * math.pi)
KIND, PLACE, MEAN, SD, OTHER_MEAN, OTHER_SD = range(6)
BOTH_SIGNS = np.array([-1.0, 1.0])[:, None, None, None]
MEANS, SDS = slice(MEAN, None, 2), slice(SD, None, 2)  # of both samples


def win_chances(laws: Floats) -> Floats:
    """Return the probability that each arm has the largest index, with ties split evenly.

    Numerical errors can make the sum of the probabilities differ from 1; the caller checks this. If
    no arm can win, all probabilities are 0. `laws` has shape (..., arms, 6): `IndexLaw` fields.

    Example:
        >>> from driftanchor.core.index_law import constant, one_sample
        >>> win_chances(np.array([one_sample(0, 1), one_sample(0, 1), constant(0)])).round(6)
        array([0.375, 0.375, 0.25 ])
    """
    columns = laws.reshape(-1, *laws.shape[-2:]).transpose(2, 1, 0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = _ends(columns)
        alive = columns[KIND] != NEVER
        alive &= high >= low.max(axis=0, where=alive, initial=-np.inf)
        count = alive.sum(axis=0)
        random = (alive & (low < high)).any(axis=0) & (count > 1)
        if random.all():
            chances = _integrated(columns, low, high, alive)
        else:
            chances = alive / np.maximum(count, 1)
            if random.any():
                rows = columns[..., random], low[:, random], high[:, random], alive[:, random]
                chances[:, random] = _integrated(*rows)
    return chances.T.reshape(laws.shape[:-1])


def nodes_of_largest(laws: Floats) -> tuple[Ints, Floats, Floats]:
    """Return quadrature nodes for integrals over the value of the largest index in each row.

    `laws` has shape (rows, arms, 6), and every index must be continuous. Returns the row, the
    position and the weight of each node.
    """
    columns = laws.transpose(2, 1, 0)
    with np.errstate(invalid="ignore"):
        low, high = _ends(columns)
        batch = _prepared(columns, low, high, np.ones(low.shape, np.bool_))
        edges, rows = _edges(batch, low.max(axis=0), high.max(axis=0))
    is_panel = rows[1:] == rows[:-1]
    left, right = edges[:-1][is_panel, None], edges[1:][is_panel, None]
    half = 0.5 * (right - left)
    places, weights = left + half * (1.0 + NODES), half * NODE_WEIGHTS
    return rows[:-1][is_panel].repeat(NODES.size), places.ravel(), weights.ravel()


def _ends(columns: Floats) -> tuple[Floats, Floats]:
    """Return the ends of a range for each index. P(index outside its range) is negligible."""
    reach = REACH * columns[SDS]
    least, most = columns[MEANS] - reach, columns[MEANS] + reach  # of both samples
    place = columns[PLACE]
    low, high = np.minimum(*least), np.maximum(*most)
    inner_low = np.maximum(low, np.minimum(np.maximum(*least), place))
    inner_high = np.maximum(np.minimum(*most), np.minimum(high, place))
    if columns[KIND].max() <= MEDIAN:
        return inner_low, inner_high
    mixed, beta = columns[KIND] == MIXTURE, columns[KIND] == BETA
    low, high = np.where(mixed, low, inner_low), np.where(mixed, high, inner_high)
    low[beta], high[beta] = beta_ends(columns[MEAN][beta], columns[SD][beta])
    return low, high


class _Batch(NamedTuple):
    """The index distributions of many rows, prepared for integration."""

    columns: Floats  # (6, arms, rows)
    low: Floats  # lower end of each index's range, (arms, rows)
    high: Floats  # upper end
    has_pairs: bool  # whether an index has two random samples
    has_mixtures: bool
    has_betas: bool
    has_atoms: bool

    def at(self, rows: Ints) -> Floats:
        """Return `columns` for the given rows; a single row broadcasts, so it is not repeated."""
        return self.columns if self.low.shape[1] == 1 else self.columns.take(rows, axis=2)


def _integrated(columns: Floats, low: Floats, high: Floats, alive: Bools) -> Floats:
    """Return each arm's probability of winning, for rows that need integration."""
    batch = _prepared(columns, low, high, alive)
    floor, top = batch.low.max(axis=0), batch.high.max(axis=0)
    if alive.shape[0] > MANY:
        floor, top = _narrowed(batch, floor, top)
        alive = batch.high >= floor
    count = int(alive.sum(axis=0).max())
    if count == alive.shape[0]:
        return _parts(batch, floor, top)
    places = np.argsort(~alive, axis=0, kind="stable")[:count]
    fewer = batch._replace(
        columns=np.take_along_axis(batch.columns, places[None], axis=1),
        low=np.take_along_axis(batch.low, places, axis=0),
        high=np.take_along_axis(batch.high, places, axis=0),
    )
    chances = np.zeros(alive.shape)
    np.put_along_axis(chances, places, _parts(fewer, floor, top), axis=0)
    return chances


def _prepared(columns: Floats, low: Floats, high: Floats, alive: Bools) -> _Batch:
    """Prepare index distributions for integration.

    If an arm cannot win, its index becomes the constant −∞. If both ends of an index's range are
    the same float, the index becomes a constant. A Beta sample gets an anchor of −∞ and a second
    sample of +∞, so that the Beta sample is the median of the three.
    """
    kind = columns[KIND]
    largest = kind.max()
    fixed = (low == high) | ~alive
    if largest == BETA or fixed.any():
        columns = columns.copy()
        beta = kind == BETA
        columns[PLACE][beta] = -np.inf
        columns[OTHER_MEAN][beta] = np.inf
        low, high = np.where(alive, low, -np.inf), np.where(alive, high, -np.inf)
        columns[:, fixed] = np.array(constant(0.0))[:, None]
        columns[PLACE][fixed] = low[fixed]
    has_mixtures = largest > MEDIAN and bool((columns[KIND] == MIXTURE).any())
    has_pairs = has_mixtures or bool(np.isfinite(columns[OTHER_MEAN]).any())
    has_atoms = has_pairs or columns[PLACE].max() > -np.inf
    return _Batch(columns, low, high, has_pairs, has_mixtures, largest == BETA, has_atoms)


def _narrowed(batch: _Batch, floor: Floats, top: Floats) -> tuple[Floats, Floats]:
    """Narrow the range [floor, top] of the largest index in each row, by bisection.

    Below the narrower range, the distribution function of the largest index is almost 0. Above it,
    the function is almost 1.
    """
    rows, found = np.arange(floor.size), []
    for level in (0.1 * SKIPPED, 1.0 - 0.1 * SKIPPED):
        left, right = floor, top
        for _ in range(math.ceil(math.log2(batch.low.shape[0])) + 5):
            middle = 0.5 * (left + right)
            is_below = _sides(batch, rows, middle)[0].prod(axis=0) < level
            left, right = np.where(is_below, middle, left), np.where(is_below, right, middle)
        found.append((left, right))
    return found[0][0], found[1][1]


def _edges(batch: _Batch, floor: Floats, top: Floats) -> tuple[Floats, Ints]:
    """Return the edges of all integration panels, sorted within each row, and the row of each edge.

    Each sample contributes a grid of edges over its range. Grid widths are powers of 2, so that
    similar distributions share edges.
    """
    columns, low, high = batch.columns, np.maximum(batch.low, floor), np.minimum(batch.high, top)
    samples = 2 if batch.has_pairs else 1
    mean, sd = columns[MEANS][:samples], columns[SDS][:samples]
    ends = np.clip(mean + REACH * sd * BOTH_SIGNS, low, high)
    if batch.has_betas:
        beta = (columns[KIND] == BETA) & (np.arange(samples)[:, None, None] == 0)
        sd = np.where(beta, beta_sd(columns[MEAN], columns[SD]), sd)
        ends = np.where(beta, np.stack([low, high])[:, None], ends)
    width = np.ldexp(0.5, np.frexp(WIDTH * sd)[1])
    ends /= width
    first = np.floor(ends[0])
    count = np.ceil(ends[1]) - first
    is_empty = (ends[0] >= ends[1]) | (sd == 0.0)
    first[is_empty], count[is_empty] = -np.inf, 0.0
    steps = np.arange(count.max() + 1.0)[:, None, None, None]
    cells = (first + np.minimum(steps, count)) * width
    lines = [floor[None], top[None], cells.reshape(-1, floor.size)]
    if batch.has_atoms:
        atoms = columns[PLACE]
        if batch.has_mixtures:
            atoms = np.where(columns[KIND] == MIXTURE, columns[OTHER_MEAN], atoms)
        lines.append(atoms)
    if batch.has_betas:
        lines.append(np.repeat([[0.0], [1.0]], floor.size, axis=1))
    edges = np.clip(np.concatenate(lines), floor, top).T.copy()
    edges.sort(axis=1)
    new = np.ones(edges.shape, np.bool_)
    np.greater(edges[:, 1:], edges[:, :-1], out=new[:, 1:])
    return edges[new], new.nonzero()[0]


def _parts(batch: _Batch, floor: Floats, top: Floats) -> Floats:
    """Return each arm's probability of winning, summed over all atoms and panels."""
    chances = np.zeros(batch.low.shape)
    edges, rows = _edges(batch, floor, top)
    below, mass = _sides(batch, rows, edges)
    g_below = g_at = below.prod(axis=0)
    least = SKIPPED * floor.size / edges.size
    if batch.has_atoms:
        g_at = (below + mass).prod(axis=0)
        at = (g_at - g_below > least).nonzero()[0]
        _add(chances, rows[at], _won_at_atoms(below[:, at], mass[:, at], g_at[at]))
    at = ((g_below[1:] - g_at[:-1] > least) & (rows[1:] == rows[:-1])).nonzero()[0]
    rows, left, right = rows[at], edges[at], edges[at + 1]
    g_left, g_right = g_at[at], g_below[at + 1]
    while rows.size:
        won, middle = _won_between(batch, rows, left, right), 0.5 * (left + right)
        off = np.abs(won.sum(axis=0) - (g_right - g_left)) > CLOSE
        off &= (left < middle) & (middle < right)
        if not off.any():
            _add(chances, rows, won)
            break
        _add(chances, rows[~off], won[:, ~off])
        rows, left, right, middle = rows[off], left[off], right[off], middle[off]
        g_middle = _sides(batch, rows, middle)[0].prod(axis=0)
        g_left, g_right = _in_turn(g_left[off], g_middle), _in_turn(g_middle, g_right[off])
        left, right = _in_turn(left, middle), _in_turn(middle, right)
        rows = rows.repeat(2)
    return chances


def _in_turn(first: Floats, second: Floats) -> Floats:
    """Interleave two arrays."""
    return np.stack([first, second], axis=1).ravel()


def _add(chances: Floats, rows: Ints, won: Floats) -> None:
    """Add `won[:, j]` to `chances[:, rows[j]]` for every j. `rows` must be sorted."""
    if chances.shape[1] == 1:
        chances[:, 0] += won.sum(axis=1)
    elif rows.size:
        starts = np.diff(rows, prepend=-1).nonzero()[0]
        chances[:, rows[starts]] += np.add.reduceat(won, starts, axis=1)


def _sides(batch: _Batch, rows: Ints, levels: Floats) -> tuple[Floats, Floats]:
    """Return two arrays of shape (arms, levels): P(index < level) and P(index = level).

    `rows[i]` is the row evaluated at `levels[i]`.
    """
    below, mass = np.zeros((2, batch.low.shape[0], rows.size))
    for part in chunks(rows.size, below.shape[0]):
        columns, x = batch.at(rows[part]), levels[part]
        first, second = _samples_below(batch, columns, x, _standardised(batch, columns, x))
        if not batch.has_atoms:
            below[:, part] = first
            continue
        both, place = first * second, columns[PLACE]
        either = first + second - both
        under, there = np.where(x > place, either, both), np.where(x == place, either - both, 0.0)
        if batch.has_mixtures:
            mixed = columns[KIND] == MIXTURE
            is_there = (x == columns[OTHER_MEAN]) & (columns[OTHER_SD] == 0.0)
            under = np.where(mixed, place * first + (1.0 - place) * second, under)
            there = np.where(mixed, np.where(is_there, 1.0 - place, 0.0), there)
        below[:, part], mass[:, part] = under, there
    return below, mass


def _won_between(batch: _Batch, rows: Ints, left: Floats, right: Floats) -> Floats:
    """Return the probability that each arm wins within each panel, of shape (arms, panels)."""
    won = np.empty((batch.low.shape[0], rows.size))
    half = 0.5 * (right - left)
    nodes = (left + half)[:, None] + half[:, None] * NODES
    for part in chunks(rows.size, NODES.size * won.shape[0]):
        columns, x = batch.at(rows[part].repeat(NODES.size)), nodes[part].ravel()
        law, slope = _laws_at(batch, columns, x, half[part].repeat(NODES.size))
        won[:, part] = _won(law, slope, NODE_WEIGHTS)
    return won


def _laws_at(batch: _Batch, columns: Floats, x: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Return each index's cdf at x, and `scale` times its density at x. x must not be an atom."""
    z = _standardised(batch, columns, x)
    first, second = _samples_below(batch, columns, x, z)
    z *= z
    z *= -0.5
    dense = np.exp(z, out=z)
    dense *= scale / (SQRT_2_PI * columns[SDS][: len(z)])
    if batch.has_mixtures:
        dense[1] = np.where(columns[OTHER_SD] > 0.0, dense[1], 0.0)  # a constant has no density
    if batch.has_betas:
        height = scale * beta_density(columns[MEAN], columns[SD], x)
        dense[0] = np.where(columns[KIND] == BETA, height, dense[0])
    if not batch.has_atoms:
        return first, dense[0]
    place = columns[PLACE]
    # For x above the anchor, the index is below x if either sample is; otherwise, if both are.
    above = x > place
    one, other = np.where(above, 1.0 - first, first), np.where(above, 1.0 - second, second)
    both = one * other
    law, slope = np.where(above, 1.0 - both, both), dense[0] * other
    if batch.has_pairs:
        slope += dense[1] * one
    if batch.has_mixtures:
        mixed, rest = columns[KIND] == MIXTURE, 1.0 - place
        law = np.where(mixed, place * first + rest * second, law)
        slope = np.where(mixed, place * dense[0] + rest * dense[1], slope)
    return law, slope


def _won_at_atoms(below: Floats, mass: Floats, g_at: Floats) -> Floats:
    """Return an array of shape (arms, atoms): the probability that an arm wins at an atom.

    `below` and `mass` have the same shape; they are P(index < atom) and P(index = atom). `g_at` is
    the probability that no index is above the atom. Tied arms win with equal probability.
    """
    ties = int((mass > 0.0).sum(axis=0).max(initial=0))
    if ties <= 1:
        alone: Floats = g_at * (mass / (below + mass))
        return alone
    # Ten nodes are exact for up to 20 ties. With more, G rises steeply near s = 1, so we cut the
    # range of s into pieces that get shorter towards 1.
    cuts = 1.0 - 0.5 ** np.arange(max(1, math.ceil(math.log2(ties / 10))))
    half = 0.5 * np.diff(cuts, append=1.0)[:, None]
    s = (cuts[:, None] + half * (1.0 + TIE_NODES)).ravel()
    weights = (half * TIE_WEIGHTS).ravel()
    won = np.empty(below.shape)
    for part in chunks(below.shape[1], s.size * below.shape[0]):
        slope = mass[:, part].repeat(s.size, axis=1)
        law = below[:, part].repeat(s.size, axis=1)
        law += slope * np.tile(s, law.shape[1] // s.size)
        won[:, part] = _won(law, slope, weights)
    return won


def _won(law: Floats, slope: Floats, weights: Floats) -> Floats:
    """Return ∫ G/F dF for each arm and panel, where G is the product of F over all arms.

    `law` and `slope` have shape (arms, nodes of all panels) and contain F and dF. `weights` are the
    quadrature weights of one panel's nodes.
    """
    law = np.maximum(law, TINY)
    ratio = slope / law
    ratio *= law.prod(axis=0)
    won: Floats = ratio.reshape(law.shape[0], -1, weights.size) @ weights
    return won


def _standardised(batch: _Batch, columns: Floats, x: Floats) -> Floats:
    """Return (x − mean)/sd for the first samples, and for the second samples if there are any."""
    samples = 2 if batch.has_pairs else 1
    z: Floats = (x - columns[MEANS][:samples]) / columns[SDS][:samples]
    return z


def _samples_below(batch: _Batch, columns: Floats, x: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return P(first sample < x) and P(second sample < x) for each index."""
    from scipy.special import ndtr

    below = ndtr(z)
    first = below[0]
    if batch.has_betas:
        first = np.where(columns[KIND] == BETA, beta_below(columns[MEAN], columns[SD], x), first)
    if not batch.has_pairs:
        return first, (columns[OTHER_MEAN] < 0.0).astype(np.float64)
    second = below[1]
    if batch.has_mixtures:
        second = np.where(np.isnan(second), 0.0, second)  # a constant is not below itself
    return first, second


def chunks(size: int, each: int) -> Iterator[slice]:
    """Split `size` rows, with `each` numbers per row, into slices of about `CHUNK` numbers."""
    step = max(1, CHUNK // each)
    return (slice(i, i + step) for i in range(0, size, step))


# The Beta distribution, vectorised.


def beta_below(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return P(θ ≤ x) for θ ~ Beta(a, b).

    Example:
        >>> beta_below(np.array(2.0), np.array(1.0), np.array([0.5])).round(12)
        array([0.25])
    """
    from scipy.special import betainc

    below: Floats = betainc(a, b, np.clip(x, 0.0, 1.0))
    return below


def beta_density(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return the density of Beta(a, b) at x.

    The formula is centred at the mean, so that no digits cancel if a and b are large.
    """
    mean, inside = a / (a + b), (x > 0.0) & (x < 1.0)
    x = np.where(inside, x, 0.5)
    away = x - mean
    log = a * np.log1p(away / mean) + b * np.log1p(-away / (1.0 - mean))
    log += beyond_stirling(a + b) - beyond_stirling(a) - beyond_stirling(b)
    density = np.exp(log) * np.sqrt(a * (1.0 - mean) / (2.0 * np.pi)) / (x * (1.0 - x))
    return np.where(inside, density, 0.0)


def beta_sd(a: Floats, b: Floats) -> Floats:
    """Return the standard deviation of Beta(a, b)."""
    sd: Floats = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
    return sd


def beta_ends(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the ends of a range that misses a Beta(a, b) sample with probability about 1e-11.

    The probability that a sample is more than ε above the mean is at most
    exp(−ε²/(2 (v + c ε/3))), where v is the variance and
    c = max(2 (b − a)/((a + b) (a + b + 2)), 0). For samples below the mean, swap a and b
    (Skorski 2023, Bernstein-type bounds for Beta distribution).
    """
    mean, sd, n = a / (a + b), beta_sd(a, b), a + b
    skew = FAR / 3.0 * 2.0 * (b - a) / (n * (n + 2.0))
    right, left = np.maximum(skew, 0.0), np.maximum(-skew, 0.0)
    wide = 2.0 * FAR * sd * sd
    low = mean - left - np.sqrt(left * left + wide)
    high = mean + right + np.sqrt(right * right + wide)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def beyond_stirling(z: Floats) -> Floats:
    """Return the error of Stirling's formula: log Γ(z) − [(z − ½) log z − z + ½ log 2π]."""
    from scipy.special import gammaln

    w = 1.0 / (z * z)
    large = (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0)))) / z
    small = gammaln(z) - (z - 0.5) * np.log(z) + z - 0.5 * np.log(2.0 * np.pi)
    found: Floats = np.where(z < 16.0, small, large)
    return found
