import re

from driftanchor.render.palette import SERIES
from driftanchor.serve.page.page_files import palette_css, static


def test_the_page_has_what_it_names_and_nothing_from_elsewhere() -> None:
    texts = {name: file.body.decode() for name, file in static().items()}
    named = set(re.findall(r"/page/static/([\w.-]+)", "".join(texts.values())))
    imported = set(re.findall(r'from "\./([\w.-]+)"', "".join(texts.values())))
    assert (named | imported) <= set(texts)
    ours = {name: text for name, text in texts.items() if name.endswith((".js", ".html", ".css"))}
    for name, text in ours.items():
        beyond = re.findall(r"https?://(?!www\.w3\.org/|127\.0\.0\.1)", text)
        assert not beyond, name
        assert "innerHTML" not in text, name
        assert not re.search(r"<script>|style=\"|javascript:|\beval\(", text), name


def test_lines_have_100_columns_at_most() -> None:
    ours = [x for x in static() if x.endswith((".js", ".css", ".html"))]
    assert len(ours) > 10
    for name in ours:
        assert all(len(line) <= 100 for line in static()[name].body.decode().splitlines()), name


def test_the_colours_are_those_of_the_figures() -> None:
    css = palette_css()
    assert [f"--series-{i}: {look.colour};" in css for i, look in enumerate(SERIES, 1)] == [
        True
    ] * len(SERIES)
