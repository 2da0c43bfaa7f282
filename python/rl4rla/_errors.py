"""Exceptions and warnings."""


class NotConverged(RuntimeError):
    """A run that did not reach its tolerance; ``result`` is what it reached."""

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result


class Interrupted(RuntimeError):
    """A run that was stopped before its end; ``rl4rla.resume(error.run)`` continues it, and ``compute()`` a campaign."""

    def __init__(self, message, run=None):
        super().__init__(message)
        self.run = run


class ConvergenceWarning(UserWarning):
    """A solution that did not reach its tolerance is being used."""
