"""The client and the upstream at the two ends of a proxy. They write bytes as they are told, and say what they saw."""

import base64
import contextlib
import dataclasses
import hashlib
import select
import socket
import ssl
import struct
import threading
import time

QUIET = 2.0  # seconds without a byte after which nothing more is expected
FIRST = 10.0  # seconds until the first byte: a loaded machine takes its time
LONG = 4.0  # seconds after which a connection that has not ended is said to stay
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
NO_BODY = (204, 304)

# What a client or an upstream does besides sending bytes.
READ = "reads a response"
HEAD = "reads until a response's head is there"
SEEN = "waits until the upstream has the head of a request"
TOLD = "waits until the client has the head of the response"
FIN = "ends its direction, and reads on"
CLOSE = "closes"
RESET = "resets the connection"
LEFT = "waits whether the connection ends"
BODY = "waits until the upstream has the beginning of a request's body"
END = "says whether the connection ends, or has been reset"
TAKE = "reads some bytes, and says which"
TUNNEL = "sends bytes through the tunnel, if there is one, says what comes back, and closes"


@dataclasses.dataclass(frozen=True)
class Pause:
    """Waits so long that a time limit of a second does or does not end."""

    seconds: float


@dataclasses.dataclass(frozen=True)
class Switch:
    """What an upstream does with an upgrade that a request asks for: it answers 101, and "pong" to what comes through the tunnel.
    To a request that asks for none it gives the plain answer."""

    fields: tuple  # of the 101

    def steps(self, asked):
        head = "\r\n".join(["HTTP/1.1 101 Switching Protocols", *self.fields, "", ""]).encode()
        return (head, TAKE, b"pong", END) if asked else (ANSWER,)


class Broken(Exception):
    """Bytes that are no message."""


class Ended(Exception):
    """The peer has closed the connection, or reset it."""


class Quiet(Exception):
    """Nothing more came in time."""


class Reader:
    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""
        self.ended = False
        self.reset = False
        self.error = None  # that ended it
        self.quiet = QUIET

    def more(self, seconds=None):
        if self.ended:
            raise Ended
        self.connection.settimeout(self.quiet if seconds is None else seconds)
        try:
            piece = self.connection.recv(65536)
        except socket.timeout:
            raise Quiet from None
        except OSError as e:
            piece = b""
            self.reset, self.error = True, e
        if not piece:
            self.ended = True
            raise Ended
        self.buffer += piece

    def end(self):
        """Reads what still comes, and says how the connection ends, if it does."""
        self.buffer = b""
        try:
            while True:
                self.more(LONG)
        except Ended:
            return "reset" if self.reset else "closed"
        except Quiet:
            return "stays"

    def take(self):
        try:
            while not self.buffer:
                self.more(LONG)
        except (Ended, Quiet):
            pass
        found, self.buffer = self.buffer, b""
        return "takes " + (shown([found]) or "nothing")

    def until(self, end, seconds=None):
        while end not in self.buffer:
            self.more(seconds)
        found, self.buffer = self.buffer.split(end, 1)
        return found

    def exactly(self, count):
        while len(self.buffer) < count:
            self.more()
        found, self.buffer = self.buffer[:count], self.buffer[count:]
        return found

    def head(self, seconds):
        lines = self.until(b"\r\n\r\n", seconds).split(b"\r\n")
        fields = []
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise Broken
            fields.append((name.lower().decode("latin-1"), value.strip().decode("latin-1")))
        return lines[0].decode("latin-1"), fields

    def chunks(self, body):
        """Appends to the list what comes, so that it is there if the rest is not."""
        while True:
            try:
                size = int(self.until(b"\r\n").split(b";")[0].strip(), 16)
            except ValueError:
                raise Broken from None
            if size == 0:
                while self.until(b"\r\n"):
                    pass
                return
            body.append(self.exactly(size))
            if self.exactly(2) != b"\r\n":
                raise Broken

    def counted(self, body, length):
        while length:
            if not self.buffer:
                self.more()
            piece, self.buffer = self.buffer[:length], self.buffer[length:]
            body.append(piece)
            length -= len(piece)

    def rest(self, body):
        while True:
            body.append(self.buffer)
            self.buffer = b""
            try:
                self.more()
            except Ended:
                return


