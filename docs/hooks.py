"""What mkdocs fills in: the table of policies, and CONTRIBUTING.md, which lives at the root."""

from pathlib import Path

from driftanchor.cli.policies import LEGEND, markdown_table

ROOT = Path(__file__).parent.parent


def on_page_markdown(markdown: str, **_: object) -> str:
    """Replace the markers of a page."""
    if "<!-- policies -->" in markdown:
        markdown = markdown.replace("<!-- policies -->", f"{markdown_table()}\n\n{LEGEND}")
    if "<!-- contributing -->" in markdown:
        contributing = (ROOT / "CONTRIBUTING.md").read_text()
        markdown = markdown.replace("<!-- contributing -->", contributing)
    return markdown
