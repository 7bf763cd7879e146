"""The API reference: every public name, with its signature and docstring, by what it is for."""

import functools
import inspect
from collections.abc import Iterator
from typing import cast

import driftanchor
from benchmarks.pages import docstrings, signatures

# Where a name is defined says which group it is in; the first that fits.
GROUPS = {
    "Decide live": ("live", "client"),
    "Read logs": ("logs", "core.offline", "core.log_options"),
    "Choose the promises": ("shift",),
    "Plan": ("planning",),
    "Simulate": ("simulation",),
    "Find the best arm": ("best_arm",),
    "Policies": ("policies",),
    "Reproduce experiments": ("experiments",),
    "Write a policy": ("core",),
    "Errors": ("errors",),
}
HEAD = """# Python API

Every name on this page is `driftanchor.NAME`; the examples use `import driftanchor as da`. The page
is generated from the code by `make reference`.
"""


def page() -> str:
    """The whole page."""
    sections = []
    for group, members in grouped().items():
        entries = [_entry(name, getattr(driftanchor, name)) for name in members]
        if "read_logs" in members:
            entries.append(f"### Log options\n\n{docstrings.markdown(_log_options())}")
        sections.append("\n\n".join([f"## {group}", *entries]))
    return "\n".join([HEAD, "\n\n".join(sections), ""])


def names() -> list[str]:
    """The public names."""
    return cast("list[str]", driftanchor.__all__)


def grouped() -> dict[str, list[str]]:
    """The public names by group, each as the package lists them."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in names():
        groups[_group(name)].append(name)
    return {group: names for group, names in groups.items() if names}


def _group(name: str) -> str:
    value = getattr(driftanchor, name)
    module = getattr(value, "__module__", "driftanchor.policies")  # POLICIES, a dict, has none
    for group, homes in GROUPS.items():
        if any(f"{module}.".startswith(f"driftanchor.{home}.") for home in homes):
            return group
    raise LookupError(f"{name}, from {module}, has no group on the page: add one to GROUPS")


def _log_options() -> object:
    """What `read_logs` and others take by name."""
    return vars(inspect.getmodule(driftanchor.read_logs))["LogOptions"]


def _entry(name: str, value: object) -> str:
    if inspect.isclass(value):
        return "\n\n".join([f"### {name}", *_class(name, value)])
    if callable(value):
        return (
            f"### {name}\n\n{_code(signatures.shown(name, value))}\n\n{docstrings.markdown(value)}"
        )
    keys = ", ".join(f"`{key}`" for key in value) if isinstance(value, dict) else repr(value)
    return f"### {name}\n\nA `{type(value).__name__}`: {keys}."


def _class(name: str, value: type) -> Iterator[str]:
    if not issubclass(value, Exception):
        yield _code(signatures.shown(name, value))
    else:
        yield f"Also a {' and a '.join(f'`{base.__name__}`' for base in value.__bases__)}."
    yield docstrings.markdown(value)
    made = vars(value).get("__init__")
    if "Args:" in (inspect.getdoc(made) or ""):
        yield docstrings.markdown(made).partition("\n\n")[2]
    for member in _members(value):
        yield _member(name, member, inspect.getattr_static(value, member))


def _members(value: type) -> list[str]:
    """The public methods and properties that no public class above it has."""
    above = [base for base in value.__mro__[1:] if not _is_private(base)]
    known = {name for base in above for name in vars(base)}
    own = [base for base in value.__mro__ if _is_private(base) or base is value]
    found = dict.fromkeys(name for base in own for name in vars(base))
    return [
        name
        for name in found
        if not name.startswith("_")
        and name not in known
        and isinstance(
            inspect.getattr_static(value, name),
            property | functools.cached_property | classmethod | staticmethod | _FUNCTION,
        )
    ]


def _is_private(value: type) -> bool:
    """Whether it is ours but not a public name: its members belong to those that inherit them."""
    return value.__module__.startswith("driftanchor.") and value.__name__ not in names()


def _member(owner: str, name: str, member: object) -> str:
    if isinstance(member, property | functools.cached_property):
        inside = member.fget if isinstance(member, property) else member.func
        return f"#### {owner}.{name}\n\nA property. {docstrings.markdown(inside)}"
    called = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    assert callable(called)
    code = _code(signatures.shown(f"{owner}.{name}", called))
    return f"#### {owner}.{name}\n\n{code}\n\n{docstrings.markdown(called)}"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


_FUNCTION = type(page)
