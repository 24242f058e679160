"""Tomcat with its example applications."""

import os
import shutil

from play import install
from play.rig import mirror
from play.stage import SIZE, Application, Wrong, action, check, form, found

PROTECTED = "/examples/jsp/security/protected/index.jsp"


class Tomcat(Application):
    name = "Tomcat"
    how = "The distribution runs with its example applications. The clients are curl, and `ws` of Node."
    big = "/big"

    def version(self):
        return install.maven_version("tomcat")

    def install(self):
        install.maven("tomcat")
        install.npm()

    def prepare(self, stage):
        home = os.path.join(stage.directory, "tomcat")
        shutil.copytree(os.path.join(stage.cache, "tomcat", "home"), home)
        server = os.path.join(home, "conf", "server.xml")
        with open(server, encoding="utf-8") as file:
            text = file.read()
        text = text.replace('<Server port="8005"', '<Server port="-1"')
        text = text.replace('<Connector port="8080"', f'<Connector address="127.0.0.1" maxPostSize="-1" port="{stage.application_port}"')
        mirror.write(server, text)
        mirror.write(os.path.join(home, "conf", "tomcat-users.xml"),
                     '<tomcat-users><user username="tom" password="secret" roles="tomcat"/></tomcat-users>')
        os.link(stage.big_file()[0], os.path.join(home, "webapps", "ROOT", "big"))

    def command(self, stage):
        return [os.path.join(stage.directory, "tomcat", "bin", "catalina.sh"), "run"]

    @action("log in with a form, and keep the session")
    def login(self, via):
        cookies = via.cookie_file()
        jar = ("-b", cookies, "-c", cookies)
        page, status = via.curl(PROTECTED, *jar)
        check(status, 200)
        found("(j_security_check)", page)
        data = form(j_username="tom", j_password="secret")
        page, status = via.curl("/examples/jsp/security/protected/j_security_check", "-L", *jar, "-d", data)
        check(status, 200)
        found("(logged in as remote user)", page)
        page, status = via.curl(PROTECTED, *jar)
        found("(logged in as remote user)", page)

    @action("refuse a wrong password")
    def refused(self, via):
        cookies = via.cookie_file()
        jar = ("-b", cookies, "-c", cookies)
        via.curl(PROTECTED, *jar)
        data = form(j_username="tom", j_password="wrong")
        page, _ = via.curl("/examples/jsp/security/protected/j_security_check", "-L", *jar, "-d", data)
        found("(Invalid user name and/or password)", page)

    @action("upload 150 MB")
    def upload(self, via):
        page, status = via.curl(
            "/examples/servlets/nonblocking/bytecounter", "-H", "Content-Type: application/octet-stream", "-T", via.stage.big_file()[0],
            "-X", "POST")
        check(status, 200)
        found(f"({SIZE})", page.replace(",", ""))

    @action("resume a download")
    def resume(self, via):
        size, status = via.curl("/big", "-r", f"{SIZE - 1000}-", output=True)
        check((status, size), (206, 1000))

    @action("stream, by asynchronous servlets")
    def stream(self, via):
        for path in ("/examples/async/async0", "/examples/async/async1", "/examples/async/async3", "/examples/servlets/nonblocking/numberwriter"):
            page, status = via.curl(path)
            check(status, 200, path)
            if not page:
                raise Wrong(f"{path} is empty")

    @action("exchange messages by WebSocket")
    def web_socket(self, via):
        for kind in ("echoProgrammatic", "echoAnnotation", "echoStreamAnnotation"):
            said = via.stage.node("echo.cjs", f"{via.secure.replace('http', 'ws', 1)}/examples/websocket/{kind}", "20", "8000")
            check(said.strip(), "20 echoes", kind)
