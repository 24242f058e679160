"""The raw messages of the unit tests, which the comparison with other proxies reads, too."""

import functools
import importlib
import importlib.util
import os
import sys

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "peers", "driver")


def peers(name):
    """A module of the comparison with other proxies. Its package is named "driver", too, so it gets another name here."""
    if "peers_driver" not in sys.modules:
        spec = importlib.util.spec_from_file_location("peers_driver", os.path.join(PEERS, "__init__.py"),
        submodule_search_locations=[PEERS])
        sys.modules["peers_driver"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["peers_driver"])
    return importlib.import_module(f"peers_driver.{name}")


@functools.cache
def requests():
    return tuple(case.sent for case in peers("corpus").read("requests") if len(case.sent) < 8000)


@functools.cache
def responses():
    return tuple((case.method.encode(), case.sent,
    bool(case.upstream[1:])) for case in peers("corpus").read("responses") if len(case.sent) < 8000)
