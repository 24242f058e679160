"""Plays cases whose answer has the end of each connection: what clients and upstreams do at odd times, or do not do."""

import re
import socket

from . import http2
from .ends import CLOSE, END, FIN, HEAD, LONG, READ, RESET, TAKE, TUNNEL, Client, once


def play(case, port, upstream):
    return (http2_client if case.setup.downstream == "http2" else http1_client)(case, port, upstream)


def http1_client(case, port, upstream):
    client = Client(port)
    client.reader.quiet = LONG
    client.shows = case.shows
    told, end = [], None
    try:
        for at, step in enumerate(case.steps):
            if isinstance(step, bytes):
                client.send(step, case.steps[at + 1:at + 2] == (FIN,))
            elif step == READ:
                told.append(client.response(case.method)[0])
                upstream.told.set()
            elif step == HEAD:
                client.await_head()
                upstream.told.set()
            elif step == TAKE:
                told.append(client.reader.take())
            elif step == TUNNEL:
                if told[-1].startswith("101"):
                    client.send(b"ping")
                    told.append(client.reader.take())
                    client.leave(CLOSE)
                    end = ""
            elif step == FIN:
                client.connection.shutdown(socket.SHUT_WR)
            elif step == END:
                end = client.reader.end()
            elif step in (CLOSE, RESET):
                client.leave(step)
                end = ""
            else:
                client.wait(step, upstream)
        if end is None:
            client.shows = ()
            client.send(b"GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n")
            text, _ = client.response("GET")
            end = {"200 body ok": "kept"}.get(text, text)
    finally:
        client.close()
    return told_of(upstream, told, end, case.steps.count(READ))


def http2_client(case, port, upstream):
    client = http2.Client(port)
    client.play(case, upstream)
    upstream.settled()
    upstream.seen.sort()  # requests of streams have no order
    told = [client.answers[each] for each in case.streams if each in client.answers]
    return told_of(upstream, told, "kept" if client.end is None else client.end)


def told_of(upstream, told, end, asked=0):
    upstream.told.set()
    upstream.settled()
    # How much the kernel keeps of a long response is a matter of the machine.
    told = [re.sub(r"\d+ bytes [0-9a-f]{8} cut", "of many bytes cut", each) for each in told]
    seen = [each for each in upstream.seen if "/next" not in each]
    seen = once(seen, asked) if asked else seen
    return "; ".join(each for each in (", ".join([*seen, *told]), end and "client " + end, *("upstream " + each for each in upstream.ends)) if each)
