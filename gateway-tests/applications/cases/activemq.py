"""ActiveMQ: STOMP over WebSocket, and its console."""

import os

from play import install
from play.rig import mirror
from play.stage import Application, action, check, end, until, until_newer

BROKER = """\
<beans xmlns="http://www.springframework.org/schema/beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
    http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="shop" dataDirectory="{data}" useJmx="false">
    <persistenceAdapter><kahaDB directory="{data}/kahadb"/></persistenceAdapter>
    <plugins><simpleAuthenticationPlugin><users><authenticationUser username="app" password="secret" groups="users"/></users>
    </simpleAuthenticationPlugin></plugins>
    <transportConnectors>
      <transportConnector name="ws" uri="ws://127.0.0.1:{port}?websocket.maxTextMessageSize=10000000&amp;websocket.maxBinaryMessageSize=10000000&amp;transport.maxFrameSize=104857600"/>
    </transportConnectors>
  </broker>
</beans>
"""


class ActiveMq(Application):
    name = "ActiveMQ"
    how = "A broker with STOMP over WebSocket. The client is `@stomp/stompjs` in Node."

    def version(self):
        return install.maven_version("activemq")

    def install(self):
        install.maven("activemq")
        install.npm()

    def prepare(self, stage):
        mirror.write(os.path.join(stage.directory, "broker.xml"), BROKER.format(
            data=os.path.join(stage.directory, "data"), port=stage.application_port))

    def command(self, stage):
        home = os.path.join(stage.cache, "activemq", "home")
        return [
            "java", "-Xmx1g", f"-Dactivemq.home={home}", f"-Dactivemq.base={stage.directory}", f"-Dactivemq.conf={home}/conf",
            "-Djava.io.tmpdir=" + stage.directory, f"-Dlog4j2.configurationFile={home}/conf/log4j2.properties",
            f"-Dactivemq.data={stage.directory}/data", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-jar", f"{home}/bin/activemq.jar", "start",
            f"xbean:file:{stage.directory}/broker.xml"]

    def client(self, via, what, password="secret"):
        return ("stomp.cjs", via.secure.replace("http", "ws", 1), password, what)

    @action("log in, send and subscribe")
    def login(self, via):
        check(via.stage.node(*self.client(via, "hello")).strip(), "hello")

    @action("refuse a wrong password")
    def refused(self, via):
        said = via.stage.node(*self.client(via, "hello", "wrong"), fails=True)
        check("User name [app] or password is invalid" in said, True, said)

    @action("send and receive 100 MB in messages of 1 MB")
    def large(self, via):
        check(via.stage.node(*self.client(via, "large")).strip(), "100 messages, 100000000 characters")

    @action("exchange heartbeats across a reload, notice that the broker was killed, and reconnect")
    def restart(self, via):
        client = via.stage.popen_node(*self.client(via, "wait"))
        try:
            until(client, "connected")
            via.stage.reload()
            until_newer(client, "heartbeat")
            via.stage.kill()
            until(client, "closed")
            via.stage.start()
            until(client, "connected")
            via.stage.node(*self.client(via, "publish"))
            until(client, "news")
        finally:
            end(client)
