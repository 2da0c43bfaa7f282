"""Curricula and campaigns as dictionaries, written as TOML."""

import json
import math
import os


def toml(table, what="a curriculum", lists=("stage",)):
    """A dictionary as TOML; tables inside it are written in one line, except those in these lists.

    >>> print(toml({"title": "Mine", "stage": [{"name": "a", "edits": 3, "family": {"kind": "low-cond", "rows": 40}}]}))
    title = "Mine"
    [[stage]]
    name = "a"
    edits = 3
    family = { kind = "low-cond", rows = 40 }
    <BLANKLINE>
    """
    if not isinstance(table, dict):
        raise TypeError(f"{what} should be a name, a path or a dictionary, got {type(table).__name__}")
    lines = [f"{_key(key, what)} = {_value(value, what)}" for key, value in table.items() if key not in lists]
    for name in lists:
        for one in table.get(name, []):
            if not isinstance(one, dict):
                raise TypeError(f"a table of `{name}` should be a dictionary, got {type(one).__name__}")
            lines.append(f"[[{name}]]")
            lines += [f"{_key(key, what)} = {_value(value, what)}" for key, value in one.items()]
    return "\n".join(lines) + "\n"


def _key(key, what):
    if not isinstance(key, str):
        raise TypeError(f"a key of {what} should be text, got {key!r}")
    return key if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else json.dumps(key)


def _value(value, what):
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        # TOML's strings have the escapes of JSON.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item, what) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key, what)} = {_value(item, what)}" for key, item in value.items()) + " }"
    raise TypeError(f"{what} has no value of type {type(value).__name__}")
