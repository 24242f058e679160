package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.Rig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A page in a browser opens a WebSocket, with TLS on the connection of HTTP/2 by which the page came. */
class BrowserWebSocketIT {
    private static final String TALK = "return new Promise((done, fail) => {"
            + " const socket = new WebSocket(location.origin.replace('http', 'ws') + '/echo');"
            + " socket.onopen = () => socket.send('hello '.repeat(5000));"
            + " socket.onmessage = message => {"
            + "   socket.onclose = close => done(message.data.length + ' bytes, closed with ' + close.code);"
            + "   socket.close(4000);"
            + " };"
            + " socket.onerror = () => fail('no WebSocket');"
            + "})";

    @ParameterizedTest
    @CsvSource({"http, http1, HTTP/1.1", "http, h2c, HTTP/1.1", "https, http1, HTTP/2.0", "https, h2c, HTTP/2.0"})
    void aPageTalksToItsServer(String scheme, String upstream, String spoken) throws Exception {
        try (Browser browser = Browser.start();
                Origin origin = Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1)
                        .on("/", Behaviors.text("a page"))
                        .on("/echo", WebSocket::echo);
                Rig rig = Rig.to(origin.port()).upstreamProtocol(upstream).start()) {
            browser.open(
                    rig.uri(scheme.equals("http") ? "clear" : "secure", "/").toString());
            assertThat(browser.evaluate(TALK)).isEqualTo("30000 bytes, closed with 4000");
            // The page, and maybe the icon that browsers ask for; all other lines are the WebSocket's.
            assertThat(rig.awaitAccessLog(3))
                    .anyMatch(line -> line.contains("\"kind\":\"websocket\"")
                            && line.contains("\"protocol\":\"" + spoken + "\""));
        }
    }
}
