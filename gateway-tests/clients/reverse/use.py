"""use.py LIBRARY BASE CA ACTION: uses a server with a library of Python, and prints what came of it."""
import asyncio
import http.client
import io
import os
import sys

library, base, ca, action = sys.argv[1:5]
SIZE = int(os.environ["USE_SIZE"])
BODY = b"x" * SIZE
LOGIN = ("ci", "open@sesame/1")


def with_urllib():
    import base64
    import ssl
    import urllib.error
    import urllib.request

    context = ssl.create_default_context(cafile=ca)
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), urllib.request.ProxyHandler({}))

    def get(path, **more):
        try:
            with opener.open(urllib.request.Request(base + path, **more), timeout=60) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read()

    if action == "login":
        return told(*get("/login", headers={"Authorization": "Basic " + base64.b64encode(":".join(LOGIN).encode()).decode()}))
    if action == "stream":
        return pieces(get("/stream")[1].splitlines())
    if action == "again":
        get("/close")
        return told(*get("/hello"))
    if action == "restart":
        return across_restart(lambda path: told(*get(path)), (http.client.IncompleteRead, ConnectionResetError))
    return told(*get("/" + action, **({"data": BODY} if action.startswith("up") else {})))


def with_requests():
    import requests

    session = requests.Session()
    session.verify = ca
    session.trust_env = False
    if action == "login":
        return answer(session.get(base + "/login", auth=LOGIN))
    if action == "stream":
        with session.get(base + "/stream", stream=True) as response:
            return pieces(response.iter_lines())
    if action == "again":
        session.get(base + "/close")
        return answer(session.get(base + "/hello"))
    if action == "restart":
        return across_restart(lambda path: answer(session.get(base + path)), requests.exceptions.ChunkedEncodingError)
    if action.startswith("up"):
        return answer(session.post(base + "/" + action, data=BODY))
    return answer(session.get(base + "/" + action))


def with_httpx(http2):
    import httpx

    with httpx.Client(verify=ca, http2=http2, trust_env=False, timeout=60) as client:
        if action == "login":
            return answer(client.get(base + "/login", auth=LOGIN))
        if action == "stream":
            with client.stream("GET", base + "/stream") as response:
                return pieces(line.encode() for line in response.iter_lines())
        if action == "again":
            client.get(base + "/close")
            return answer(client.get(base + "/hello"))
        if action == "restart":
            return across_restart(lambda path: answer(client.get(base + path)), (httpx.RemoteProtocolError, httpx.ReadError))
        if action.startswith("up"):
            # In pieces, as from a file: httpx copies what is left of one large piece for each frame of HTTP/2.
            parts = (BODY[at:at + 65536] for at in range(0, SIZE, 65536))
            return answer(client.post(base + "/" + action, content=parts, headers={"Content-Length": str(SIZE)}))
        return answer(client.get(base + "/" + action))


async def with_aiohttp():
    import ssl

    import aiohttp

    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=ca))
    async with aiohttp.ClientSession(connector=connector) as session:
        if action == "login":
            call = session.get(base + "/login", headers={"Authorization": aiohttp.encode_basic_auth(*LOGIN)})
        elif action == "stream":
            async with session.get(base + "/stream") as response:
                return pieces([line async for line in response.content])
        elif action == "again":
            async with session.get(base + "/close") as response:
                await response.read()
            call = session.get(base + "/hello")
        elif action == "restart":
            try:
                async with session.get(base + "/restart") as response:
                    await response.read()
                    return "whole"
            except (aiohttp.ClientPayloadError, aiohttp.ClientOSError):
                async with session.get(base + "/restart/hello") as response:
                    return "cut, " + told(response.status, await response.read())
        elif action.startswith("up"):
            call = session.post(base + "/" + action, data=io.BytesIO(BODY))
        else:
            call = session.get(base + "/" + action)
        async with call as response:
            return told(response.status, await response.read())


def with_libcurl(http2):
    import pycurl

    curl = pycurl.Curl()
    curl.setopt(pycurl.CAINFO, ca)
    curl.setopt(pycurl.PROXY, "")
    curl.setopt(pycurl.TIMEOUT, 60)
    curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS if http2 else pycurl.CURL_HTTP_VERSION_1_1)

    def get(path):
        body = io.BytesIO()
        curl.setopt(pycurl.URL, base + path)
        curl.setopt(pycurl.WRITEDATA, body)
        curl.perform()
        return curl.getinfo(pycurl.RESPONSE_CODE), body.getvalue()

    if action == "login":
        curl.setopt(pycurl.USERPWD, "%s:%s" % LOGIN)
        return told(*get("/login"))
    if action == "stream":
        return pieces(get("/stream")[1].splitlines())
    if action == "again":
        get("/close")
        return told(*get("/hello"))
    if action == "restart":
        # CURLE_PARTIAL_FILE, CURLE_RECV_ERROR and CURLE_HTTP2_STREAM, for which PycURL has no name
        return across_restart(lambda path: told(*get(path)), pycurl.error, codes=(18, 56, 92))
    if action.startswith("up"):
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDSIZE_LARGE, SIZE)
        curl.setopt(pycurl.READDATA, io.BytesIO(BODY))
    return told(*get("/" + action))


def across_restart(get, cut, codes=()):
    """
    Gets a response across a restart. CUT is what the library raises for one that has no end, of libcurl with one of the CODES. The gateway
    cuts by a reset, which most versions of Python report as the end of the file under TLS.
    """
    try:
        return "whole, " + get("/restart")
    except cut as problem:
        if isinstance(problem, http.client.RemoteDisconnected) or (codes and problem.args[0] not in codes):
            raise  # the server sent no response, so it cut none
        return "cut, " + get("/restart/hello")


def told(status, body):
    return f"{status} {len(body) if len(body) > 1000 else body.decode().strip()[:9] if status == 200 else ''}".strip()


def answer(response):
    return told(response.status_code, response.content)


def pieces(lines):
    return "%d pieces" % sum(1 for line in lines if line.strip())


CALLS = {
    "urllib": with_urllib,
    "requests": with_requests,
    "httpx": lambda: with_httpx(False),
    "httpx-h2": lambda: with_httpx(True),
    "aiohttp": lambda: asyncio.run(with_aiohttp()),
    "libcurl": lambda: with_libcurl(False),
    "libcurl-h2": lambda: with_libcurl(True),
}
for _ in range(int(os.environ["USE_TRIES"])):
    try:
        print(CALLS[library](), flush=True)
    except Exception as problem:
        print("error:", type(problem).__name__, str(problem)[:100], flush=True)
