import re

from driftanchor.render.palette import SERIES
from driftanchor.serve.page.page_files import palette_css, static


def test_the_page_has_what_it_names_and_nothing_from_elsewhere() -> None:
    found = static()
    texts = {name: file.body.decode() for name, file in found.items()}
    named = set(re.findall(r"/page/static/([\w.-]+)", "".join(texts.values())))
    imported = set(re.findall(r'from "\./([\w.-]+)"', "".join(texts.values())))
    assert (named | imported) <= set(found)
    ours = {name: text for name, text in texts.items() if name.endswith((".js", ".html", ".css"))}
    for name, text in ours.items():
        beyond = re.findall(r"https?://(?!www\.w3\.org/|127\.0\.0\.1)", text)
        assert not beyond, name
        assert "innerHTML" not in text, name
        assert not re.search(r"<script>|style=\"|javascript:|\beval\(", text), name


def test_every_file_is_short_enough_to_read() -> None:
    ours = [x for x in static() if x.endswith((".js", ".css"))]
    assert len(ours) > 10
    assert all(static()[name].body.count(b"\n") <= 300 for name in ours)


def test_the_colours_are_those_of_the_figures() -> None:
    css = palette_css()
    assert [f"--series-{i}: {look.colour};" in css for i, look in enumerate(SERIES, 1)] == [
        True
    ] * len(SERIES)
