"""TLS at the two ends of a proxy: certificates, first messages of a handshake as bytes, clients and upstreams."""

import os
import re
import socket
import ssl
import struct
import subprocess

from . import ends, http2

NOTIFY = "ends TLS by close_notify, and then the connection"
ALERTS = {0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow", 40: "handshake_failure", 42: "bad_certificate",
          46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 50: "decode_error", 51: "decrypt_error", 70: "protocol_version",
          71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 100: "no_renegotiation", 109: "missing_extension",
          110: "unsupported_extension", 112: "unrecognized_name", 116: "certificate_required", 120: "no_application_protocol"}
ALERT, HANDSHAKE = 21, 22  # types of records
SERVER_HELLO, CERTIFICATE = 2, 11  # types of messages
VERSIONS = {0x300: "SSLv3", 0x301: "TLSv1.0", 0x302: "TLSv1.1", 0x303: "TLSv1.2"}
SUITES = (0xc02b, 0xc02f, 0xc02c, 0xcca9)
NAME, GROUPS, POINTS, SIGNATURES, PROTOCOLS = 0, 10, 11, 13, 16  # extensions


class Certificates:
    """Certificates of a run, all for one key."""

    directory = ""

    @classmethod
    def make(cls, directory):
        cls.directory = os.path.join(directory, "tls")
        os.makedirs(cls.directory)
        cls.run("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", "key.pem")
        for authority in ("ca", "other-ca"):
            cls.run("req", "-x509", "-key", "key.pem", "-subj", "/CN=" + authority, "-days", "2", "-out", authority + ".crt")
        for name in ("a.test", "b.test", "up.test", "wrong.test"):
            cls.sign(name, name)
        cls.sign("wildcard", "*.test")
        cls.sign("common-name", None, subject="up.test")
        cls.sign("expired", "up.test", days=-1)
        cls.sign("stranger", "up.test", authority="other-ca")
        cls.sign("client", "client.test", usage="clientAuth")
        cls.sign("expired-client", "client.test", usage="clientAuth", days=-1)
        cls.sign("strange-client", "client.test", usage="clientAuth", authority="other-ca")
        cls.run("req", "-x509", "-key", "key.pem", "-subj", "/CN=up.test", "-days", "2", "-addext", "subjectAltName=DNS:up.test",
                "-out", "self-signed.crt")
        with open(cls.path("key.pem"), encoding="ascii") as file:
            key = file.read()
        for name in ("a.test", "b.test"):  # HAProxy wants both in one file
            with open(cls.path(name + ".crt"), encoding="ascii") as file, open(cls.path(name + ".pem"), "w", encoding="ascii") as both:
                both.write(file.read() + key)

    @classmethod
    def sign(cls, file, name, days=2, authority="ca", usage="serverAuth", subject="x"):
        with open(cls.path("extensions"), "w", encoding="ascii") as extensions:
            extensions.write(f"extendedKeyUsage={usage}\n" + (f"subjectAltName=DNS:{name}\n" if name else ""))
        cls.run("req", "-new", "-key", "key.pem", "-subj", "/CN=" + subject, "-out", "request")
        cls.run("x509", "-req", "-in", "request", "-CA", authority + ".crt", "-CAkey", "key.pem", "-days", str(days), "-extfile", "extensions",
                "-out", file + ".crt")

    @classmethod
    def run(cls, *arguments):
        subprocess.run(["openssl", *arguments], cwd=cls.directory, check=True, capture_output=True)

    @classmethod
    def path(cls, file):
        return os.path.join(cls.directory, file)


# ---- the first message of a client


def extension(kind, data):
    return struct.pack(">HH", kind, len(data)) + data


def listed(data, size=2):
    return len(data).to_bytes(size, "big") + data


def server_names(*names):
    return extension(NAME, listed(b"".join(b"\0" + listed(name) for name in names)))


def protocols(*names):
    return extension(PROTOCOLS, listed(b"".join(listed(name, 1) for name in names)))


def words(*values):
    return b"".join(struct.pack(">H", value) for value in values)


