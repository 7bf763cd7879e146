import re

from driftanchor.serve.page.decision_view import PARTS
from driftanchor.serve.page.glossary import WORDS
from driftanchor.serve.page.page_files import static


def test_every_number_of_the_page_is_explained() -> None:
    text = "".join(x.body.decode() for name, x in static().items() if name.endswith(".js"))
    used = set(re.findall(r'(?:word|head|tile)\("(\w+)"', text))
    assert len(used) > 20
    assert used <= set(WORDS)
    assert set(PARTS) <= set(WORDS)


def test_explanations_are_sentences() -> None:
    for term, text in WORDS.items():
        assert text[0].isupper(), term
        assert text.endswith("."), term
        assert len(text) < 260, term
