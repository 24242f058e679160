"""Spring Boot with a login, behind a port that a container publishes."""

import json
import os

from play import install
from play.stage import HERE, SIZE, Application, action, check, form, found

SETTINGS = ("--spring.security.user.name=tom", "--spring.security.user.password=secret", "--spring.servlet.multipart.max-file-size=200MB",
            "--spring.servlet.multipart.max-request-size=200MB", "--server.address=127.0.0.1")


class Spring(Application):
    strategy = ""
    big = f"/big?size={SIZE}"

    def version(self):
        return install.maven_version("spring")

    def install(self):
        classes = os.path.join(install.maven("spring"), "classes")
        source = os.path.join(HERE, "spring", "Shop.java")
        if not os.path.exists(classes) or os.path.getmtime(classes) < os.path.getmtime(source):
            install.run("javac", "-parameters", "-d", classes, "-cp", os.path.join(os.path.dirname(classes), "*"), source)
            os.utime(classes)

    def command(self, stage):
        cache = os.path.join(stage.cache, "spring")
        return ["java", "-cp", f"{cache}/classes:{cache}/*", "Shop", *SETTINGS, f"--server.port={stage.application_port}",
                f"--server.forward-headers-strategy={self.strategy}"]

    def curl(self, via, host, path, *options, jar):
        """Asks for a host of the user, whose port leads to the listener as that of a container does."""
        done = via.stage.run(
            "curl", "-sS", "-q", "-k", "-H", "Accept: text/html, */*", "--connect-to", f"::localhost:{via.secure_port}", "-b", jar, "-c", jar, "--max-time", "120", "-w",
            "\n%{http_code} %{redirect_url}", *options, f"https://{host}{path}")
        body, _, last = done.rpartition("\n")
        status, _, place = last.partition(" ")
        return body, int(status), place

    def log_in(self, via, host, password="secret"):
        """Returns the cookies, and where the login leads."""
        jar = via.cookie_file()
        _, status, place = self.curl(via, host, "/who", jar=jar)
        check((status, place), (302, f"https://{host}/login"))
        page, status, _ = self.curl(via, host, "/login", jar=jar)
        token = found(r'name="_csrf"[^>]*value="([^"]+)"', page)
        _, status, place = self.curl(via, host, "/login", "-d", form(username="tom", password=password, _csrf=token), jar=jar)
        check(status, 302)
        return jar, place

    @action("log in behind a published port, 443 and 9443")
    def login(self, via):
        for host in ("shop.example.com", "shop.example.com:9443"):
            jar, place = self.log_in(via, host)
            check(place, f"https://{host}/who?continue")
            body, status, _ = self.curl(via, host, "/who", jar=jar)
            check((status, json.loads(body)), (200, {"user": "tom", "url": f"https://{host}/who"}))
            # Spring's own filter comes too late for the cookie of Tomcat's session.
            with open(jar, encoding="utf-8") as file:
                check("\tTRUE\t0\tJSESSIONID" in file.read(), self.strategy == "native", "the cookie is Secure:")

    @action("refuse a wrong password")
    def refused(self, via):
        _, place = self.log_in(via, "shop.example.com", "wrong")
        check(place, "https://shop.example.com/login?error")

    @action("upload 150 MB by a form")
    def upload(self, via):
        jar, _ = self.log_in(via, "shop.example.com")
        page, _, _ = self.curl(via, "shop.example.com", "/logout", jar=jar)
        token = found(r'name="_csrf"[^>]*value="([^"]+)"', page)
        body, status, _ = self.curl(
            via, "shop.example.com", "/upload", "-H", f"X-CSRF-TOKEN: {token}", "-F", f"file=@{via.stage.big_file()[0]}", jar=jar)
        check((status, body), (200, str(SIZE)))

    @action("read an event stream")
    def events(self, via):
        jar, _ = self.log_in(via, "shop.example.com")
        body, status, _ = self.curl(via, "shop.example.com", "/events", jar=jar)
        check((status, body.count("data:event")), (200, 5))

    def start_session(self, via):
        """Logs in, and lets what is downloaded later have the session."""
        with via.request("GET", "/login") as answer:
            page, cookie = answer.read().decode(), answer.headers["Set-Cookie"].split(";")[0]
        token = found(r'name="_csrf"[^>]*value="([^"]+)"', page)
        with via.request("POST", "/login", form(username="tom", password="secret", _csrf=token), {
                "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}) as answer:
            self.headers = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}

    @action("download 150 MB")
    def download(self, via):
        self.start_session(via)
        super().download(via)


class Native(Spring):
    name = "Spring Boot, `native`"
    strategy = "native"
    how = ("Spring Security's login form, with `server.forward-headers-strategy: native`. curl connects to the listener, and asks for the host"
           " and the port that a container publishes.")


class Framework(Spring):
    name = "Spring Boot, `framework`"
    strategy = "framework"
    how = "The same with `server.forward-headers-strategy: framework`."