BASIC = (extension(GROUPS, listed(words(0x1d, 0x17))) + extension(POINTS, b"\1\0") + extension(SIGNATURES, listed(words(0x403, 0x804, 0x401))))


def hello_message(*extensions, version=0x303, suites=SUITES, compressions=b"\0", basic=BASIC):
    body = struct.pack(">H", version) + b"r" * 32 + b"\0" + listed(words(*suites)) + listed(compressions, 1)
    body += listed(basic + b"".join(extensions))
    return b"\1" + listed(body, 3)


def record(payload, kind=HANDSHAKE, version=0x301):
    return struct.pack(">BHH", kind, version, len(payload)) + payload


def hello(*extensions, **more):
    return record(hello_message(*extensions, **more))


def play_hello(case, port, _):
    """Sends the bytes of a case. Returns how the server answers: with a certificate of TLS 1.2, an alert or something else."""
    client = ends.Client(port)
    told, handshake = [], b""
    try:
        for step in case.steps:
            client.send(step)
        while True:
            kind, _, length = struct.unpack(">BHH", take(client.reader, 5))
            if kind == ord("H"):
                return "status " + take(client.reader, 7)[4:].decode("latin-1")
            payload = take(client.reader, length)
            if kind == ALERT:
                told.append("alert " + ALERTS.get(payload[1], str(payload[1])))
            elif kind == HANDSHAKE:
                handshake += payload
                found = greeting(handshake)
                if found:
                    return ", ".join([*told, found])
            else:
                return ", ".join([*told, "something that is no TLS"])
    except ends.Ended:
        return ", ".join(told or ["closed"])
    except ends.Quiet:
        return ", ".join([*told, "no answer"])
    finally:
        client.close()


def take(reader, count):
    while len(reader.buffer) < count:
        reader.more(ends.LONG)
    found, reader.buffer = reader.buffer[:count], reader.buffer[count:]
    return found


def greeting(handshake):
    """Returns what a server has chosen, once its certificate is there."""
    found = {}
    while len(handshake) >= 4 and len(handshake) >= 4 + int.from_bytes(handshake[1:4], "big"):
        length = int.from_bytes(handshake[1:4], "big")
        found[handshake[0]], handshake = handshake[4:4 + length], handshake[4 + length:]
    if CERTIFICATE not in found:
        return None
    chosen = found[SERVER_HELLO]
    name = next((name for name in ("a.test", "b.test") if name.encode() in found[CERTIFICATE]), "?")
    protocol = re.search(rb"\0\x10\0[\x05\x0b]\0[\x03\x09][\x02\x08](h2|http/1\.1)", chosen[35:])
    return " ".join([VERSIONS.get(int.from_bytes(chosen[:2], "big"), "?"), name, *([protocol.group(1).decode()] if protocol else [])])


# ---- clients with a whole handshake


class Client(ends.Client):
    def __init__(self, port, name="a.test", alpn=(), certificate=None, minimum=None, maximum=None, ciphers=None):
        super().__init__(port)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        settings_of(context, minimum, maximum, ciphers, alpn)
        if certificate:
            context.load_cert_chain(Certificates.path(certificate + ".crt"), Certificates.path("key.pem"))
        self.connection.settimeout(ends.FIRST)
        self.connection = context.wrap_socket(self.connection, server_hostname=name, suppress_ragged_eofs=False)
        self.reader.connection = self.connection

    def ending(self):
        """Returns how the connection ends, if it does."""
        found = self.reader.end()
        return reason(self.reader.error) if self.reader.error else found


def settings_of(context, minimum, maximum, ciphers, alpn):
    context.minimum_version = minimum or ssl.TLSVersion.TLSv1_2
    if maximum:
        context.maximum_version = maximum
    if ciphers:
        context.set_ciphers(ciphers)
    if alpn:
        context.set_alpn_protocols(list(alpn))


def reason(error):
    """Returns an error of TLS as the cases say it."""
    text = getattr(error, "reason", None) or ""
    if "UNEXPECTED_EOF" in text or isinstance(error, ssl.SSLEOFError):
        return "cut"
    alert = re.search("ALERT_(.*)", text)
    return "alert " + alert.group(1).lower() if alert else text.lower() or "reset"


