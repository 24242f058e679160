"""Reads the corpora of raw requests and responses, which gateway-core's unit tests have."""

import dataclasses
import os
import re
import typing

from . import ends
from .setups import Setup

HERE = os.path.dirname(os.path.abspath(__file__))
CORPORA = os.path.join(HERE, "..", "..", "..", "gateway-core", "src", "test", "resources", "http1")

ESCAPE = re.compile(r"\\(?:([rnt0\\])|x([0-9A-Fa-f]{2})|\{(\d+)\*([^}]*)\})")
SINGLE = {"r": "\r", "n": "\n", "t": "\t", "0": "\0", "\\": "\\"}


@dataclasses.dataclass
class Case:
    kind: str  # a name of kinds.py
    title: str
    method: str = "GET"  # of the request that a response answers
    sent: bytes = b""
    comparable: bool = True  # whether a client and an upstream at the two ends can play it
    steps: tuple = ()  # what the client does: bytes to send, and the words of ends.py
    upstream: tuple = ()  # what the upstream does, if it does not just answer
    early: bool = False  # whether it does so before it reads the request's body
    watched: bool = False  # whether the answer has the end of each connection
    tls: dict = dataclasses.field(default_factory=dict)  # what one end does otherwise
    setup: typing.Optional[Setup] = None  # if it is not that of the kind
    shows: tuple = ()  # names of fields that the answer has, too: those of each request and of each response
    streams: tuple = (1,)  # of HTTP/2, which are to end
    raw: typing.Optional[bytes] = None  # what begins an HTTP/2 connection, if that is not the preface and SETTINGS
    crashes: tuple = ()  # names of proxies whose process dies of it, so that they are not asked
    probe: bool = True  # whether the client asks in the end if the HTTP/2 connection still lives


def unescape(text):
    def one(match):
        single, code, times, repeated = match.groups()
        if single:
            return SINGLE[single]
        return chr(int(code, 16)) if code else unescape(repeated) * int(times)

    return ESCAPE.sub(one, text)


def read(kind):
    """Reads the cases of a corpus. It leaves out what a client and an upstream at the two ends cannot play, and what differs from
    another case in a value alone."""
    found = []
    near = set()
    with open(os.path.join(CORPORA, kind + ".txt"), encoding="utf-8") as lines:
        for line in (each.rstrip("\n") for each in lines):
            word, _, rest = line.partition(" ")
            if word == "=":
                found.append(Case(kind, rest))
            elif not found:
                continue
            elif word == ">":
                # Bytes are written as \xHH; a letter outside ASCII stands for its UTF-8.
                found[-1].sent += b"".join(
                    bytes([ord(c)]) if ord(c) < 256 else c.encode() for c in unescape(rest))
            elif word == "@":
                found[-1].method, _, unfinished = rest.partition(" ")
                found[-1].comparable = not unfinished
            elif word == "eof":
                found[-1].upstream = (ends.CLOSE,)
            elif word == "near":
                found[-1].comparable = False
                near.add(rest)
    unknown = near - {case.title for case in found if case.comparable}
    if unknown:
        raise ValueError(f"{kind}.txt has no such cases: {unknown}")
    for case in found:
        case.upstream = (case.sent, *case.upstream) if kind == "responses" else ()
    return [case for case in found if case.comparable and case.sent]
