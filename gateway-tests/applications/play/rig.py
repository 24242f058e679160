"""The parts of ../clients that applications need, too: certificates, files, and the gateway itself."""

import importlib
import os
import sys

_CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients")
sys.path.insert(0, _CLIENTS)
mirror = importlib.import_module("driver.mirror")
proxy = importlib.import_module("driver.proxy")
