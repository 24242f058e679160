package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What programs make of {@code NO_PROXY}, if it is what the gateway says. Docker's daemon is missing: it would need a
 * registry and an engine for each list, and reads the variable by the same package as Go's client, which is here.
 */
class NoProxyIT {
    private static final String APT = "/usr/lib/apt/apt-helper";

    @TempDir
    static Path directory;

    private static Origin origin;
    private static NameServer dns;
    private static Rig rig;
    private static String list;

    /** A program that reads the variable, and whether it knows blocks of addresses. */
    enum Program {
        CURL(true),
        WGET(false),
        URLLIB(false),
        REQUESTS(true),
        HTTPX(false),
        AIOHTTP(false),
        GO(true),
        UNDICI(false),
        GIT(true),
        APT(false),
        PIP(true),
        NPM(false);

        private final boolean knowsBlocks;

        Program(boolean knowsBlocks) {
            this.knowsBlocks = knowsBlocks;
        }

        /** Returns the command that fetches something from below a URL. If nothing is there, it fails after its request. */
        List<String> command(String url) throws Exception {
            return switch (this) {
                case CURL -> List.of(Tools.find("curl"), "-sS", "--max-time", "10", url);
                case WGET -> List.of(Tools.find("wget"), "-q", "-T", "10", "-t", "1", "-O", "-", url);
                case URLLIB, REQUESTS, HTTPX, AIOHTTP ->
                    List.of(python(), "clients/fetch_plain.py", name().toLowerCase(Locale.ROOT), url);
                case GO -> List.of(goProgram(), url);
                case UNDICI -> List.of(Tools.find("node"), "clients/fetch.cjs", url);
                case GIT -> List.of(Tools.find("git"), "ls-remote", url);
                case APT -> List.of(apt(), "-oAcquire::Retries=0", "download-file", url, directory + "/apt");
                case PIP ->
                    List.of(
                            python(),
                            "-m",
                            "pip",
                            "download",
                            "--no-cache-dir",
                            "--retries=0",
                            "--disable-pip-version-check",
                            "--trusted-host=" + url.replaceAll("http://|[:/].*$", ""),
                            "--index-url=" + url,
                            "--dest=" + directory,
                            "none");
                case NPM ->
                    List.of(
                            Tools.find("npm"),
                            "view",
                            "none",
                            "--fetch-retries=0",
                            "--cache=" + directory,
                            "--registry=" + url);
            };
        }
    }

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start().otherwise(Behaviors.text("from afar"));
        dns = new NameServer().answers("origin.test", "127.0.0.1");
        rig = Rig.start(
                """
                listeners:
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                connect:
                  - parentRefs: [{name: egress}]
                    allow: ["*"]
                    deny: [.intern.test, "2001:db8::/32", "2001:db8::7"]
                    allowedPorts: [80, %d]
                    trustedDestinations: [origin.test]
                resolver: {nameServers: ["127.0.0.1:%d"]}
                admin: {address: 127.0.0.1, port: 0}
                """
                        .formatted(origin.port(), dns.port()));
        list = rig.admin("/no-proxy").strip();
    }

    @AfterAll
    static void stop() throws Exception {
        if (rig != null) {
            rig.close();
        }
        if (dns != null) {
            dns.close();
        }
        if (origin != null) {
            origin.close();
        }
    }

    private static Path clients() {
        return Tools.installed("CLIENTS", "clients", "bin/python", "gateway-tests/clients/install");
    }

    private static String python() {
        return clients().resolve("bin/python").toString();
    }

    private static String apt() {
        return Files.isExecutable(Path.of(APT)) ? APT : Tools.missing("there is no " + APT);
    }

    private static String goProgram() throws Exception {
        Path program = directory.resolve("fetch");
        if (!Files.exists(program)) {
            Tools.Result built = Tools.run(
                    "env", "GO111MODULE=off", Tools.find("go"), "build", "-o", program.toString(), "clients/fetch.go");
            assertThat(built.exit()).as(built.output()).isZero();
        }
        return program.toString();
    }

    /** Runs the program; returns how many requests of it came to the gateway. */
    private static int sentHere(Program program, String url) throws Exception {
        double before = rig.metric("gateway_downstream_requests_total", "listener=\"egress\"");
        String proxy = "http://127.0.0.1:" + rig.port("egress");
        List<String> line = new ArrayList<>(List.of("env", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"));
        for (String name : List.of("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY")) {
            line.add(name + "=" + proxy);
        }
        line.addAll(List.of("no_proxy=" + list, "NO_PROXY=" + list));
        if (program == Program.UNDICI) {
            line.add("NODE_PATH=" + clients().resolve("node_modules"));
        }
        line.addAll(program.command(url));
        Tools.run(60, line);
        rig.awaitIdle(); // a program may end before the gateway has counted its last request
        return (int) (rig.metric("gateway_downstream_requests_total", "listener=\"egress\"") - before);
    }

    /** Nobody can connect to the address, and who tries is told so at once. */
    @ParameterizedTest
    @EnumSource
    void aProgramSendsTheGatewayWhatItAllows(Program program) throws Exception {
        assertThat(list).contains("intern.test", "224.0.0.0/4");
        assertThat(sentHere(program, "http://origin.test:" + origin.port() + "/"))
                .isPositive();
        assertThat(sentHere(program, "http://app.intern.test/")).isZero();
        assertThat(sentHere(program, "http://224.0.0.1/") == 0).isEqualTo(program.knowsBlocks);
    }
}
