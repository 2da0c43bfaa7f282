"""Commands: arguments from keywords, documents from JSON."""

import contextlib
import json
import os

from rl4rla import _rl4rla

DEFAULT_STORE = "rl4rla.db"


def arguments(**options):
    """The options of a command: ``None`` and ``False`` are left out, lists are joined by commas.

    >>> arguments(seed=3, kappa=[10, 1e4], typed=True, out=None)
    ['--seed=3', '--kappa=10,10000.0', '--typed']
    """
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words.append(f"{flag}={','.join(text(item) for item in value)}")
        else:
            words.append(f"{flag}={text(value)}")
    return words


def text(value):
    """A value as it would be typed; numbers keep every bit.

    >>> text(0.1), text(True), text("best")
    ('0.1', 'True', 'best')
    """
    if isinstance(value, (str, bool)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    try:
        # NumPy's numbers too.
        return repr(value.item()) if hasattr(value, "item") else repr(value)
    except ValueError:
        raise TypeError(f"expected a number or a name, got {type(value).__name__}") from None


def call(command, *words, threads=None, progress=None, **options):
    """Runs a command, or a step of one as in ``"campaign status"``, and returns its document and its exit code."""
    line = [*command.split(), "--json", *arguments(**options), "--", *words]
    with watched(progress) as watcher:
        return answer(_rl4rla.call(line, threads or 0, watcher))


def answer(reply):
    """The document and the exit code of a command."""
    document, code = reply
    return json.loads(document), code


@contextlib.contextmanager
def watched(progress):
    """What is called with messages: nothing, a function, or a bar of tqdm for ``True``."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("progress=True needs tqdm, which is not installed; a function of one message needs nothing") from None

        with tqdm(bar_format="{desc} [{elapsed}]") as bar:
            yield bar.set_description_str
    elif callable(progress):
        yield progress
    else:
        raise TypeError("progress should be True, False or a function of one message")
