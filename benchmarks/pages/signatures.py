"""The signature of a function or class as people read it."""

import inspect
import re
from collections.abc import Callable
from typing import Any

WIDTH = 88  # of a line of code on a page
STARS: dict[object, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def shown(name: str, called: Callable[..., Any]) -> str:
    """The call, on one line if it fits, else with one parameter on each."""
    signature = inspect.signature(called)
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    words = [_parameter(parameter) for parameter in parameters]
    first = next((i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
    if first is not None and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        words.insert(first, "*")
    returned = signature.return_annotation
    end = "" if returned in (inspect.Signature.empty, None, "None") else f" -> {_type(returned)}"
    line = f"{name}({', '.join(words)}){end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){end}"])


def _parameter(parameter: inspect.Parameter) -> str:
    text = f"{STARS.get(parameter.kind, '')}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        text += f": {_type(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}"
    return text


def _type(annotation: object) -> str:
    """An annotation without the modules its names come from."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", text)