def readable(seconds, *descriptors):
    """Waits until a socket has bytes, its end, or a connection to accept. None for the seconds means no time limit."""
    poll = select.poll()
    for each in descriptors:
        poll.register(each, select.POLLIN)
    return poll.poll(None if seconds is None else 1000 * seconds)


def value(fields, name):
    return next((v for n, v in fields if n == name), None)


def named(fields, names):
    """Returns those fields of a head that have one of the names. A time is that of the case, or now."""
    found = [f"{n}: {'now' if n == 'date' and '1990' not in v else v}" for n, v in fields if n in names]
    return "".join(f" {each}" for each in found)


def shown(body):
    body = b"".join(body)
    if len(body) > 40:
        return f"{len(body)} bytes {hashlib.sha256(body).hexdigest()[:8]}"
    return "".join(chr(b) if 32 < b < 127 else f"\\x{b:02x}" for b in body)


class Upstream(threading.Thread):
    """Answers each request of a proxy with bytes, and remembers the requests. It listens on a port of its own."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listening.getsockname()[1]
        self.changed = threading.Condition()
        self.reading = 0  # how many requests are being read or answered
        self.open = {}  # the file descriptors of connections, by their numbers
        self.play(None)
        self.start()

    def play(self, case):
        """The next requests belong to this case, once those of the last one are over."""
        self.settled()
        self.case = case
        self.seen = []  # what the requests were
        self.asked_next = False  # whether the request after that of the case has begun
        self.told = threading.Event()  # set once the client has the head of the answer
        self.asked = threading.Event()  # set once the head of a request has come
        self.begun = threading.Event()  # set once the beginning of its body has come
        self.ends = []  # how connections ended, and what was taken of them
        self.connections = []  # the connection of each

    def settled(self):
        """Waits until no request is being read, and none has arrived that is to be read."""
        deadline = time.monotonic() + 2 * FIRST
        while time.monotonic() < deadline:
            with self.changed:
                self.changed.wait_for(lambda: self.reading == 0, timeout=deadline - time.monotonic())
                waits = readable(0, self.listening.fileno(), *self.open.values())
                if self.reading == 0 and not waits:
                    return
            time.sleep(0.001)  # its thread takes it

    def run(self):
        number = 0
        while True:
            readable(None, self.listening.fileno())
            with self.busy():
                connection, _ = self.listening.accept()
                number += 1
                self.open[number] = connection.fileno()
                threading.Thread(target=self.serve_and_forget, args=(connection, number), daemon=True).start()

    def serve_and_forget(self, connection, number):
        try:
            self.serve(connection, number)
        finally:
            with self.changed:
                del self.open[number]

    def serve(self, connection, number):
        reader = Reader(connection)
        with connection:
            while self.has_more(reader):
                with self.busy():
                    try:
                        line, fields = reader.head(60)
                    except (Ended, Quiet):
                        return
                    except Broken:
                        self.seen.append("something that is no request")
                        return
                    self.asked.set()
                    if not self.serve_one(connection, reader, line, fields, number):
                        return

    @staticmethod
    def has_more(reader):
        """Waits for bytes, and leaves them in the kernel until the connection counts as busy."""
        read = reader.buffer or (isinstance(reader.connection, ssl.SSLSocket) and reader.connection.pending())
        return bool(read or readable(60, reader.connection.fileno()))

    def serve_one(self, connection, reader, line, fields, number):
        """Reads the rest of a request, and answers as the case says. Returns whether the connection goes on."""
        case = self.case
        key = (value(fields, "sec-websocket-key") or "").encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.accept = base64.b64encode(hashlib.sha1(key).digest())
        self.wish = value(fields, "upgrade")
        reader.quiet = LONG if case.watched else QUIET
        method, _, rest = line.partition(" ")
        scripted = bool(case.upstream) and "/next" not in rest
        if scripted and case.early and not self.follow(case.upstream, connection, reader):
            return False
        whole = self.read(reader, line, fields, number)
        if not whole or (scripted and case.early):
            return whole
        answer = ANSWER.replace(b"ok", b"") if method == "HEAD" else ANSWER
        return self.follow(case.upstream if scripted else (answer,), connection, reader)

    @contextlib.contextmanager
    def busy(self):
        with self.changed:
            self.reading += 1
        try:
            yield
        finally:
            with self.changed:
                self.reading -= 1
                self.changed.notify_all()

    def follow(self, steps, connection, reader):
        """Does what a case says of the upstream. Returns whether the connection goes on."""
        for step in steps:
            if step == TOLD:
                self.told.wait(FIRST)
            elif step == FIN:
                connection.shutdown(socket.SHUT_WR)
                try:
                    while True:
                        reader.more(FIRST)
                except (Ended, Quiet):
                    return False
            elif step == LEFT:
                try:
                    reader.more(FIRST / 2)
                except Ended:
                    return False
                except Quiet:
                    pass
            elif step == CLOSE:
                return False
            elif step == RESET:
                reset(connection)
                return False
            elif step == END:
                self.ends.append(reader.end())
            elif step == TAKE:
                self.ends.append(reader.take())
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
            elif isinstance(step, Switch):
                if not self.follow(step.steps(self.wish), connection, reader):
                    return False
            else:
                try:
                    connection.sendall(step.replace(b"{accept}", self.accept))
                except OSError:
                    return False
        return True

    def read(self, reader, line, fields, number):
        """Reads a request's body, and remembers the request. Returns whether it was whole."""
        seen = self.seen
        at = len(seen)
        seen.append("")  # in the order in which requests began
        self.connections.append(number)
        body, end = [], ""
        try:
            if self.begins(reader, fields):
                reader.chunks(body)
            elif value(fields, "content-length"):
                reader.counted(body, int(value(fields, "content-length")))
        except Quiet:
            end = " and no end" if self.case.watched else " cut"
        except (Ended, Broken):
            end = " cut"
        method, _, target = line.rpartition(" ")[0].partition(" ")
        seen[at] = f"{method} {value(fields, 'host') or 'no-host'} {target}" + named(fields, self.case.shows) + (
            f" body {shown(body)}" if body else "") + end
        return not end

    def begins(self, reader, fields):
        """Waits for the beginning of a request's body, if it has one. Returns whether that is of chunks."""
        chunked = "chunked" in (value(fields, "transfer-encoding") or "")
        if (chunked or value(fields, "content-length") not in (None, "", "0")) and not reader.buffer:
            reader.more()
        self.begun.set()
        return chunked


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Client:
    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.reader = Reader(self.connection)
        self.shows = ()  # names of fields of responses

    def close(self):
        self.connection.close()

    def send(self, data, with_fin=False):
        """Sends bytes, together with the FIN that follows if that is asked for."""
        try:
            self.connection.sendall(data, socket.MSG_MORE if with_fin else 0)
        except OSError:
            pass  # what was answered before is read all the same

    def wait(self, step, upstream):
        """Waits as a step says."""
        if step == SEEN:
            upstream.asked.wait(FIRST)
        elif step == BODY:
            upstream.begun.wait(FIRST)
        elif isinstance(step, Pause):
            time.sleep(step.seconds)
        else:
            raise ValueError(step)

    def leave(self, step):
        """Closes the connection, or resets it."""
        if step == RESET:
            reset(self.connection)
        else:
            self.close()

    def await_head(self):
        try:
            while b"\r\n\r\n" not in self.reader.buffer:
                self.reader.more(FIRST)
        except (Ended, Quiet):
            pass

    def end(self):
        """Returns how the connection ends, if it does."""
        try:
            while True:
                if self.reader.buffer:
                    return "something more"
                self.reader.more(QUIET)
        except Ended:
            return "closed"
        except Quiet:
            return "open"

    def response(self, method, seconds=FIRST):
        """Returns what came as text, and whether another response may follow."""
        while True:
            try:
                line, fields = self.reader.head(seconds)
                status = int(line.split(" ")[1])
            except Quiet:
                return "no answer", False
            except Ended:
                return "closed", False
            except (Broken, ValueError, IndexError):
                return "something that is no response", False
            if status >= 200:
                break
            if status == 101:
                return "101" + named(fields, self.shows), False
            seconds = QUIET
        text, body, open_after = str(status) + named(fields, self.shows), [], value(fields, "connection") != "close"
        try:
            if method == "HEAD" or status in NO_BODY:
                pass
            elif "chunked" in (value(fields, "transfer-encoding") or ""):
                self.reader.chunks(body)
            elif value(fields, "content-length") is not None:
                self.reader.counted(body, int(value(fields, "content-length")))
            else:
                open_after = False
                self.reader.rest(body)
        except Quiet:
            return f"{text} body {shown(body)} and no end", False
        except Ended:
            return f"{text} body {shown(body)} cut", False
        except (Broken, ValueError):
            return f"{text} body {shown(body)} broken", False
        return text + (f" body {shown(body)}" if body and status < 400 else ""), open_after


