"""fetch_curl.py PROXY PROXY_CA CA URL...: fetches all URLs at once with libcurl through a proxy to which it speaks HTTP/2
over TLS. Prints the bodies in order, and how many connections to the proxy it made.
"""
import io
import sys

import pycurl

HTTPS2_PROXY = 3  # CURLPROXY_HTTPS2, for which pycurl has no name

proxy, proxy_ca, ca = sys.argv[1:4]
multi = pycurl.CurlMulti()
multi.setopt(pycurl.M_PIPELINING, 2)  # CURLPIPE_MULTIPLEX
transfers = []
for url in sys.argv[4:]:
    body = io.BytesIO()
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.PROXY, proxy)
    curl.setopt(pycurl.PROXYTYPE, HTTPS2_PROXY)
    curl.setopt(pycurl.PROXY_CAINFO, proxy_ca)
    curl.setopt(pycurl.CAINFO, ca)
    curl.setopt(pycurl.HTTPPROXYTUNNEL, 1)
    curl.setopt(pycurl.NOPROXY, "")
    curl.setopt(pycurl.TIMEOUT, 20)
    curl.setopt(pycurl.WRITEDATA, body)
    log = []
    curl.setopt(pycurl.VERBOSE, 1)
    curl.setopt(pycurl.DEBUGFUNCTION, lambda kind, text, log=log: log.append(text.decode("latin-1")) if kind == 0 else None)
    multi.add_handle(curl)
    transfers.append((curl, body, log))
running = len(transfers)
while running:
    _, running = multi.perform()
    multi.select(1.0)
_, _, failed = multi.info_read()
for curl, number, message in failed:
    sys.exit("curl: (%d) %s\n%s" % (number, message, "".join(log for _, _, log in transfers for log in log)))
for curl, body, _ in transfers:
    sys.stdout.write(body.getvalue().decode() + "\n")
versions = [line for _, _, log in transfers for line in log if "ALPN: server accepted" in line or "CONNECT" in line]
sys.stderr.write("".join(versions))
