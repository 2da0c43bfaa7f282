"""Curricula as dictionaries, written as TOML."""

import json
import math


def toml(table):
    """A dictionary as TOML; tables inside it are written in one line, except the stages.

    >>> print(toml({"title": "Mine", "stage": [{"name": "a", "edits": 3, "family": {"kind": "low-cond", "rows": 40}}]}))
    title = "Mine"
    [[stage]]
    name = "a"
    edits = 3
    family = { kind = "low-cond", rows = 40 }
    <BLANKLINE>
    """
    if not isinstance(table, dict):
        raise TypeError(f"a curriculum should be a name, a path or a dictionary, got {type(table).__name__}")
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if key != "stage"]
    for stage in table.get("stage", []):
        if not isinstance(stage, dict):
            raise TypeError(f"a stage should be a dictionary, got {type(stage).__name__}")
        lines.append("[[stage]]")
        lines += [f"{_key(key)} = {_value(value)}" for key, value in stage.items()]
    return "\n".join(lines) + "\n"


def _key(key):
    if not isinstance(key, str):
        raise TypeError(f"a key of a curriculum should be text, got {key!r}")
    return key if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else json.dumps(key)


def _value(value):
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's strings have the escapes of JSON.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    raise TypeError(f"a curriculum has no value of type {type(value).__name__}")
