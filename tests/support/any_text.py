"""Text of any characters, for hypothesis."""

from hypothesis import strategies as st


def any_text(max_size: int) -> st.SearchStrategy[str]:
    """As `st.text`: of all characters but the halves of a pair, which are no characters.

    `st.text` finds the same ones by encoding every character there is, which takes seconds once in
    each new clone.
    """
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)
