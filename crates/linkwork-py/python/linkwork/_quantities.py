"""A method of `Model` and of `State` for every quantity of the library's list."""

from __future__ import annotations

from typing import Any

from . import _arrays, _linkwork

MEANING = {
    "q": "the configuration, (…, nq)",
    "qd": "the velocity, (…, nv)",
    "qdd": "the acceleration, (…, nv)",
    "tau": "the torques, (…, nv)",
    "x": "a vector in joint space, (…, nv)",
    "change": "changes of q, of q̇, and of q̈ or the torques, one after another, (…, 3 nv)",
    "frame": "the name of a frame or link",
    "reference": '"local" (its own axes and origin), "aligned" (the world\'s axes at its origin) or "world"',
    "joint": "the name of a joint",
}


def parameters(inputs: list[str], known: tuple[str, ...] = ()) -> list[str]:
    """The inputs as parameters of a function, without those that are known."""
    return [f'{i}="local"' if i == "reference" else i for i in inputs if i not in known]


def documentation(quantity: dict[str, Any], known: tuple[str, ...] = ()) -> str:
    """What `help` shows."""
    lines = [quantity["about"][:1].upper() + quantity["about"][1:] + "."]
    shape = ", ".join(quantity["shape"])
    lines += ["", f"Symbol: {quantity['symbol']}. Result: {f'(…, {shape})' if shape else '(…)'}."]
    lines += [f"{i}: {MEANING[i]}." for i in quantity["inputs"] if i not in known]
    lines.append("out: an array for the result, which is then returned.")
    if quantity["aliases"]:
        lines.append(f"Elsewhere: {', '.join(quantity['aliases'])}.")
    return "\n".join(lines)


def source(index: int, quantity: dict[str, Any], known: tuple[str, ...] = (), many: bool = False) -> str:
    """A function of one quantity: plain arrays take the short way."""
    name, inputs = quantity["name"], quantity["inputs"]
    head = ", ".join(["self", *parameters(inputs, known), "*", "out=None"])
    if known:
        of = {"q": "self.q", "qd": "self.qd"}
        values = ", ".join(of[i] if i in known else i for i in inputs)
        rest = ", ".join(i for i in inputs if i not in known)
        body = (
            f"    held = self._held\n"
            f"    if held is False:\n"
            f"        held = self._hold()\n"
            f"    if held is not None:\n"
            f"        result = held.evaluate({index}, out{', ' if rest else ''}{rest})\n"
            f"        if result is not None:\n"
            f"            return result\n"
            f"    return evaluate(self.model, {index}, {tuple(inputs)!r}, ({values},), out)\n"
        )
        return f"def {name}({head}):\n{body}"
    values = ", ".join(inputs)
    if many:
        body = f"    return evaluate(self, {index}, {tuple(inputs)!r}, ({values},), out)\n"
        return f"def {name}({head}):\n{body}"
    return (
        f"def {name}({head}):\n"
        f"    result = plain(self, {index}, out, {values})\n"
        f"    if result is not None:\n"
        f"        return result\n"
        f"    return evaluate(self, {index}, {tuple(inputs)!r}, ({values},), out)\n"
    )


def attach(cls: Any, known: tuple[str, ...], chosen: Any, evaluate: Any = None) -> None:
    """Makes the methods of a class; `evaluate` is what they call where it is of many models."""
    for index, quantity in enumerate(_linkwork.quantities()):
        if not chosen(quantity):
            continue
        scope: dict[str, Any] = {"plain": _linkwork.evaluate, "evaluate": evaluate or _arrays.evaluate}
        text = source(index, quantity, known, evaluate is not None)
        exec(compile(text, f"<linkwork quantity {quantity['name']}>", "exec"), scope)
        function = scope[quantity["name"]]
        function.__doc__ = documentation(quantity, known)
        function.__qualname__ = f"{cls.__name__}.{function.__name__}"
        function.__module__ = "linkwork"
        if cls is _linkwork.Model:
            # A method in C, which comes back to this one with what it does not take.
            signature = ", ".join(["$self", *parameters(quantity["inputs"]), "*", "out=None"])
            text = f"{function.__name__}({signature})\n--\n\n{function.__doc__}"
            function = _linkwork.method(cls, index, text, function)
        setattr(cls, quantity["name"], function)


class Elsewhere:
    """A name that other libraries use for a quantity: using it raises an error with the name here."""

    def __init__(self, alias: str, name: str) -> None:
        self.alias, self.name = alias, name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        raise AttributeError(f"{owner.__name__} has no attribute `{self.alias}`; that is `{self.name}` here")


def attach_aliases(cls: Any) -> None:
    """Tells users of other libraries what a quantity is called here."""
    for quantity in _linkwork.quantities():
        for alias in quantity["aliases"]:
            if alias not in vars(cls):
                setattr(cls, alias, Elsewhere(alias, quantity["name"]))
