"""Filters such as `country = 'DE' and age >= 18`: a small grammar of its own.

::

    either     = both {"or" both}
    both       = negated {"and" negated}
    negated    = "not" negated | "(" either ")" | comparison
    comparison = column ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
               | column ["not"] "in" "(" value {"," value} ")"
               | column ["not"] "between" value "and" value
               | column "is" ["not"] "null"
    value      = number | 'text' | true | false

Nothing else can be said, so a filter can neither call functions nor read other tables or files. As
in SQL, a comparison with a missing value keeps nothing, negated or not: negations are carried down
to the comparisons here, so that `not` never meets a missing value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from driftanchor.errors import InvalidInput, shown
from driftanchor.logs.times import is_time

Value = bool | int | float | str
Kind = Literal["boolean", "number", "text", "time", "presence"]
KINDS: dict[type, Kind] = {bool: "boolean", int: "number", float: "number", str: "text"}
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "in": "not in"}
OPPOSITE |= {"not in": "in", "null": "not null", "not null": "null"}
SAME = {"==": "=", "<>": "!="}
KEYWORDS = {"and", "or", "not", "in", "between", "is", "null", "true", "false"}
DEEPEST = 100  # parentheses and negations inside one another
MOST = 100  # comparisons
TOKEN = re.compile(
    r"""\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])
    |(?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")+")
    |(?P<word>[^\W\d][\w.]*)
    |(?P<sign><=|>=|<>|!=|==|[=<>(),]))""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class ColumnComparison:
    """A column against one or more values; `sign` is one of `OPPOSITE`."""

    column: str
    sign: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Joined:
    """Conditions of which all or any must hold."""

    how: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition = ColumnComparison | Joined


def parse(text: object) -> Condition:
    """The condition a text states, without negations.

    Example:
        >>> parse("not (a = 1 or b in ('x'))")  # doctest: +NORMALIZE_WHITESPACE
        Joined(how='and', parts=(ColumnComparison(column='a', sign='!=', values=(1,)),
                                 ColumnComparison(column='b', sign='not in', values=('x',))))
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(
            f"must be text such as \"country = 'DE'\", got {shown(text)}", argument="where"
        )
    return _Parser(text).whole()


def kinds(condition: Condition) -> dict[str, Kind]:
    """The columns of a condition, and what they are compared with.

    Text is `"time"` where every value reads as an ISO date or time. `"presence"` is that of a
    column which is only asked whether it is null.
    """
    found: dict[str, Kind] = {}
    compared = list(_comparisons(condition))
    for comparison in compared:
        column = comparison.column
        for kind in (KINDS[type(value)] for value in comparison.values):
            if found.setdefault(column, kind) != kind:
                raise InvalidInput(
                    f"compares column {column!r} with {found[column]} and with {kind}: it can be "
                    "only one of them",
                    argument="where",
                )
    texts = [(each.column, value) for each in compared for value in each.values]
    other = {column for column, value in texts if not is_time(value)}
    found |= {column: "time" for column, _ in texts if column not in other}
    return {each.column: found.get(each.column, "presence") for each in compared}


def _comparisons(condition: Condition) -> Iterator[ColumnComparison]:
    if isinstance(condition, ColumnComparison):
        yield condition
        return
    for part in condition.parts:
        yield from _comparisons(part)


class _Parser:
    """Recursive descent over the tokens; `negated` says whether an odd number of nots is around."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.next = text, 0, 0
        self.depth, self.compared = 0, 0
        self.kind, self.token = "", ""
        self.advance()

    def whole(self) -> Condition:
        condition = self.either(False)
        if self.kind != "end":
            raise self.unexpected("the end")
        return condition

    def either(self, negated: bool) -> Condition:
        parts = [self.both(negated)]
        while self.take("or"):
            parts.append(self.both(negated))
        return _join("and" if negated else "or", parts)

    def both(self, negated: bool) -> Condition:
        parts = [self.negation(negated)]
        while self.take("and"):
            parts.append(self.negation(negated))
        return _join("or" if negated else "and", parts)

    def negation(self, negated: bool) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InvalidInput(
                f"has more than {DEEPEST} parentheses inside one another", argument="where"
            )
        if self.take("not"):
            condition = self.negation(not negated)
        elif self.take("("):
            condition = self.either(negated)
            self.need(")")
        else:
            condition = self.comparison(negated)
        self.depth -= 1
        return condition

    def comparison(self, negated: bool) -> Condition:
        if self.kind != "column":
            raise self.unexpected("a column")
        self.compared += 1
        if self.compared > MOST:
            raise InvalidInput(
                f"has more than {MOST} comparisons: use column in (…)", argument="where"
            )
        column = self.token
        self.advance()
        if self.take("is"):
            sign = "not null" if self.take("not") else "null"
            self.need("null")
            return _compare(column, sign, (), negated)
        if self.kind == "sign" and self.token in {"=", "==", "!=", "<>", "<", "<=", ">", ">="}:
            sign = SAME.get(self.token, self.token)
            self.advance()
            return _compare(column, sign, (self.value(),), negated)
        negated ^= self.take("not")
        if self.take("between"):
            low = self.value()
            self.need("and")
            ends = ((">=", low), ("<=", self.value()))
            parts = [_compare(column, sign, (end,), negated) for sign, end in ends]
            return _join("or" if negated else "and", parts)
        if not self.take("in"):
            raise self.unexpected("a comparison")
        self.need("(")
        values = [self.value()]
        while self.take(","):
            values.append(self.value())
        self.need(")")
        return _compare(column, "in", tuple(values), negated)

    def value(self) -> Value:
        kind, token = self.kind, self.token
        found: Value
        if kind == "number":
            found = int(token) if re.fullmatch(r"[-+]?\d{1,300}", token) else float(token)
        elif kind == "text":
            found = token
        elif kind == "keyword" and token in {"true", "false"}:
            found = token == "true"
        else:
            raise self.unexpected("a number, 'text' in single quotes, true or false")
        self.advance()
        return found

    def take(self, token: str) -> bool:
        """Step over a keyword or sign, if it is next."""
        found = self.kind in {"keyword", "sign"} and self.token == token
        if found:
            self.advance()
        return found

    def need(self, token: str) -> None:
        if not self.take(token):
            raise self.unexpected(repr(token))

    def advance(self) -> None:
        """Read the next token."""
        self.at = self.next
        match = TOKEN.match(self.text, self.at)
        if match is None:
            left = self.text[self.at :].strip()
            self.kind, self.token = ("unknown", left) if left else ("end", "")
            return
        self.next = match.end()
        kind, token = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "word" and token.lower() in KEYWORDS:
            self.kind, self.token = "keyword", token.lower()
        elif kind in {"text", "quoted"}:
            quote = token[0]
            self.kind = "text" if kind == "text" else "column"
            self.token = token[1:-1].replace(quote * 2, quote)
        else:
            self.kind, self.token = ("column" if kind == "word" else kind), token

    def unexpected(self, wanted: str) -> InvalidInput:
        found = "its end" if self.kind == "end" else shown(self.text[self.at :].strip()[:40])
        return InvalidInput(
            f"is not understood: expected {wanted} at {found}; write comparisons of columns "
            "with values, as in \"country = 'DE' and age >= 18\"",
            argument="where",
        )


def _compare(column: str, sign: str, values: tuple[Value, ...], negated: bool) -> ColumnComparison:
    return ColumnComparison(column, OPPOSITE[sign] if negated else sign, values)


def _join(how: Literal["and", "or"], parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Joined(how, tuple(parts))
