"""Serves the suite's own WebSocket echo on a port of 127.0.0.1 that the kernel chooses, and prints that port.

Unlike `wstest -m testeeserver` it takes requests whose Host names another port than its own, as those that come by a
proxy do, and it listens on no other address.
"""
import sys

from autobahn.twisted.websocket import listenWS
from autobahntestsuite.testee import TesteeServerFactory
from twisted.internet import reactor

factory = TesteeServerFactory("ws://127.0.0.1:9", debug=False, ident="echo")
factory.externalPort = None
factory.port = 0
print(listenWS(factory, interface="127.0.0.1").getHost().port)
sys.stdout.flush()
reactor.run()
