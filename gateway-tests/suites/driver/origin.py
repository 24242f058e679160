"""An upstream that believes what a careless one might: origin.py PORT.

It trims field names, takes '_' for '-', and folds case as Unicode does. Where it finds "chunked" it reads chunks, whatever
else the head says. So what the gateway lets through of a disguised Transfer-Encoding or Content-Length takes effect, and
the suites notice. POST is answered with the body, /echo with the fields, /cookie with the cookies, one each line.
"""

import asyncio
import sys


def parse(head):
    """Returns method, path, and fields by name."""
    line, *rest = head.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n").split("\n")
    method, path, *_ = [*line.split(" "), "", ""]
    fields = [(name.strip().upper().replace("_", "-"), value.strip()) for name, _, value in (each.partition(":") for each in rest)]
    return method, path.partition("?")[0], fields


async def chunks(reader):
    body = b""
    while True:
        size = int((await reader.readuntil(b"\n")).split(b";")[0].strip(), 16)
        if size < 0:
            raise ValueError("a negative size")
        if size == 0:
            while (await reader.readuntil(b"\n")).strip():
                pass
            return body
        body += await reader.readexactly(size)
        if await reader.readexactly(2) != b"\r\n":
            raise ValueError("a chunk that is longer than it says")


async def read_body(reader, fields):
    if any(name == "TRANSFER-ENCODING" and "chunked" in value.lower() for name, value in fields):
        return await chunks(reader)
    lengths = [value for name, value in fields if name == "CONTENT-LENGTH"]
    if not lengths:
        return b""
    length = int(lengths[-1])
    if length < 0:
        raise ValueError("a negative length")
    return await reader.readexactly(length)


def answer(method, path, fields, body):
    if path == "/echo":
        return "".join(f"{name}: {value}\n" for name, value in fields).encode()
    if path == "/cookie":
        pairs = [pair.strip() for name, value in fields if name == "COOKIE" for pair in value.split(";")]
        return "".join(f"{pair}\n" for pair in pairs if pair.find("=") > 0).encode()
    return body if method == "POST" else b"hello"


def response(status, body, more=""):
    return (f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n{more}\r\n").encode()


async def exchange(reader, writer):
    """Serves one request; returns whether another may follow."""
    method, path, fields = parse(await reader.readuntil(b"\r\n\r\n"))
    named = {name: value.lower() for name, value in fields}
    if "h2c" in named.get("UPGRADE", ""):
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        return False
    if named.get("EXPECT") == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        body = answer(method, path, fields, await read_body(reader, fields))
    except (ValueError, asyncio.LimitOverrunError):
        writer.write(response("400 Bad Request", b"", "Connection: close\r\n"))
        return False
    writer.write(response("200 OK", body) + (b"" if method == "HEAD" else body))
    await writer.drain()
    return "close" not in named.get("CONNECTION", "")


async def serve(reader, writer):
    try:
        while await exchange(reader, writer):
            pass
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), limit=1 << 20)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
