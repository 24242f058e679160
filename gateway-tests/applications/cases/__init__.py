"""The applications, in the order of the page."""

from . import caddy, etcd, nats, tomcat

ALL = (tomcat.Tomcat(), caddy.Caddy(), nats.Nats(), etcd.Etcd())
