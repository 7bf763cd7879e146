"""Write the pages of `docs/reference` that are made from the code: `make reference`.

They stand in the repository, so that a clone has them; a test fails when one is out of date.
"""

from collections.abc import Callable

from benchmarks.pages import api, commands, policies
from benchmarks.pages.render import DOCS

PAGES: dict[str, Callable[[], str]] = {
    "api.md": api.page,
    "commands.md": commands.page,
    "policies.md": policies.page,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / "reference" / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
