"""How likely each arm has the largest index, from the laws of all indices.

With F_i the law of arm i's index and G = Π F_i that of the largest one, arm i wins with probability
∫ Π_{j≠i} F_j dF_i = ∫ G/F_i dF_i. The line is cut where some index has an atom. Between atoms,
panels of Kronrod's rule are halved until the part of each arm agrees with that of Gauss's rule, and
the parts of all arms add up to what G gains over the panel, which is known. The sum alone is not
enough: errors of two arms may cancel. An atom is spread over a panel of its own, 0 ≤ s ≤ 1, on
which an arm has the law P(below) + s P(there): ∫ sⁿ ds = 1/(n + 1) is the share of each of n + 1
tied arms.

The time grows with the number of arms that can win, not with its square. Arms in a row that have
the same law, as before their first reward, are looked at once. Plain scalar code,
interpreted with lists and compiled with arrays; it allocates nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from driftanchor.core.index_law import IndexLaw, at, atom, constant, ends, slope
from driftanchor.core.kronrod import GAUSS, KRONROD, PLACES

NEVER = -1.0  # the kind of the law of an arm that cannot be played
CLOSE = 3e-8  # how well the parts of a panel must add up
AGREE = (
    1e-5  # how far the two rules may differ, summed over arms; Kronrod's is far closer than this
)
NOTHING = 3e-9  # what G gains over a panel that is left out
DEEPEST = 100  # halves of halves

Column = Any  # a list or an array of numbers


class Laws(NamedTuple):
    """The laws of some arms, by columns: the fields of `IndexLaw`."""

    kind: Column
    place: Column
    mean: Column
    sd: Column
    other_mean: Column
    other_sd: Column


class WinDesk(NamedTuple):
    """Room to work: a number for each arm, and panels that wait."""

    alive: Column  # first the rows of the arms that can win
    high: Column  # what their index is hardly above
    again: Column  # 1 where the law is that of the arm before, 0 elsewhere
    below: Column  # P(index < x), where x is looked at
    slope: Column  # its density there, or P(index = x)
    part: Column  # what an arm wins on one panel, by Kronrod's rule
    rough: Column  # the same by Gauss's rule
    waiting: Column  # four numbers for each of DEEPEST panels


def new_desk(arms: int, zeros: Callable[[int], Column], rows: Callable[[int], Column]) -> WinDesk:
    """Room to work for this many arms, of new lists or arrays."""
    per_arm = (zeros(arms), zeros(arms), zeros(arms), zeros(arms))
    return WinDesk(rows(arms), zeros(arms), rows(arms), *per_arm, zeros(4 * DEEPEST))


def law_at(laws: Laws, row: int) -> IndexLaw:
    """The law in one row."""
    return IndexLaw(
        laws.kind[row],
        laws.place[row],
        laws.mean[row],
        laws.sd[row],
        laws.other_mean[row],
        laws.other_sd[row],
    )


def write_law(laws: Laws, row: int, law: IndexLaw) -> None:
    """Put a law into one row; an index that is not a number never wins."""
    if math.isnan(law.place) or math.isnan(law.mean) or math.isnan(law.other_mean):
        laws.kind[row] = NEVER
        return
    least, most = ends(law)
    if least == most:  # too narrow for floats: all draws are the same, and tie with their like
        law = constant(least)
    laws.kind[row] = float(law.kind)
    laws.place[row] = float(law.place)
    laws.mean[row] = float(law.mean)
    laws.sd[row] = float(law.sd)
    laws.other_mean[row] = float(law.other_mean)
    laws.other_sd[row] = float(law.other_sd)


def win_chances(laws: Laws, arms: int, desk: WinDesk, chances: Column) -> None:
    """How likely each arm has the largest index, ties broken at random.

    They add up to 1 as far as they are right: the caller looks. They are 0 where no arm can win.

    Args:
        laws: The laws of all arms, once or several times over.
        arms: The number of arms.
        desk: Room to work.
        chances: Where to write them; as many as there are laws.
    """
    for row in range(len(chances)):
        chances[row] = 0.0
    for first in range(0, len(chances), arms):
        _add_wins(laws, first, arms, desk, chances)


def _add_wins(laws: Laws, first: int, arms: int, desk: WinDesk, chances: Column) -> None:
    """Add what the arms from row `first` on win."""
    low, high, steady = -math.inf, -math.inf, True
    for i in range(arms):
        if laws.kind[first + i] != NEVER:
            least, most = ends(law_at(laws, first + i))
            low, high = max(low, least), max(high, most)
    count = 0
    for i in range(arms):
        if laws.kind[first + i] != NEVER:
            least, most = ends(law_at(laws, first + i))
            if most >= low:
                desk.alive[count], desk.high[count], desk.again[count] = first + i, most, 0
                if count > 0 and _is_same(laws, desk.alive[count - 1], first + i):
                    desk.again[count] = 1
                steady = steady and least == most
                count += 1
    if steady:  # all are constants, and the same
        for k in range(count):
            chances[desk.alive[k]] = 1.0 / count
    else:
        _descend(laws, count, low, high, desk, chances)


def _is_same(laws: Laws, one: int, other: int) -> bool:
    """Whether two rows have the same law."""
    return law_at(laws, one) == law_at(laws, other)


def _descend(
    laws: Laws,
    count: int,
    low: float,
    top: float,
    desk: WinDesk,
    chances: Column,
) -> None:
    """Go down from atom to atom, until the largest index is hardly ever below."""
    cursor = math.inf
    _, gained = _both_sides(laws, count, top, desk)
    while gained > NOTHING and cursor > low:
        bottom = low
        for k in range(count):
            place = atom(law_at(laws, desk.alive[k]))
            if bottom < place < cursor:
                bottom = place
        g_below, g_at = _both_sides(laws, count, bottom, desk)
        if bottom < top and gained - g_at > NOTHING:
            _between(laws, count, bottom, top, g_at, gained, desk, chances)
            g_below, g_at = _both_sides(laws, count, bottom, desk)
        if g_at - g_below > NOTHING:
            _spread(count, g_below, g_at, desk, chances)
        cursor, top, gained = bottom, bottom, g_below


def _both_sides(laws: Laws, count: int, level: float, desk: WinDesk) -> tuple[float, float]:
    """How likely all indices are below a level, and how likely none is above it."""
    g_below, g_at = 1.0, 1.0
    below, mass = 0.0, 0.0
    for k in range(count):
        if desk.again[k] == 0:
            side = at(law_at(laws, desk.alive[k]), level)
            below, mass = side.below, side.mass
        desk.below[k], desk.slope[k] = below, mass
        g_below *= below
        g_at *= below + mass
    return g_below, g_at


def _between(
    laws: Laws,
    count: int,
    left: float,
    right: float,
    g_left: float,
    g_right: float,
    desk: WinDesk,
    chances: Column,
) -> None:
    """Add what each arm wins between two levels with no atom in between."""
    waiting = _wait(desk, 0, left, right, g_left, g_right)
    while waiting > 0:
        waiting -= 1
        left, right, g_left, g_right = _waited(desk, waiting)
        half = 0.5 * (right - left)
        _clear(count, desk)
        for node in range(PLACES.size):
            level = left + half * (1.0 + PLACES[node])
            g = _slopes(laws, count, left, level, desk)
            if g > 0.0:
                scale = g * half
                _add_parts(count, left, scale * KRONROD[node], scale * GAUSS[node], desk)
        middle = left + half
        if (
            _is_close(count, g_right - g_left, desk)
            or waiting + 2 > DEEPEST
            or not left < middle < right
        ):
            _keep(count, desk, chances)
            continue
        _, g_middle = _both_sides(laws, count, middle, desk)
        waiting = _wait(desk, waiting, left, middle, g_left, g_middle)
        waiting = _wait(desk, waiting, middle, right, g_middle, g_right)


def _slopes(laws: Laws, count: int, left: float, level: float, desk: WinDesk) -> float:
    """Write how likely each index is below a level, and its density; returns G there."""
    g, below, mass = 1.0, 0.0, 0.0
    for k in range(count):
        if desk.high[k] > left:
            if desk.again[k] == 0:
                side = slope(law_at(laws, desk.alive[k]), level)
                below, mass = side.below, side.mass
            desk.below[k], desk.slope[k] = below, mass
            g *= below
    return g


def _spread(count: int, g_left: float, g_right: float, desk: WinDesk, chances: Column) -> None:
    """Add what each arm wins at one atom, whose two sides are on the desk."""
    waiting = _wait(desk, 0, 0.0, 1.0, g_left, g_right)
    while waiting > 0:
        waiting -= 1
        left, right, g_left, g_right = _waited(desk, waiting)
        half = 0.5 * (right - left)
        _clear(count, desk)
        for node in range(PLACES.size):
            s = left + half * (1.0 + PLACES[node])
            g = _spread_law(count, s, desk)
            if g > 0.0:
                for k in range(count):
                    if desk.slope[k] > 0.0:
                        law = desk.below[k] + s * desk.slope[k]
                        won = g * half * desk.slope[k] / law
                        desk.part[k] += KRONROD[node] * won
                        desk.rough[k] += GAUSS[node] * won
        if _is_close(count, g_right - g_left, desk) or waiting + 2 > DEEPEST:
            _keep(count, desk, chances)
            continue
        middle = left + half
        g_middle = _spread_law(count, middle, desk)
        waiting = _wait(desk, waiting, left, middle, g_left, g_middle)
        waiting = _wait(desk, waiting, middle, right, g_middle, g_right)


def _spread_law(count: int, s: float, desk: WinDesk) -> float:
    """G at s of a spread atom."""
    g = 1.0
    for k in range(count):
        g *= desk.below[k] + s * desk.slope[k]
    return g


def _clear(count: int, desk: WinDesk) -> None:
    """Set the parts of all arms to 0."""
    for k in range(count):
        desk.part[k], desk.rough[k] = 0.0, 0.0


def _add_parts(count: int, left: float, fine: float, rough: float, desk: WinDesk) -> None:
    """Add one point, with its weight in both rules, to the parts of all arms."""
    won = 0.0
    for k in range(count):
        if desk.high[k] > left and desk.slope[k] > 0.0:
            if desk.again[k] == 0:
                won = desk.slope[k] / desk.below[k]
            desk.part[k] += fine * won
            desk.rough[k] += rough * won


def _is_close(count: int, gained: float, desk: WinDesk) -> bool:
    """Whether the parts add up to what G gains, and those of both rules agree arm by arm."""
    total, apart_by = 0.0, 0.0
    for k in range(count):
        total += desk.part[k]
        apart_by += abs(desk.part[k] - desk.rough[k])
    return abs(total - gained) <= CLOSE and apart_by <= AGREE


def _keep(count: int, desk: WinDesk, chances: Column) -> None:
    """Add the parts of a panel to the chances."""
    for k in range(count):
        chances[desk.alive[k]] += desk.part[k]


def _wait(
    desk: WinDesk, waiting: int, left: float, right: float, g_left: float, g_right: float
) -> int:
    """Let a panel wait, unless nothing is won on it; returns how many wait then."""
    if g_right - g_left <= NOTHING:
        return waiting
    k = 4 * waiting
    desk.waiting[k], desk.waiting[k + 1] = left, right
    desk.waiting[k + 2], desk.waiting[k + 3] = g_left, g_right
    return waiting + 1


def _waited(desk: WinDesk, waiting: int) -> tuple[float, float, float, float]:
    k, panels = 4 * waiting, desk.waiting
    return panels[k], panels[k + 1], panels[k + 2], panels[k + 3]
