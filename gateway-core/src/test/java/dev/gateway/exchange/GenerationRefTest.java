package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.exchange.Fakes.FakeOpener;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.Fakes.Records;
import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How one generation follows another on an event loop. */
class GenerationRefTest {
    private static final Endpoint ENDPOINT = new Endpoint(0, "app.test", 9000, 1);

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final FakeOpener opener = new FakeOpener();
    private final Records records = new Records();
    private final ExchangeHandler handler = new ExchangeHandler(opener, new TimerWheel(loop.eventLoop()), records);
    private final List<String> ended = new ArrayList<>();

    @AfterEach
    void stop() {
        loop.finishAndReleaseAll();
    }

    private void use(String upstream) {
        handler.use(settings(upstream), () -> ended.add(upstream));
    }

    private static Settings settings(String upstream) {
        Settings settings = new Settings();
        UpstreamSettings policy = UpstreamValues.builder()
                .maxConnections(10)
                .maxPendingRequests(10)
                .maxRequests(10)
                .build();
        settings.route(
                List.of(),
                new Upstream(upstream, List.of(ENDPOINT), hosts -> request -> ENDPOINT, policy),
                Route.Timeouts.NONE,
                Route.Retry.NONE);
        return settings;
    }

    private FakeServerStream get() {
        FakeServerStream client = new FakeServerStream();
        RequestHead head = new RequestHead(
                Method.GET,
                new AsciiString("http"),
                new AsciiString("shop.example.com"),
                new AsciiString("/"),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
        handler.onRequest(client, head, true);
        return client;
    }

    private void answer(int opening) {
        opener.openings.get(opening).succeed();
        opener.openings.get(opening).events.onHead(new ResponseHead(200, null, new Fields(), 0), true);
    }

    @Test
    void anExchangeEndsInTheGenerationItBeganIn() {
        use("one");
        FakeServerStream before = get();
        use("two");
        FakeServerStream after = get();
        assertThat(ended).isEmpty();
        answer(1);
        assertThat(after.status()).isEqualTo(200);
        assertThat(ended).isEmpty();
        answer(0);
        assertThat(before.status()).isEqualTo(200);
        assertThat(ended).containsExactly("one");
        assertThat(records.completed).extracting(record -> record.upstream).containsExactly("two", "one");
    }

    @Test
    void aGenerationThatServesNothingEndsAtOnce() {
        use("one");
        use("two");
        assertThat(ended).containsExactly("one");
        use("three");
        assertThat(ended).containsExactly("one", "two");
    }

    @Test
    void generationsEndInTheOrderOfTheirLastExchanges() {
        use("one");
        get();
        use("two");
        get();
        use("three");
        answer(1);
        answer(0);
        assertThat(ended).containsExactly("two", "one");
    }

    @Test
    void aListenerThatTheNextGenerationLacksKeepsItsOwnUntilItIsForgotten() {
        use("one");
        Settings without = new Settings();
        without.serving = 0;
        handler.use(without, () -> ended.add("without"));
        assertThat(ended).containsExactly("without"); // nothing uses it
        get();
        handler.forget(0);
        assertThat(ended).containsExactly("without"); // an exchange goes on
        answer(0);
        assertThat(ended).containsExactly("without", "one");
        handler.forget(0); // once more is harmless
        handler.forget(7); // as is one that no generation had
    }

    @Test
    void whatIsRefusedCountsAsAnExchange() {
        use("one");
        FakeServerStream client = new FakeServerStream();
        handler.onRefused(client, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "none"));
        assertThat(client.status()).isEqualTo(400);
        assertThat(ended).isEmpty();
        use("two");
        assertThat(ended).containsExactly("one");
        assertThat(handler.active()).isZero();
    }

    @Test
    void aGenerationKeepsNoRoutesOnceNoListenerUsesIt() {
        Settings large = new Settings();
        GenerationRef generation = new GenerationRef(large, new HashSet<>(), () -> ended.add("one"));
        generation.serve();
        generation.serve();
        generation.begin(); // an exchange
        generation.retire();
        assertThat(generation.routes()).isSameAs(large); // for the other listener
        generation.retire();
        assertThatThrownBy(generation::routes).hasMessage("no listener uses this generation");
        assertThat(ended).isEmpty();
        generation.end();
        assertThat(ended).containsExactly("one");
    }

    @Test
    void theExchangesOfOneGenerationCanBeEnded() {
        GenerationRef one = handler.use(settings("one"), () -> ended.add("one"));
        List<FakeServerStream> before = List.of(get(), get(), get());
        use("two");
        FakeServerStream after = get();
        answer(1);
        assertThat(one.exchanges()).isEqualTo(2);
        one.endExchanges(Failure.of(Cause.DRAIN, "room is needed"));
        assertThat(before).extracting(FakeServerStream::status).containsExactly(503, 200, 503);
        assertThat(ended).containsExactly("one");
        assertThat(one.exchanges()).isZero();
        assertThat(handler.active()).isEqualTo(1);
        answer(3);
        assertThat(after.status()).isEqualTo(200);
        assertThat(records.completed)
                .extracting(record -> record.cause)
                .containsExactly(null, Cause.DRAIN, Cause.DRAIN, null);
    }

    @Test
    void exchangesAreCountedWhicheverEndsFirst() {
        GenerationRef one = handler.use(settings("one"), () -> ended.add("one"));
        get();
        get();
        get();
        answer(2);
        answer(0);
        assertThat(one.exchanges()).isEqualTo(1);
        get();
        answer(1);
        answer(3);
        assertThat(one.exchanges()).isZero();
        one.endExchanges(Failure.of(Cause.DRAIN, "room is needed"));
        assertThat(ended).isEmpty(); // the listener uses it
    }
}