def request(case, port, upstream):
    """Sends the bytes of a request. Returns what the upstream saw, and what the client was told besides."""
    client = Client(port)
    try:
        client.send(case.sent)
        told = []
        while True:
            text, more = client.response("HEAD" if case.sent.startswith(b"HEAD ") else "GET", QUIET if told else FIRST)
            if text not in ("200", "200 body ok") and not (told and text in ("no answer", "closed")):
                told.append(text)
            elif text.startswith("200"):
                told.append("")  # the upstream's answer
            if not more:
                break
    finally:
        client.close()
    upstream.settled()
    told = [each for each in told if each]
    # Whether the upstream has seen the beginning of what is refused is a matter of time.
    seen = [each for each in upstream.seen if not (told and each.endswith(" cut"))]
    return ", ".join([*seen, *told]) or "nothing"


def response(case, port, upstream):
    """Asks once, and the bytes of a response come back. Returns what the client got, and whether the upstream's connection lives."""
    client = Client(port)
    try:
        length = "Content-Length: 0\r\n" if case.method == "POST" else ""
        client.shows = case.shows
        client.send(f"{case.method} /case HTTP/1.1\r\nHost: a.test\r\n{length}\r\n".encode())
        text, more = client.response(case.method)
        if text.endswith("no end") or text in ("101", "no answer"):
            return text
        client.shows = ()
        if not more:
            client.close()
            client = Client(port)
        before = upstream.connections[-1] if upstream.connections else 0
        upstream.asked_next = True
        client.send(b"GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n")
        after, _ = client.response("GET")
        if after != "200 body ok":
            return f"{text}; the next request: {after}"
        kept = upstream.connections and upstream.connections[-1] == before
        return text + ("; kept" if kept else "; closed")
    finally:
        client.close()


