"""fetch_httpx.py URL CA: fetches by way of HTTPS_PROXY over HTTP/2 if the server has it, prints version and body."""
import ssl
import sys

import httpx

with httpx.Client(http2=True, verify=ssl.create_default_context(cafile=sys.argv[2]), timeout=20) as client:
    response = client.get(sys.argv[1])
    response.raise_for_status()
    sys.stdout.write(response.http_version + " " + response.text)
