package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.progress.UpstreamUse;
import dev.gateway.exchange.progress.UpstreamUse.Idler;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.stream.SourceAddress;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which exchanges make no progress because of their clients, and which do. */
class ProgressWatchTest extends ExchangeRig {
    private UpstreamUse look() {
        return Objects.requireNonNull(
                handler().look(Set.of(Objects.requireNonNull(app))).get(app));
    }

    private List<Idler> idlers() {
        look();
        pass(1_000);
        look();
        pass(1_000);
        return look().idlers();
    }

    private StreamEvents upload() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        return events;
    }

    private StreamEvents webSocket() {
        settings.upgrades = new Route.Upgrades(Set.of(new AsciiString("websocket")), Set.of());
        route();
        RequestHead head = head("CONNECT", "/chat");
        head.setProtocol(new AsciiString("websocket"));
        StreamEvents events = handler().onRequest(client, head, false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onReadComplete();
        return events;
    }

    private void answer() {
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void anUploadOfWhichNothingComesIsAnsweredWith503() {
        StreamEvents events = upload();
        events.onData(bytes("a"), false);
        idlers().get(0).end().run();
        assertAnswered(503, Cause.OVERLOAD);
        assertThat(upstream().reset).isNotNull();
        events.onData(bytes("b"), true);
    }

    @Test
    void aByteASecondIsNoProgress() {
        StreamEvents events = upload();
        look();
        for (int i = 0; i < 5; i++) {
            pass(1_000);
            events.onData(bytes("a"), false);
            assertThat(look().idlers()).hasSize(i == 0 ? 0 : 1);
        }
        events.onData(bytes("b"), true);
        answer();
    }

    @Test
    void anUploadThatComesIsProgress() {
        StreamEvents events = upload();
        look();
        for (int i = 0; i < 5; i++) {
            pass(1_000);
            events.onData(bytes("x".repeat(1_000)), false);
            assertThat(look().idlers()).isEmpty();
        }
        events.onData(bytes("b"), true);
        answer();
    }

    /** The upstream is what everybody waits for. */
    @Test
    void aRequestThatWaitsForItsAnswerMakesProgress() {
        get();
        opener.last().succeed();
        assertThat(idlers()).isEmpty();
        assertThat(look().clients()).hasSize(1);
        answer();
    }

    /** It may take its time before it agrees. */
    @Test
    void aHandshakeThatTheUpstreamHasNotAnsweredIsItsMatter() {
        settings.upgrades = new Route.Upgrades(Set.of(new AsciiString("websocket")), Set.of());
        route();
        RequestHead head = head("CONNECT", "/chat");
        head.setProtocol(new AsciiString("websocket"));
        StreamEvents events = handler().onRequest(client, head, false);
        opener.last().succeed();
        assertThat(idlers()).isEmpty();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onReadComplete();
        close(events);
    }

    @Test
    void anUploadThatTheUpstreamDoesNotTakeIsNotItsClientsFault() {
        StreamEvents events = upload();
        upstream().writable = false;
        events.onData(bytes("a"), false);
        assertThat(idlers()).isEmpty();
        upstream().writable = true;
        opener.last().events.onWritable();
        events.onData(bytes("b"), true);
        answer();
    }

    /** To end it would give no room to requests that wait: what hangs there does not count against the limit. */
    @Test
    void anUploadToAnEndpointThatDrainsUsesNoConnectionOfOthers() {
        StreamEvents events = upload();
        assertThat(idlers()).hasSize(1);
        assertThat(look().clients()).hasSize(1);
        Objects.requireNonNull(app).health().drain(FIRST.toString(), true);
        assertThat(look().idlers()).isEmpty();
        assertThat(look().clients()).isEmpty();
        Objects.requireNonNull(app).health().drain(FIRST.toString(), false);
        assertThat(look().clients()).hasSize(1);
        events.onData(bytes("b"), true);
        answer();
    }

    @Test
    void aRequestWithoutAConnectionUsesNone() {
        StreamEvents events = request("POST", "/", false);
        assertThat(idlers()).isEmpty();
        assertThat(look().clients()).isEmpty();
        opener.last().succeed();
        events.onData(bytes("b"), true);
        answer();
    }

    @Test
    void aResponseThatIsNotReadMakesNoProgress() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        idlers().get(0).end().run();
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
    }

    /** Such as a stream of server-sent events between two events. */
    @Test
    void aResponseOfWhichNothingComesIsTheUpstreamsMatter() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("abc"), false);
        assertThat(idlers()).isEmpty();
        opener.last().events.onData(bytes("d"), true);
    }

    @Test
    void aWebSocketOnWhichNothingMovesGetsACloseFrame() {
        webSocket();
        idlers().get(0).end().run();
        assertThat(client.body.length()).as("a Close frame").isEqualTo(4);
        assertThat(client.closed).isNotNull();
        assertThat(upstream().closed).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
    }

    @Test
    void whatHasMovedSinceItWasSeenIsNotEnded() {
        StreamEvents events = webSocket();
        List<Idler> idlers = idlers();
        events.onData(bytes("x"), false);
        idlers.get(0).end().run();
        assertThat(client.closed).isNull();
        assertThat(client.reset).isNull();
        close(events);
    }

    @Test
    void theTimeWithoutAByteIsTold() {
        timeouts = new Route.Timeouts(0, 0, 0, new TunnelTimeouts(Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO));
        StreamEvents events = webSocket();
        pass(2_000);
        events.onData(bytes("x"), false);
        pass(3_000);
        assertThat(idlers()).singleElement().extracting(Idler::quietNanos).isEqualTo(5_000_000_000L);
        close(events);
    }

    @Test
    void whatWasSeenIsForgottenWhenNothingIsCrowded() {
        StreamEvents events = webSocket();
        look();
        pass(1_000);
        assertThat(handler().look(Set.of())).isEmpty();
        assertThat(look().idlers()).isEmpty();
        close(events);
    }

    /** An exchange goes on with the generation that it began with, and so may its upstream. */
    @Test
    void anExchangeOfAnEarlierGenerationCounts() {
        StreamEvents events = webSocket();
        handler().use(settings, () -> {});
        assertThat(idlers()).hasSize(1);
        close(events);
    }

    /** The proxy itself has no share: many people come by one of its connections. */
    @Test
    void behindATrustedProxyEachClientCounts() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        MemoryBudget budget = new MemoryBudget(1L << 40, 1);
        ClientShares shares = new ClientShares();
        gate = new LoopGate(new Overload(), new LoopBudget(budget), new LoopBudget(budget), shares, 1);
        route();
        for (String address : List.of("198.51.100.1", "198.51.100.2", "198.51.100.1")) {
            RequestHead head = head("GET", "/");
            head.fields().add(FieldName.X_FORWARDED_FOR, address);
            handler().onRequest(new FakeServerStream(), head, true);
            opener.last().succeed();
        }
        ClientMemory first = shares.enter(
                Objects.requireNonNull(SourceAddress.parse("198.51.100.1")).network());
        assertThat(look().clients()).hasSize(2).containsEntry(first, 2);
        opener.openings.forEach(each -> each.events.onHead(response(200), true));
    }
}
