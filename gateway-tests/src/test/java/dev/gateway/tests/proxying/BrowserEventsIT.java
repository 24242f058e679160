package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.RestartedOrigin;
import dev.gateway.tests.support.Rig;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A page in a browser follows events while its application restarts. */
@Timeout(120)
class BrowserEventsIT {
    /** Of a page with an icon the browser would wait for that, too. */
    private static final String NO_ICON = "<link rel=icon href='data:,'>a page";

    private static final String FOLLOW = "window.seen = [];"
            + " window.source = new EventSource('/events');"
            + " source.onmessage = event => seen.push(event.data);"
            + " return 'begun'";

    private static Browser browser;

    private final AtomicInteger events = new AtomicInteger();

    @BeforeAll
    static void startBrowser() throws Exception {
        browser = Browser.start();
    }

    @AfterAll
    static void stopBrowser() throws Exception {
        browser.close();
    }

    /** Sends an event, with the last one that the browser has got, and nothing more until the application ends. */
    private void serve(PeerStream stream, Head head) throws Exception {
        stream.receiveBody();
        if (!head.path().equals("/events")) {
            stream.send(Head.response(200, "content-type", "text/html"), false);
            stream.send(NO_ICON, true);
            return;
        }
        int number = events.incrementAndGet();
        stream.send(Head.response(200, "content-type", "text/event-stream", "cache-control", "no-store"), false);
        stream.send(
                "retry: 20\nid: %d\ndata: %d after %s\n\n"
                        .formatted(number, number, head.get("last-event-id").orElse("none")),
                false);
        new CountDownLatch(1).await();
    }

    /**
     * A browser follows no more events after a status of 502, for whatever reason. So the request by which it comes back has
     * to wait until the application is there.
     */
    @ParameterizedTest
    @CsvSource({"clear, http1", "secure, h2c"})
    void anEventSourceGoesOnWhenTheApplicationRestarts(String listener, String upstream) throws Exception {
        try (RestartedOrigin application = new RestartedOrigin(this::serve).start();
                Rig rig = Rig.to(application.port())
                        .upstreamProtocol(upstream)
                        .rule("retry: {connectWait: 1h}")
                        .start()) {
            browser.open(rig.uri(listener, "/").toString());
            browser.evaluate(FOLLOW);
            browser.await("seen.join()", "1 after none");
            application.stop();
            rig.awaitMetric(1, "gateway_upstream_pending_requests", "upstream=\"app\"");
            assertThat(browser.evaluate("return source.readyState"))
                    .as("it connects")
                    .isEqualTo("0");
            application.start();
            browser.await("seen.join()", "1 after none,2 after 1");
            browser.evaluate("source.close(); return 'closed'"); // or its request would go on
        }
    }
}