def play_client(case, port, upstream):
    """Returns what the upstream saw, what the client got, and how the client's connection ended."""
    options = dict(case.tls)
    if options.pop("renegotiates", False):
        return play_renegotiation(port)
    frames = options.pop("frames", False)
    try:
        client = Client(port, **options)
    except (ssl.SSLError, OSError) as e:
        return "no handshake: " + reason(e)
    if frames:
        spoken = http2.Client(port, client)
        spoken.play(case, upstream)
        upstream.settled()
        answers = [spoken.answers[each] for each in case.streams if each in spoken.answers]
        return ", ".join([*upstream.seen, *answers, *([spoken.end] if spoken.end else [])]).replace(", GET a.test /next", "")
    told = []
    try:
        for step in case.steps:
            if step == ends.READ:
                told.append(client.response(case.method)[0])
            elif step == ends.END:
                told.append("then " + client.ending())
            elif step == ends.HEAD:
                client.await_head()
            elif step == NOTIFY:
                notify(client.connection)
                upstream.told.set()
            elif step == ends.FIN:
                client.connection.shutdown(socket.SHUT_WR)
            else:
                client.send(step)
        if "closed" in told and client.reader.error:
            told[told.index("closed")] = reason(client.reader.error)
    finally:
        client.close()
    upstream.settled()
    return ", ".join([*upstream.seen, *told])


def play_renegotiation(port):
    """Asks for another handshake, as Python cannot. Returns what comes of it."""
    asking = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    asking.stdin.write(b"R\n")
    asking.stdin.flush()
    try:
        asking.wait(ends.LONG)
    except subprocess.TimeoutExpired:
        pass  # it has another handshake, or waits for one
    try:
        # "Q" ends it, if it has not ended by itself
        text, _ = asking.communicate(b"Q\n" if asking.poll() is None else None, ends.LONG)
    except subprocess.TimeoutExpired:
        asking.kill()
        text, _ = asking.communicate()
    behind = text.split(b"RENEGOTIATING")[-1]
    if b"no renegotiation" in behind:
        return "alert no_renegotiation"
    return "another handshake" if b"verify" in behind else "closed" if b"error" in behind or b"closed" in behind else "no answer"


def notify(connection):
    connection.settimeout(0.2)
    try:
        connection.unwrap()
    except OSError:
        pass  # the other side need not answer


# ---- upstreams


class Upstream(ends.Upstream):
    """Speaks TLS as a case says, or something else instead."""

    def serve(self, connection, number):
        options = dict(self.case.tls)
        if "instead" in options:
            with connection:
                ends.Reader(connection).take()
                connection.sendall(options["instead"])
            return
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate = options.pop("certificate", "up.test")
        context.load_cert_chain(Certificates.path(certificate + ".crt"), Certificates.path("key.pem"))
        if options.pop("asks", False):
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(Certificates.path("ca.crt"))
        context.sni_callback = self.remember
        settings_of(context, options.get("minimum"), options.get("maximum"), options.get("ciphers"), options.get("alpn"))
        try:
            connection.settimeout(ends.FIRST)
            connection = context.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()
            return
        super().serve(connection, number)

    def remember(self, _, name, __):
        self.seen.append(f"for {name}")

    def follow(self, steps, connection, reader):
        for step in steps:
            if step == NOTIFY:
                notify(connection)
                return False
            if not super().follow((step,), connection, reader):
                return False
        return True


def play_upstream(case, port, upstream):
    """Asks once. Returns what the upstream saw, if it was asked, and what the client got."""
    client = ends.Client(port)
    try:
        client.send(f"{case.method} /1 HTTP/1.1\r\nHost: a.test\r\n".encode() + (b"Content-Length: 0\r\n\r\n" if case.method == "POST" else b"\r\n"))
        told, _ = client.response(case.method)
    finally:
        client.close()
    upstream.settled()
    seen = list(dict.fromkeys(upstream.seen))
    return ", ".join([*(seen if any(each.startswith(case.method) for each in seen) else []), told])
