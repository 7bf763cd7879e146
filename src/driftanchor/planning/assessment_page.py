"""The page of an assessment: one self-contained HTML file."""

from __future__ import annotations

from driftanchor.planning import pictures
from driftanchor.planning.assess import USE, Assessment
from driftanchor.planning.tables import losses
from driftanchor.render.document import document, figure, pairs_of, table_of
from driftanchor.render.markup import Html, tag
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
        tag("p", found.limit),
        tag("h2", "The logs"),
        *(table_of(table) for table in texts.tables),
        tag("h2", "How this was found"),
        tag("p", texts.how),
        tag("ul", *(tag("li", text) for text in (*found.notes, *found.reasons))),
    ]


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
