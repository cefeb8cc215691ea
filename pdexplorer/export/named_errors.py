"""Errors of writing that name the file: a full disk alone does not say which."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def naming(file: object) -> Iterator[None]:
    """An OSError within carries the file's name, also where the system gave none."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(file)) from error
