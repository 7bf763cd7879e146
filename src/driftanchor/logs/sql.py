"""Text and names as SQL writes them."""


def literal(text: str) -> str:
    """Text as SQL writes it.

    Example:
        >>> literal("it's")
        "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a column as SQL writes it.

    Example:
        >>> print(identifier('an "odd" name'))
        "an ""odd"" name"
    """
    return '"' + name.replace('"', '""') + '"'
