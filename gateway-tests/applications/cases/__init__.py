"""The applications, in the order of the page."""

from . import activemq, caddy, docker, etcd, grpc, keycloak, kubernetes, nats, nginx, nodered, s3proxy, spring, tomcat, yoga

ALL = (
    tomcat.Tomcat(), caddy.Caddy(), nats.Nats(), etcd.Etcd(), s3proxy.S3Proxy(), grpc.Grpc(), yoga.Yoga(), spring.Native(),
    spring.Framework(), docker.Docker(), kubernetes.Kubernetes(), activemq.ActiveMq(), keycloak.Keycloak(), nginx.Nginx(), nodered.NodeRed())
