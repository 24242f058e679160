"""fetch_requests.py URL CA: fetches by way of HTTPS_PROXY, prints the body."""
import sys

import requests

response = requests.get(sys.argv[1], verify=sys.argv[2], timeout=20)
response.raise_for_status()
sys.stdout.write(response.text)