def connection(case, port, upstream):
    """Plays the steps of a client. Returns what the upstream saw, what the client got, and what became of its connection."""
    client = Client(port)
    told, fin = [], False
    try:
        for at, step in enumerate(case.steps):
            if step == READ:
                told.append(client.response(case.method)[0])
                upstream.told.set()
            elif step == HEAD:
                client.await_head()
                upstream.told.set()
            elif step == SEEN:
                upstream.asked.wait(FIRST)
            elif step == FIN:
                client.connection.shutdown(socket.SHUT_WR)
                fin = True
            else:
                client.send(step, case.steps[at + 1:at + 2] == (FIN,))
        if fin:
            end = client.end()
        else:
            client.send(b"GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n")
            text, _ = client.response("GET")
            end = {"200 body ok": "kept"}.get(text, text)
    finally:
        client.close()
    upstream.settled()
    # Whether the upstream sees the beginning of what a client breaks off is a matter of time.
    seen = [each for each in upstream.seen if "/next" not in each and (case.early or not each.endswith(" cut"))]
    return ", ".join([*once(seen, case.steps.count(READ)), *told]) + "; " + end


def once(seen, asked):
    """How often a proxy repeats a request is a matter of what it has done before: a kept connection that fails is one more reason."""
    return [seen[0], "again"] if len(seen) > asked and len(set(seen)) == 1 else seen
