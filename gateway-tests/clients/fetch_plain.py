"""fetch_plain.py LIBRARY URL: fetches by way of HTTP_PROXY unless NO_PROXY says otherwise, prints the body."""
import asyncio
import sys


def with_urllib(url):
    import urllib.request

    return urllib.request.urlopen(url, timeout=10).read().decode()


def with_requests(url):
    import requests

    return requests.get(url, timeout=10).text


def with_httpx(url):
    import httpx

    return httpx.get(url, timeout=10).text


def with_aiohttp(url):
    import aiohttp

    async def fetch():
        async with aiohttp.ClientSession(trust_env=True, timeout=aiohttp.ClientTimeout(total=10)) as session:
            async with session.get(url) as response:
                return await response.text()

    return asyncio.run(fetch())


sys.stdout.write(globals()["with_" + sys.argv[1]](sys.argv[2]))
