package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.demo.DemoUpstream;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A browser shows the dashboard while requests go through; its pictures are left in {@code target}. README's is one of
 * them, after more seconds of traffic than the test needs: {@code -Ddashboard.seconds=90}.
 */
class DashboardIT {
    private static final int SECONDS = Integer.getInteger("dashboard.seconds", 2);
    private static final List<String> PATHS = List.of(
            "/headers", "/delay/3", "/bytes/20000", "/headers", "/status/404", "/delay/20", "/headers", "/status/302");

    private DemoUpstream demo;
    private Rig rig;
    private Browser browser;

    @BeforeEach
    void start() throws Exception {
        browser = Browser.start();
        demo = DemoUpstream.start(0);
        rig = Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes:
                  - name: billing
                    rules:
                      - {matches: [{path: {type: PathPrefix, value: /billing}}], backendRefs: [{name: billing}]}
                  - name: shop
                    rules:
                      - {matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [{name: shop}]}
                upstreams:
                  - {name: shop, endpoints: [{host: 127.0.0.1, port: %1$d}, {host: localhost, port: %1$d}]}
                  - {name: billing, endpoints: [{host: 127.0.0.1, port: 9}]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: off}
                """
                        .formatted(demo.port()));
    }

    @AfterEach
    void stop() throws Exception {
        if (browser != null) {
            browser.close();
        }
        if (rig != null) {
            rig.close();
        }
        if (demo != null) {
            demo.close();
        }
    }

    private void open() throws Exception {
        browser.open("http://127.0.0.1:" + rig.port("admin") + "/dashboard");
        browser.await("document.getElementById('link').textContent", "live");
    }

    @Test
    void whatIsShownIsWhatTheStatisticsSay() throws Exception {
        browser.emulate(1400, 900, false);
        open();
        try (Peer socketClient = rig.connect(Peers.HTTP1)) {
            WebSocket socket = new WebSocket(Handshake.open(socketClient, "/ws"), true);
            traffic();
            JsonNode stats = statsWithOneRequestOpen();
            browser.await(
                    "document.getElementById('tile-requests-more').textContent",
                    "%,d in all, 1 open"
                            .formatted(stats.at("/totals/requestsTotal").asLong()));
            assertThat(text("#generation")).isEqualTo("1");
            assertThat(text("#version")).isEqualTo(stats.at("/build/version").asText());
            assertThat(text("#tile-tunnels-more")).isEqualTo("0 tunnels, 1 WebSocket");
            assertThat(row("#causes", "connect_failed"))
                    .endsWith(
                            "|%,d".formatted(stats.at("/causes/connect_failed").asLong()));
            assertThat(row("#routes", "shop|clear"))
                    .endsWith("|%,d".formatted(stats.at("/routes/1/requests").asLong()));
            assertThat(row("#upstreams", "127.0.0.1:9")).startsWith("127.0.0.1:9|");
            assertThat(row("#certificates", "localhost")).contains("|secure|").contains(" days|");
            assertThat(row("#tunnels", "shop (clear)")).startsWith("shop (clear)|WebSockets|1|1|");
            browser.await(
                    "[...document.querySelectorAll('#open tbody tr')].map(row => row.cells[1].textContent).join()",
                    "websocket");
            pictures();
            assertThat(browser.log()).as("what the browser complains of").isEqualTo("{\"value\":[]}");
            socket.close(1000);
            socket.receive();
            socket.end();
        }
    }

    private JsonNode statsWithOneRequestOpen() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        JsonNode stats = new ObjectMapper().readTree(rig.admin("/stats?format=json"));
        while (stats.at("/totals/requestsActive").asLong() != 1) {
            if (System.nanoTime() > deadline) {
                throw new IOException("not only the WebSocket is open: " + stats);
            }
            LockSupport.parkNanos(20_000_000);
            stats = new ObjectMapper().readTree(rig.admin("/stats?format=json"));
        }
        return stats;
    }

    /** Pictures of a desk and of a phone, and of the page for README; nothing may stick out. */
    private void pictures() throws Exception {
        picture("light", 1400, 900);
        picture("light", 390, 844);
        picture("light", 400, 844);
        picture("light", 1280, 800);
        picture("dark", 390, 844);
        picture("dark", 1400, 900);
        picture("dark", 1400, 1185);
    }

    private void picture(String mode, int width, int height) throws Exception {
        browser.emulate(width, height, mode.equals("dark"));
        browser.await("document.documentElement.scrollWidth <= innerWidth", "true");
        browser.await(
                "getComputedStyle(document.body).backgroundColor",
                mode.equals("dark") ? "rgb(13, 17, 23)" : "rgb(243, 245, 248)");
        browser.await(
                "[...document.querySelectorAll('.scroll, header, .facts, .controls, .tile, .card, th, td, dl div, #attention li')]"
                        + ".filter(each => each.scrollWidth > each.clientWidth + 1)"
                        + ".map(each => (each.getAttribute('aria-label') ?? each.id) + ' ' + each.textContent.slice(0, 60)).join()",
                "");
        Path file = Path.of("target", "dashboard-%s-%dx%d.png".formatted(mode, width, height));
        Files.createDirectories(file.getParent());
        Files.write(file, Base64.getDecoder().decode(browser.screenshot()));
        assertThat(file).isNotEmptyFile();
    }

    @Test
    void aMomentOfThePastIsChosenByKeys() throws Exception {
        open();
        assertThat(browser.evaluate("document.querySelector('#requests .plot').focus();"
                        + "return document.activeElement.getAttribute('role')"))
                .isEqualTo("img");
        String when = "document.querySelector('#requests .when').textContent";
        browser.await("(() => { " + press("Home") + "; return /^[0-9:]+$/.test(" + when + ") })()", "true");
        browser.await("document.querySelector('#latency .when').textContent === " + when, "true");
        browser.evaluate(press("Escape"));
        browser.await(when, "now");
    }

    private static String press(String key) {
        return "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '" + key
                + "', bubbles: true}))";
    }

    @Test
    void aRouteThatFailsIsTold() throws Exception {
        open();
        // A slow machine may be warned of.
        browser.await(
                "document.querySelector('#attention li') !== null && !document.querySelector('#attention .bad')",
                "true");
        String told = "([...document.querySelectorAll('#attention .bad')].map(each => each.textContent)"
                + ".find(each => each.startsWith('Route')) ?? '')";
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        try (Peer client = rig.connect(Peers.HTTP1)) {
            while (!browser.evaluate("return " + told).startsWith("Route billing: 100 %")) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                request(client, "/billing");
            }
        }
        assertThat(browser.evaluate("return " + told)).endsWith("of requests fail, most with connect_failed.");
        browser.await(
                "document.querySelector('#attention').textContent.includes('Upstream billing: 1 of 1 endpoint not healthy.')",
                "true");
    }

    @Test
    void whatWentOnBeforeThePageWasOpenedIsShown() throws Exception {
        try (Peer client = rig.connect(Peers.HTTP1)) {
            request(client, "/headers");
            request(client, "/billing?token=secret");
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!rig.admin("/history").contains("\"causes\":{\"connect_failed\":")) { // a point comes each five seconds
            assertThat(System.nanoTime()).isLessThan(deadline);
            LockSupport.parkNanos(50_000_000);
        }
        browser.emulate(1280, 800, false);
        open();
        browser.await("document.querySelector('#failures .legend').textContent.includes('connect_failed')", "true");
        browser.await(
                "document.querySelector('#last-failures tbody').textContent.includes('GET /billing?token=***')",
                "true");
        assertThat(text("#last-failures tbody")).contains("502", "connect_failed", "127.0.0.1:9");
        assertThat(browser.log()).isEqualTo("{\"value\":[]}");
    }

    @Test
    void itSaysWhenTheGatewayIsLost() throws Exception {
        open();
        browser.await("document.getElementById('lost').hidden", "true");
        rig.stop();
        browser.await("document.getElementById('link').textContent", "lost");
        browser.await("document.getElementById('lost').hidden", "false");
    }

    @Test
    void aReloadThatIsRefusedIsTold() throws Exception {
        open();
        Files.writeString(rig.file(), "listeners: nonsense\n");
        assertThat(rig.post("/reload").statusCode()).isEqualTo(422);
        browser.await("document.querySelector('.events .bad')?.textContent", "A reload was refused");
        browser.await(
                "document.querySelector('#attention .bad')?.textContent",
                "The last reload was refused; the log and /ready say why.");
    }

    @Test
    void whatAnotherGenerationChangesIsShown() throws Exception {
        open();
        browser.await("performance.getEntriesByType('resource').some(each => each.name.endsWith('/config'))", "true");
        rig.reload(Files.readString(rig.file()).replace("/billing", "/invoices"));
        browser.await("document.querySelector('.diff .added')?.textContent.includes('/invoices')", "true");
        browser.await("document.querySelector('.diff .removed')?.textContent.includes('/billing')", "true");
        assertThat(text("#generation")).isEqualTo("2");
        assertThat(browser.log()).isEqualTo("{\"value\":[]}");
    }

    private void traffic() throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        try (Peer clear = rig.connect(Peers.HTTP1);
                Peer secure = rig.connect(Peers.H2_TLS)) {
            for (int i = 0; i < 120 || System.nanoTime() < end; i++) {
                Peer client = i % 3 == 0 ? secure : clear;
                String path = i % 29 == 7 ? "/billing" : PATHS.get(i % PATHS.size());
                request(client, path);
                // Not a regular load: so that a picture has something to show.
                LockSupport.parkNanos((long) (4_000_000 * (1 + Math.sin(i / 300.0))));
            }
        }
    }

    private static void request(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        stream.receiveFinal();
        stream.receiveBody();
    }

    private String text(String selector) throws Exception {
        return browser.evaluate("return document.querySelector('" + selector + "').textContent");
    }

    /** Returns the cells of the row that begins with a name. */
    private String row(String card, String name) throws Exception {
        return browser.evaluate("return [...document.querySelectorAll('" + card + " tbody tr')]"
                + ".map(row => [...row.cells].map(cell => cell.textContent).join('|'))"
                + ".find(row => row.startsWith('" + name + "|')) ?? ''");
    }
}
