"""The page of an assessment: one HTML file that loads nothing else."""

from __future__ import annotations

from driftanchor.planning import pictures
from driftanchor.planning.assess import USE, Assessment
from driftanchor.planning.tables import even_of, evens, losses
from driftanchor.render.document import document, figure, pairs_of, table_of
from driftanchor.render.markup import Html, tag
from driftanchor.render.numbers import MISSING, rounded
from driftanchor.version import __version__


def render(found: Assessment) -> str:
    """The HTML of an assessment."""
    texts = found.texts()
    good = found.decision == USE
    badge = tag(
        "span",
        texts.answers[0 if good else 1],
        class_=f"verdict {'holds' if good else 'fails'}",
    )
    return document(
        texts.title,
        tag(
            "header",
            tag("h1", texts.title),
            tag("p", texts.lead, class_="dim"),
            tag("p", badge),
            tag("p", found.answer, class_="counts"),
            *(tag("p", sentence) for sentence in found.details),
        ),
        tag("main", *_main(found)),
        tag("footer", tag("h2", "Made with"), pairs_of(_facts(found))),
    )


def _main(found: Assessment) -> list[Html]:
    texts = found.texts()
    who = [(label, one.what) for label, one in found.contenders.items()]
    return [
        tag("h2", "What each policy loses"),
        tag("p", texts.expected),
        table_of(losses(found)),
        pairs_of(tuple(who)),
        tag("h2", "If the means move further"),
        _picture(pictures.by_shift(found)),
        tag("p", reach(found)),
        tag("h2", f"If you declare another {found.promise.letter}"),
        _picture(pictures.by_bound(found)),
        table_of(evens(found)),
        tag("h2", "The logs"),
        *(table_of(table) for table in texts.tables),
        tag("h2", "How this was found"),
        tag("p", texts.how),
        tag("ul", *(tag("li", text) for text in (*found.notes, *found.reasons))),
    ]


def reach(found: Assessment) -> str:
    """Up to which shift the logs help, in a sentence."""
    even, label = found.break_even, found.break_even_policy
    value, ends = even_of(found, even)
    if even.value > found.largest_shift:
        return f"{label} gains by the logs at every shift that was tried."
    if value in ("none", rounded(0.0)):
        return f"{label} does not gain by the logs here, even if no mean has moved."
    sure = "" if ends == MISSING else f" (95 % interval {ends})"
    return (
        f"{label} gains by the logs up to a shift of {value}{sure}: from there on it loses more "
        "than is lost without them."
    )


def _picture(picture: pictures.Picture) -> Html:
    return figure(picture.svg, picture.caption, picture.alt)


def _facts(found: Assessment) -> tuple[tuple[str, str], ...]:
    facts = [
        ("driftanchor", __version__),
        ("seed", str(found.seed)),
        ("logs", found.offline.source),
    ]
    how = found.offline.provenance
    if how is not None:
        facts += [(f"read: {name}", text) for name, text in (*how.columns, *how.filters)]
        facts += [("digest", source.digest) for source in how.sources if source.digest]
        facts.append(("read at", how.read_at))
        facts += [("rows", text) for text in (how.rejected_text(),) if text]
        facts += [("means", how.strata.text())] if how.strata else []
    return tuple(facts)
