package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.block;
import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an upstream may and may not send, frame by frame, and which failures may be tried again. */
class Http2ClientMessagesTest {
    private static final long STEP_MILLIS = 100;
    private static final int END = Frames.END_STREAM | Frames.END_HEADERS;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Pair.Exchange large = new Pair.Exchange();
    private final List<Pair.Exchange> filling = new ArrayList<>();
    private boolean blocked;
    private final Pair.Counts counts = new Pair.Counts();
    private final List<String> life = new ArrayList<>();
    private final ByteBuf unread = Unpooled.buffer();
    private Runnable onCapacityChanged = () -> {};
    private final List<Frame> received = new ArrayList<>();
    private final Http2ClientConnection client = Http2ClientConnection.create(
            new Http2ClientConnection.Listener() {
                @Override
                public void onReady() {
                    life.add("ready");
                }

                @Override
                public void onCapacityChanged() {
                    life.add("capacity");
                    onCapacityChanged.run();
                }

                @Override
                public boolean onHttp1Required() {
                    life.add("HTTP/1.1");
                    return http1Follows;
                }

                @Override
                public void onSilent(String why, int seconds) {
                    life.add("silent");
                }

                @Override
                public void onGoingAway(CloseCause cause) {
                    life.add(cause == CloseCause.REQUEST ? "worn" : "going away");
                }

                @Override
                public void onClosed() {
                    life.add("closed");
                }
            },
            counts,
            Pair.wheel(channel),
            Http2ClientSettings.DEFAULT);

    private boolean http1Follows;

    @BeforeEach
    void connect() {
        channel.freezeTime();
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                if (!blocked) {
                    ctx.flush();
                }
            }
        });
        channel.pipeline().addLast(client);
        assertEquals(0, client.availableStreams());
        // MAX_CONCURRENT_STREAMS 3
        send(frame(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 3, (byte) 0, (byte) 0, (byte) 0, (byte) 3));
        send(frame(Frames.SETTINGS, Frames.ACK, 0));
        assertEquals(3, client.availableStreams());
        assertEquals(List.of("ready"), life);
    }

    @AfterEach
    void nothingIsLeft() {
        channel.finishAndReleaseAll();
        assertEquals(counts.opened, counts.closed);
    }

    private void send(ByteBuf... frames) {
        channel.writeInbound(Buffers.join(frames));
        collect();
    }

    private void collect() {
        channel.runPendingTasks();
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            unread.writeBytes(out);
            out.release();
        }
        if (received.isEmpty() && unread.readableBytes() > 24) {
            unread.skipBytes(24); // the preface
        }
        received.addAll(Frames.read(unread));
    }

    private Pair.Exchange request(Method method, boolean last) {
        Pair.Exchange exchange = new Pair.Exchange();
        exchange.client = client.open(exchange);
        exchange.stream = exchange.client;
        exchange.client().head(Http2ConnectionsTest.head(method, "/"), last);
        exchange.client().flush();
        collect();
        return exchange;
    }

    private static Account account() {
        return new Account(
                new LoopBudget(new MemoryBudget(1L << 40, 1)), new LoopBudget(new MemoryBudget(1L << 40, 1)));
    }

    private Pair.Exchange requestOf(Account account) {
        Pair.Exchange exchange = new Pair.Exchange();
        SourceAddress source = SourceAddress.of(null);
        exchange.connection = new ConnectionInfo(0, "test", HttpVersion.HTTP_2, source, source, null, null, account);
        exchange.client = client.open(exchange);
        exchange.stream = exchange.client;
        exchange.client().head(Http2ConnectionsTest.head(Method.POST, "/"), false);
        return exchange;
    }

    /** The exchange has handed over all, and answers for nothing any more. */
    @Test
    void whatWaitsForTheUpstreamAfterTheEndOfARequestCountsForItsClient() {
        Account uploading = account();
        Pair.Exchange upload = requestOf(uploading);
        upload.client().data(Buffers.of(new byte[60_000]), false);
        upload.client().data(Buffers.of(new byte[60_000]), true);
        upload.client().flush();
        collect();
        long held = uploading.held() + uploading.waitingBodies().held();
        assertTrue(held >= 120_000 - 65_535, () -> "held: " + held);

        Account givenUp = account();
        Pair.Exchange ending = requestOf(givenUp);
        ending.client().data(Buffers.of(new byte[60_000]), true); // for which the connection has no window any more
        ending.client().flush();
        collect();
        assertTrue(givenUp.held() + givenUp.waitingBodies().held() >= 60_000);
        ending.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertEquals(0, givenUp.held() + givenUp.waitingBodies().held());
        send(frame(Frames.WINDOW_UPDATE, 0, 0, number(1 << 20)), frame(Frames.WINDOW_UPDATE, 0, 3, number(1 << 20)));
        assertEquals(0, uploading.held() + uploading.waitingBodies().held());
    }

    /** Makes the upstream take nothing more: what is sent from now on waits. */
    private void takeNothing() {
        say(1_000);
        blocked = true;
        large.client = client.open(large);
        large.client().head(Http2ConnectionsTest.head(Method.GET, "/" + "a".repeat(200_000)), true);
        large.client().flush();
        collect();
        assertFalse(channel.isWritable());
    }

    private void fill() {
        while (client.availableStreams() > 0) {
            assertTrue(filling.size() < 100, "it takes any number");
            Pair.Exchange exchange = new Pair.Exchange();
            exchange.client = client.open(exchange);
            exchange.client().head(Http2ConnectionsTest.head(Method.GET, "/" + "a".repeat(10_000)), true);
            filling.add(exchange);
        }
    }

    private void takeAgain() {
        blocked = false;
        channel.flush();
        collect();
    }

    private static long held(Account account) {
        return account.held() + account.waitingBodies().held();
    }

    /** The exchange is over when it is reset, but the head stays until the upstream takes it. */
    @Test
    void aHeadThatWaitsForTheUpstreamCountsForItsClientUntilItHasLeft() {
        Account account = account();
        requestOf(account).client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        collect();
        assertEquals(0, held(account), "it left at once");
        takeNothing();
        Pair.Exchange first = requestOf(account);
        long held = held(account);
        assertTrue(held > Cost.STREAM && held < 2 * Cost.STREAM, () -> "held: " + held);
        first.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        collect();
        assertEquals(held, held(account));
        Pair.Exchange answered = requestOf(account);
        assertTrue(held(account) > held);
        takeAgain();
        int id = received.get(received.size() - 1).stream();
        send(frame(Frames.HEADERS, Frames.END_HEADERS, id, block(":status", "200")));
        assertEquals(200, answered.heads.get(0).status());
        assertEquals(0, held(account));
    }

    /** Also if the upstream has answered before, so that nothing else of the stream is left. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void trailersThatWaitForTheUpstreamCountForTheirClient(boolean answered) {
        takeNothing();
        Account account = account();
        Pair.Exchange request = requestOf(account);
        long before = held(account);
        if (answered) {
            send(frame(Frames.HEADERS, END, 5, block(":status", "200")));
        }
        Fields trailers = new Fields();
        trailers.add(new AsciiString("x-long"), new AsciiString("{".repeat(10_000)));
        request.client().trailers(trailers);
        assertTrue(held(account) >= (answered ? 0 : before) + 10_000, () -> "held: " + held(account));
        takeAgain();
        assertEquals(0, held(account));
    }

    @Test
    void aRequestForWhichNoMemoryIsLeftWhileTheUpstreamTakesNothingFails() {
        takeNothing();
        Account little =
                new Account(new LoopBudget(new MemoryBudget(1L << 20, 1)), new LoopBudget(new MemoryBudget(64, 1)));
        int open = client.activeStreams();
        Pair.Exchange refused = requestOf(little);
        assertEquals(Cause.OVERLOAD, refused.failed().cause());
        assertEquals(0, held(little));
        assertEquals(open, client.activeStreams());
    }

    @Test
    void noRequestIsAddedToMuchThatTheUpstreamDoesNotTake() {
        takeNothing();
        fill();
        life.clear();
        takeAgain();
        assertTrue(life.contains("capacity"));
        assertTrue(client.availableStreams() > 0);
    }

    /** Streams that were reset are open until the upstream has taken the reset, which it will not do. */
    @Test
    void aSilentUpstreamThatTakesNothingIsLeftAlthoughStreamsAreOpen() {
        takeNothing();
        Account account = account();
        Pair.Exchange request = requestOf(account);
        advance(11_000);
        assertEquals(List.of("silent", "going away"), life.subList(life.size() - 2, life.size()));
        assertTrue(channel.isOpen(), "some cannot be repeated");
        large.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        request.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertFalse(channel.isOpen());
        assertEquals(0, held(account));
    }

    /** One that says something is not silent, though it reads nothing. */
    @Test
    void anUpstreamThatTakesNothingIsLeftWhenNobodyWantsAnswersOfIt() {
        takeNothing();
        fill();
        Account account = account();
        Pair.Exchange request = requestOf(account);
        request.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertFalse(life.contains("going away"));
        filling.forEach(each -> each.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone")));
        large.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertEquals("going away", life.get(life.size() - 1));
        assertTrue(channel.isOpen(), "it may take what was sent");
        advance(Http2ClientSettings.DEFAULT.requestWriteIdleMillis() + STEP_MILLIS);
        assertFalse(channel.isOpen());
        assertEquals(0, held(account));
    }

    private List<Frame> sent(int type, int stream) {
        return received.stream()
                .filter(frame -> frame.type() == type && frame.stream() == stream)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1600, 2048})
    void theUpstreamSaysHowManyRequestsItTakesAtATimeAndTheWindowOfAllGrowsWithThem(int streams) {
        say(streams);
        assertEquals(streams, client.availableStreams());
        long window = 65_535;
        for (Frame update : sent(Frames.WINDOW_UPDATE, 0)) {
            window += update.number(0);
        }
        assertEquals(
                2L * streams * Http2ClientSettings.DEFAULT.streamWindow(),
                window - 2 * Http2ClientSettings.WINDOW_GROWTH);
        say(10);
        assertEquals(10, client.availableStreams());
        say(-1);
        assertEquals(Http2ClientSettings.DEFAULT.maxConcurrentStreams(), client.availableStreams());
    }

    @Test
    void allThatTheUpstreamTakesMayBeSentInOneTurn() {
        onCapacityChanged = () -> {
            for (int i = 0; i < 1200; i++) {
                Pair.Exchange exchange = new Pair.Exchange();
                exchange.client = client.open(exchange);
                exchange.stream = exchange.client;
                RequestHead head = Http2ConnectionsTest.head(Method.GET, "/");
                head.fields().add(FieldName.AUTHORIZATION, "~".repeat(1500)); // never indexed, never shorter
                exchange.client().head(head, true);
            }
        };
        say(2048);
        assertTrue(channel.isOpen());
        assertEquals(
                1200,
                received.stream()
                        .filter(frame -> frame.type() == Frames.HEADERS)
                        .count());
        assertEquals(2048 - 1200, client.availableStreams());
    }

    @Test
    void whatComesLateForManyRequestsThatWereGivenUpIsNoOffence() {
        say(2048);
        int requests = 400;
        List<Pair.Exchange> given = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            given.add(request(Method.GET, true));
        }
        Pair.Exchange next = request(Method.GET, true);
        given.forEach(each -> each.client().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, "no response in time")));
        collect();
        for (int i = 0; i < requests; i++) {
            int stream = 3 + 2 * i;
            assertEquals(8, sent(Frames.RST_STREAM, stream).get(0).number(0));
            send(
                    frame(Frames.HEADERS, Frames.END_HEADERS, stream, block(":status", "200")),
                    frame(Frames.DATA, Frames.END_STREAM, stream, (byte) 'x'));
            assertEquals(1, sent(Frames.RST_STREAM, stream).size());
        }
        assertEquals(List.of(), counts.violations);
        assertEquals(List.of(), sent(Frames.GOAWAY, 0));
        send(frame(Frames.HEADERS, END, 3 + 2 * requests, block(":status", "204")));
        assertTrue(next.ended);
    }

    /** The upstream would end a connection with many resets, and the requests of other clients with it. */
    @Test
    void aConnectionOnWhichManyRequestsWereGivenUpTakesNoMoreAndFinishesOthers() {
        Pair.Exchange other = request(Method.POST, true);
        for (int i = 1; i < ClientStreams.MAX_GIVEN_UP; i++) {
            request(Method.GET, true).client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
            collect();
        }
        assertEquals(2, client.availableStreams());
        assertFalse(life.contains("worn"));
        request(Method.GET, true).client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        assertTrue(life.contains("worn"));
        assertEquals(0, client.availableStreams());
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        assertTrue(other.ended);
        assertEquals(1, sent(Frames.GOAWAY, 0).size());
        assertFalse(channel.isOpen());
    }

    @Test
    void requestsThatWereGivenUpLongAgoDoNotCount() {
        channel.freezeTime();
        for (int i = 0; i < ClientStreams.MAX_GIVEN_UP; i++) {
            request(Method.GET, true).client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
            collect();
            channel.advanceTimeBy(ClientStreams.WORN_NANOS / ClientStreams.MAX_GIVEN_UP * 2, TimeUnit.NANOSECONDS);
            say(3); // it is not silent
        }
        assertFalse(life.contains("worn"));
        assertTrue(channel.isOpen());
    }

    /** What has ended by itself, or was never sent, is no reset. */
    @Test
    void onlyRequestsThatAreResetAreCounted() {
        for (int i = 0; i < 2 * ClientStreams.MAX_GIVEN_UP; i++) {
            client.open(new Pair.Exchange()).reset(Failure.of(Cause.CLIENT_CLOSED, ""));
            Pair.Exchange answered = request(Method.GET, true);
            send(frame(Frames.HEADERS, END, 3 + 2 * i, block(":status", "200")));
            answered.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        }
        assertEquals(3, client.availableStreams());
        assertTrue(channel.isOpen());
    }

    private void say(int streams) {
        byte[] n = number(streams);
        send(frame(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 3, n[0], n[1], n[2], n[3]));
    }

    @Test
    void anUpstreamThatDoesNotSayHowManyRequestsItTakesGetsAsManyAsMostTake() {
        try (Pair pair = new Pair()) {
            EmbeddedChannel silent = new EmbeddedChannel();
            Http2ClientConnection connection = Http2ClientConnection.create(
                    pair.listener(), counts, Pair.wheel(silent), Http2ClientSettings.DEFAULT);
            silent.pipeline().addLast(connection);
            silent.writeInbound(frame(Frames.SETTINGS, 0, 0));
            assertEquals(Http2ClientSettings.DEFAULT.assumedStreams(), connection.availableStreams());
            silent.finishAndReleaseAll();
        }
    }

    /** Each case is the header list, fields separated by '|', names and values by '~'. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "server~x",
                ":status~20",
                ":status~abc",
                ":status~099",
                ":status~101",
                ":status~200|:status~200",
                ":status~200|:path~/",
                "server~x|:status~200",
                ":status~200|Server~x",
                ":status~200|connection~close",
                ":status~200|transfer-encoding~chunked",
                ":status~200 ",
                ":status~200|x~a\nb",
                ":status~200|content-length~1|content-length~2",
                ":status~200|content-length~5"
            })
    void aMalformedResponseFailsItsStreamOnly(String list) {
        Pair.Exchange exchange = request(Method.GET, true);
        Pair.Exchange other = request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 3, block(list.replace("|", "~").split("~", -1))));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertEquals(RetrySafety.NEVER, exchange.failed().retry());
        assertEquals(1, sent(Frames.RST_STREAM, 3).get(0).number(0));
        send(frame(Frames.HEADERS, END, 5, block(":status", "204")));
        assertTrue(other.ended);
    }

    /** As other proxies do: what goes to the client has neither. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "' \t2 \t' | '' | 2",
                "'2, 2' | '' | 2",
                "'2' | ' 2' | 2",
            })
    void whiteSpaceAroundAValueAndALengthGivenTwiceAreRead(String length, String again, long expected) {
        Pair.Exchange exchange = request(Method.GET, true);
        String[] fields = {
            ":status", "200", "x-a", " \tb c\t", "x-b", " ", "content-length", length, "content-length", again
        };
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(again.isEmpty() ? Arrays.copyOf(fields, 8) : fields)));
        send(frame(Frames.DATA, 0, 3, new byte[2]));
        send(frame(Frames.HEADERS, END, 3, block("x-sum", " 7 ")));
        assertNull(exchange.failure);
        assertTrue(exchange.ended);
        assertEquals(expected, exchange.heads.get(0).contentLength());
        String received = exchange.heads.get(0).fields().toString().toLowerCase(Locale.ROOT);
        assertTrue(received.startsWith("x-a: b c\nx-b: \ncontent-length: "), received);
        assertEquals(received.indexOf("content-length"), received.lastIndexOf("content-length"));
        assertEquals("x-sum: 7\n", exchange.trailers().toString());
    }

    /** Filters, logs and redirects go by the client's scheme, which the head keeps. */
    @Test
    void theSchemeIsThatOfTheConnection() {
        Pair.Exchange exchange = new Pair.Exchange();
        exchange.client = client.open(exchange);
        RequestHead head = Http2ConnectionsTest.head(Method.GET, "/");
        head.setScheme(Scheme.HTTPS);
        exchange.client().head(head, true);
        exchange.client().flush();
        collect();
        ByteBuf block = sent(Frames.HEADERS, 3).get(0).payload();
        assertEquals(0x82, block.getUnsignedByte(0)); // :method GET, as HPACK's static table has it
        assertEquals(0x86, block.getUnsignedByte(1)); // :scheme http
        assertEquals(Scheme.HTTPS, head.scheme());
    }

    @Test
    void a204HasNoLength() {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 3, block(":status", "204", "content-length", "0")));
        assertTrue(exchange.ended);
        assertFalse(exchange.heads.get(0).fields().contains(FieldName.CONTENT_LENGTH));
    }

    /** The client has its response, and other proxies drop such bytes, too. */
    @ParameterizedTest
    @CsvSource({"HEAD, 200", "GET, 204", "GET, 304"})
    void theBodyOfAResponseThatHasNoneIsDropped(String method, String status) {
        Pair.Exchange exchange = request("HEAD".equals(method) ? Method.HEAD : Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", status, "content-length", "9")));
        assertFalse(exchange.ended);
        send(frame(Frames.DATA, Frames.END_STREAM, 3, new byte[2]));
        assertNull(exchange.failure);
        assertTrue(exchange.ended);
        assertEquals("", exchange.body.toString());
        assertEquals(List.of(), sent(Frames.RST_STREAM, 3));
        assertEquals(List.of(Http2Violation.MALFORMED_MESSAGE.kind()), counts.violations);
    }

    /** Such a body might never end. The response does, and neither it nor the connection fails. */
    @ParameterizedTest
    @CsvSource({"HEAD, 200", "GET, 204", "GET, 304"})
    void aResponseThatHasNoBodyEndsWhereOneBegins(String method, String status) {
        Pair.Exchange exchange = request("HEAD".equals(method) ? Method.HEAD : Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", status, "content-length", "9")));
        send(frame(Frames.DATA, 0, 3, new byte[14_000]));
        assertTrue(exchange.ended);
        assertEquals(1, sent(Frames.RST_STREAM, 3).get(0).number(0));
        send(frame(Frames.DATA, 0, 3, new byte[14_000]));
        send(frame(Frames.DATA, Frames.END_STREAM, 3, new byte[2]));
        assertNull(exchange.failure);
        assertEquals("", exchange.body.toString());
        assertEquals(List.of(Http2Violation.MALFORMED_MESSAGE.kind()), counts.violations);
        Pair.Exchange next = request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 5, block(":status", "200")));
        assertTrue(next.ended);
        assertEquals(List.of(), sent(Frames.GOAWAY, 0));
    }

    @Test
    void aBodyThatMustNotBeEndsAnUploadAsWell() {
        Pair.Exchange exchange = request(Method.POST, false);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "204")));
        send(frame(Frames.DATA, 0, 3, new byte[2]));
        assertTrue(exchange.ended);
        assertNull(exchange.failure);
        exchange.client().data(Unpooled.copiedBuffer(new byte[9]), true);
        exchange.client().flush();
        collect();
        assertEquals(1, sent(Frames.RST_STREAM, 3).size());
        assertEquals(List.of(), sent(Frames.DATA, 3));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Frames.END_STREAM})
    void dataBeforeAHeadFailsTheStream(int flags) {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(Frames.DATA, flags, 3, new byte[3]));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertEquals(0, exchange.received);
        assertFalse(exchange.ended);
    }

    @Test
    void aBodyShorterThanAnnouncedFailsTheStream() {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200", "content-length", "9")));
        send(frame(Frames.DATA, Frames.END_STREAM, 3, new byte[8]));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertFalse(exchange.ended);
    }

    @Test
    void aBodyLongerThanAnnouncedFailsTheStreamBeforeTheRestIsHandedOn() {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200", "content-length", "9")));
        send(frame(Frames.DATA, 0, 3, new byte[8]));
        send(frame(Frames.DATA, Frames.END_STREAM, 3, new byte[2]));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertEquals(8, exchange.received);
        assertFalse(exchange.ended);
        assertEquals(1, sent(Frames.RST_STREAM, 3).get(0).number(0));
    }

    @Test
    void trailersDoNotEndABodyShorterThanAnnounced() {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200", "content-length", "9")));
        send(frame(Frames.DATA, 0, 3, new byte[8]));
        send(frame(Frames.HEADERS, END, 3, block("checksum", "1")));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertFalse(exchange.ended);
    }

    @Test
    void whiteSpaceAroundAValueIsCutOff() {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(
                Frames.HEADERS, END, 3, block(":status", "200", "x", " a b\t", "y", " \t ", "content-length", " 0 ")));
        assertEquals(
                "x: a b\ny: \ncontent-length: 0\n",
                exchange.heads.get(0).fields().toString());
        assertEquals(0, exchange.heads.get(0).contentLength());
        assertTrue(exchange.ended);
    }

    @Test
    void aResponseToHeadAnnouncesABodyThatDoesNotCome() {
        Pair.Exchange exchange = request(Method.HEAD, true);
        send(frame(Frames.HEADERS, END, 3, block(":status", "200", "content-length", "9")));
        assertTrue(exchange.ended);
        assertNull(exchange.failure);
        assertEquals(9, exchange.heads.get(0).contentLength());
        Pair.Exchange unchanged = request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 5, block(":status", "304", "content-length", "9")));
        assertTrue(unchanged.ended);
    }

    @Test
    void aRefusedStreamMayAlwaysBeTriedAgain() {
        Pair.Exchange exchange = request(Method.POST, false);
        send(frame(Frames.RST_STREAM, 0, 3, number(7)));
        assertEquals(RetrySafety.ALWAYS, exchange.failed().retry());
        assertEquals(Cause.UPSTREAM_RESET_BEFORE_HEADERS, exchange.failed().cause());
    }

    @Test
    void aStreamThatRequiresHttp1IsTriedAgainOnAnotherConnection() {
        http1Follows = true;
        Pair.Exchange exchange = request(Method.POST, false);
        Pair.Exchange other = request(Method.GET, true);
        send(frame(Frames.RST_STREAM, 0, 3, number(13)));
        assertEquals(RetrySafety.ALWAYS, exchange.failed().retry());
        assertEquals(
                List.of("HTTP/1.1", "going away"),
                life.subList(life.indexOf("HTTP/1.1"), life.indexOf("going away") + 1));
        assertEquals(0, client.availableStreams());
        send(frame(Frames.HEADERS, END, 5, block(":status", "204")));
        assertTrue(other.ended);
        assertFalse(channel.isOpen());
    }

    @Test
    void whereTheProtocolIsFixedItFailsAndSaysSo() {
        Pair.Exchange exchange = request(Method.GET, true);
        send(frame(Frames.RST_STREAM, 0, 3, number(13)));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertEquals(RetrySafety.NEVER, exchange.failed().retry());
        assertTrue(
                exchange.failed().detail().contains("HTTP_1_1_REQUIRED"),
                exchange.failed().detail());
        assertEquals(3, client.availableStreams());
    }

    /** GOAWAY with that code: what the upstream has not looked at is tried again, whatever its method. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aGoAwayThatRequiresHttp1(boolean follows) {
        http1Follows = follows;
        Pair.Exchange exchange = request(Method.POST, true);
        send(frame(
                Frames.GOAWAY, 0, 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0, (byte) 0, (byte) 13));
        assertEquals(
                follows ? RetrySafety.ALWAYS : RetrySafety.NEVER,
                exchange.failed().retry());
        assertTrue(life.contains("going away"));
    }

    @Test
    void anUpstreamThatResetsManyRequestsKeepsItsConnection() {
        for (int i = 0; i < 300; i++) {
            Pair.Exchange exchange = request(Method.POST, false);
            send(frame(Frames.RST_STREAM, 0, 3 + 2 * i, number(8)));
            assertNotNull(exchange.failure);
        }
        for (int i = 0; i < 300; i++) {
            request(Method.GET, true);
            send(frame(Frames.HEADERS, END, 603 + 2 * i, block(":status", "2")));
        }
        assertEquals(3, client.availableStreams());
        assertTrue(channel.isOpen());
    }

    /** In steps, because some timers count seconds. */
    private void advance(long millis) {
        for (long passed = 0; passed < millis; passed += STEP_MILLIS) {
            channel.advanceTimeBy(Math.min(STEP_MILLIS, millis - passed), TimeUnit.MILLISECONDS);
            channel.runScheduledPendingTasks();
        }
        collect();
    }

    @Test
    void anUpstreamThatVanishedIsGivenUpSoonAfterARequestWas() {
        Pair.Exchange first = request(Method.GET, true);
        Pair.Exchange other = request(Method.GET, true);
        first.client().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, "no response in time"));
        collect();
        assertEquals(0, sent(Frames.PING, 0).size());
        advance(5_500);
        assertEquals(1, sent(Frames.PING, 0).size());
        advance(5_500);
        assertTrue(channel.isOpen());
        assertEquals(List.of("silent", "going away"), life.subList(life.size() - 2, life.size()));
        assertEquals(List.of("a PING was not answered in 5 s"), other.unresponsive);
        other.client().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, "no response in time"));
        collect();
        assertFalse(channel.isOpen());
        assertEquals("closed", life.get(life.size() - 1));
    }

    /** The upstream has said something, but nothing since the request was sent. */
    @Test
    void aRequestThatWasSentWhileBytesWereHandledIsAskedFor() {
        List<Pair.Exchange> sent = new ArrayList<>();
        onCapacityChanged = () -> {
            onCapacityChanged = () -> {};
            sent.add(request(Method.GET, true));
        };
        say(4);
        sent.get(0).client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        advance(5_500);
        assertEquals(1, sent(Frames.PING, 0).size());
    }

    @Test
    void anUpstreamThatVanishedIsFoundWhileARequestWaits() {
        Pair.Exchange exchange = request(Method.POST, true);
        advance(5_500);
        assertEquals(1, sent(Frames.PING, 0).size());
        assertEquals(List.of(), exchange.unresponsive);
        advance(5_500);
        assertEquals(List.of("a PING was not answered in 5 s"), exchange.unresponsive);
        assertTrue(channel.isOpen());
        advance(60_000);
        assertEquals(1, Collections.frequency(life, "silent"), "the endpoint may be back");
        send(frame(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, 3, block(":status", "200")));
        assertEquals(200, exchange.heads.get(0).status(), "an answer that comes all the same");
        assertFalse(channel.isOpen());
    }

    /** Servers of gRPC end connections for more. */
    @Test
    void oneRequestAsksOnceHoweverLongItWaits() {
        Pair.Exchange exchange = request(Method.GET, true);
        advance(5_500);
        byte[] data = ByteBufUtil.getBytes(sent(Frames.PING, 0).get(0).payload());
        send(frame(Frames.PING, Frames.ACK, 0, data));
        advance(60_000);
        assertEquals(1, sent(Frames.PING, 0).size());
        assertEquals(List.of(), exchange.unresponsive);
        Pair.Exchange other = request(Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, 5, block(":status", "200")));
        assertTrue(other.ended);
        advance(6_500);
        assertEquals(2, sent(Frames.PING, 0).size(), "after a message that has come");
    }

    @Test
    void anUpstreamThatAnswersNothingButPingIsKept() {
        Pair.Exchange first = request(Method.GET, true);
        first.client().reset(Failure.of(Cause.UPSTREAM_TIMEOUT, "no response in time"));
        advance(5_500);
        byte[] data = ByteBufUtil.getBytes(sent(Frames.PING, 0).get(0).payload());
        send(frame(Frames.PING, Frames.ACK, 0, data));
        advance(60_000);
        assertTrue(channel.isOpen());
        assertEquals(1, sent(Frames.PING, 0).size());
        Pair.Exchange heard = request(Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 5, block(":status", "200")));
        heard.client().reset(Failure.of(Cause.IDLE_TIMEOUT, "no byte in time"));
        advance(60_000);
        assertEquals(1, sent(Frames.PING, 0).size());
    }

    @Test
    void interimResponsesWithoutEndFailTheStream() {
        Pair.Exchange exchange = request(Method.GET, true);
        for (int i = 0; i < ResponseHead.MAX_INTERIM; i++) {
            send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "103")));
        }
        assertNull(exchange.failure);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "103")));
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertEquals(ResponseHead.MAX_INTERIM, exchange.heads.size());
        assertTrue(channel.isOpen());
    }

    @Test
    void anUpstreamThatOffersNoExtendedConnectGetsNone() {
        assertFalse(client.allowsExtendedConnect());
        Pair.Exchange exchange = new Pair.Exchange();
        exchange.client = client.open(exchange);
        RequestHead head = Http2ConnectionsTest.head(Method.CONNECT, "/chat");
        head.setProtocol(new AsciiString("websocket"));
        exchange.client().head(head, false);
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, exchange.failed().cause());
        assertEquals(3, client.availableStreams());
    }

    @Test
    void aResetWithoutErrorAfterTheWholeResponseIsNone() {
        Pair.Exchange exchange = request(Method.POST, false);
        send(
                frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "413")),
                frame(Frames.DATA, Frames.END_STREAM, 3, new byte[3]),
                frame(Frames.RST_STREAM, 0, 3, number(0)));
        assertTrue(exchange.ended);
        assertEquals(3, exchange.received);
        assertNull(exchange.failure);
        assertEquals(0, client.activeStreams());
    }

    @Test
    void aResetWithoutErrorAmidTheResponseIsAFailure() {
        Pair.Exchange exchange = request(Method.POST, false);
        send(
                frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200")),
                frame(Frames.RST_STREAM, 0, 3, number(0)));
        assertEquals(Cause.UPSTREAM_RESET_IN_BODY, exchange.failed().cause());
    }

    @Test
    void streamsThatAGoAwayLeavesOutMayAlwaysBeTriedAgainAndOthersFinish() {
        Pair.Exchange taken = request(Method.POST, true);
        Pair.Exchange left = request(Method.POST, true);
        send(frame(
                Frames.GOAWAY, 0, 0, (byte) 0, (byte) 0, (byte) 0, (byte) 3, (byte) 0, (byte) 0, (byte) 0, (byte) 0));
        assertEquals(RetrySafety.ALWAYS, left.failed().retry());
        assertNull(taken.failure);
        assertEquals(0, client.availableStreams());
        assertTrue(life.contains("going away"));
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        assertTrue(taken.ended);
        assertFalse(channel.isOpen());
        assertEquals("closed", life.get(life.size() - 1));
    }

    @Test
    void anUpstreamMayCloseAnIdleConnectionWhileRequestsAreOnTheirWay() {
        request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        Pair.Exchange first = request(Method.GET, true);
        Pair.Exchange second = request(Method.GET, true);
        end();
        assertTrue(first.failed().stale());
        assertTrue(second.failed().stale());
    }

    @Test
    void anUpstreamThatClosesANewOrABusyConnectionGivesUpItsRequests() {
        Pair.Exchange first = request(Method.GET, true);
        Pair.Exchange second = request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        assertTrue(first.ended);
        Pair.Exchange third = request(Method.GET, true);
        end();
        assertFalse(second.failed().stale());
        assertFalse(third.failed().stale());
    }

    @Test
    void anUpstreamThatHasSentSomethingSinceItWasIdleGivesUpItsRequests() {
        request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        Pair.Exchange lost = request(Method.GET, true);
        send(frame(Frames.PING, Frames.ACK, 0, new byte[8]));
        end();
        assertFalse(lost.failed().stale());
    }

    /** Ends the connection as its peer does. */
    private void end() {
        channel.pipeline().fireChannelReadComplete(); // there was nothing to read but the end
        channel.close();
    }

    /** One client that leaves a stream of small messages must not end the connection, which others share. */
    @Test
    void tinyPiecesThatWereOnTheirWayWhenTheirStreamWasResetAreNoFlood() {
        Pair.Exchange other = request(Method.GET, true);
        Pair.Exchange left = request(Method.GET, true);
        send(frame(Frames.HEADERS, Frames.END_HEADERS, 5, block(":status", "200")));
        advance(7_000);
        byte[] ping = ByteBufUtil.getBytes(sent(Frames.PING, 0).get(0).payload());
        send(frame(Frames.PING, Frames.ACK, 0, ping));
        advance(60_000); // the connection is no new one
        left.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        collect();
        for (int i = 0; i < 10 * FloodGuard.MAX_STRAYS; i++) {
            send(frame(Frames.DATA, 0, 5, (byte) 'x'));
        }
        assertEquals(List.of(), counts.violations);
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        assertTrue(other.ended);
        for (int i = 0; i <= 2 * FloodGuard.STRAYS_PER_RESET && counts.violations.isEmpty(); i++) {
            send(frame(Frames.DATA, 0, 5, (byte) 'x'));
        }
        assertEquals(List.of(Http2Violation.STRAY_FRAME_FLOOD.kind()), counts.violations);
    }

    @Test
    void roomIsCountedFromOpeningAStreamToItsEnd() {
        Pair.Exchange exchange = new Pair.Exchange();
        exchange.client = client.open(exchange);
        assertEquals(2, client.availableStreams());
        exchange.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
        assertEquals(3, client.availableStreams());
        assertEquals(List.of("ready", "capacity"), life);
        request(Method.GET, true);
        assertEquals(2, client.availableStreams());
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        assertEquals(3, client.availableStreams());
    }

    @Test
    void whatWasRefusedIsNotSentAgainHereUntilThereIsRoom() {
        Pair.Exchange first = request(Method.GET, true);
        Pair.Exchange refused = request(Method.GET, true);
        int[] room = {-1};
        refused.onReset = () -> room[0] = client.availableStreams();
        send(frame(Frames.RST_STREAM, 0, 5, number(7)));
        assertEquals(RetrySafety.ALWAYS, refused.failed().retry());
        assertEquals(0, room[0]); // when the request looks for another connection
        assertEquals(0, client.availableStreams());
        send(frame(Frames.HEADERS, END, 3, block(":status", "200")));
        assertTrue(first.ended);
        assertEquals(2, client.availableStreams());
        request(Method.GET, true);
        request(Method.GET, true);
        send(frame(Frames.HEADERS, END, 7, block(":status", "200")));
        assertEquals(1, client.availableStreams());
        send(frame(Frames.HEADERS, END, 9, block(":status", "200")));
        assertEquals(3, client.availableStreams());
    }

    @Test
    void anUpstreamThatRefusesAllIsAskedAgainAfterAWhile() {
        request(Method.GET, true);
        send(frame(Frames.RST_STREAM, 0, 3, number(7)));
        assertEquals(0, client.availableStreams());
        life.clear();
        advance(1_050);
        assertEquals(List.of("capacity"), life);
        assertEquals(1, client.availableStreams());
        advance(1_050);
        assertEquals(2, client.availableStreams());
        advance(1_050);
        assertEquals(3, client.availableStreams());
    }

    @Test
    void aNewWordOnTheLimitMakesUpForRefusals() {
        request(Method.GET, true);
        send(frame(Frames.RST_STREAM, 0, 3, number(7)));
        send(frame(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 3, (byte) 0, (byte) 0, (byte) 0, (byte) 0));
        assertEquals(0, client.availableStreams());
        send(frame(Frames.SETTINGS, 0, 0, (byte) 0, (byte) 3, (byte) 0, (byte) 0, (byte) 0, (byte) 9));
        assertEquals(9, client.availableStreams());
    }

    @Test
    void floodsByAnUpstreamEndTheConnection() {
        for (ByteBuf flood : List.of(
                frame(Frames.GOAWAY, 0, 0, new byte[] {127, -1, -1, -1, 0, 0, 0, 0}),
                frame(Frames.PING, 0, 0, new byte[8]),
                frame(Frames.PING, Frames.ACK, 0, new byte[8]),
                frame(Frames.SETTINGS, 0, 0),
                frame(Frames.RST_STREAM, 0, 3, number(8)),
                frame(Frames.DATA, Frames.PADDED, 3, (byte) 0),
                frame(Frames.WINDOW_UPDATE, 0, 3, number(1)))) {
            Http2ClientMessagesTest other = new Http2ClientMessagesTest();
            other.connect();
            Pair.Exchange exchange = other.request(Method.GET, true);
            other.send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200")));
            for (int i = 0; i < 10_000 && other.counts.violations.isEmpty(); i++) {
                other.send(flood.copy());
            }
            assertEquals(11, other.sent(Frames.GOAWAY, 0).get(0).number(4)); // ENHANCE_YOUR_CALM
            assertNotNull(exchange.failure);
            other.nothingIsLeft();
            flood.release();
        }
    }

    @Test
    void aPushedStreamEndsTheConnection() {
        Pair.Exchange exchange = request(Method.GET, true);
        byte[] promise = new byte[4 + block(":method", "GET").length];
        promise[3] = 2;
        send(frame(5, Frames.END_HEADERS, 3, promise));
        assertEquals(1, sent(Frames.GOAWAY, 0).size());
        Failure failure = exchange.failed();
        assertEquals(Cause.UPSTREAM_PROTOCOL_ERROR, failure.cause());
        assertEquals("the upstream broke the protocol: PUSH_PROMISE", failure.detail());
    }

    @Test
    void bytesOfAResetStreamGoBackToTheConnection() {
        int window = 65_535 + returned();
        int sent = 0;
        request(Method.GET, true); // keeps the connection open, on which many are given up
        for (int stream = 5; sent <= 2 * window; stream += 2) {
            Pair.Exchange exchange = request(Method.GET, true);
            exchange.keepCredit = true;
            send(frame(Frames.HEADERS, Frames.END_HEADERS, stream, block(":status", "200")));
            for (int i = 0; i < 16; i++) {
                send(frame(Frames.DATA, 0, stream, new byte[16_000]));
            }
            sent += 256_000;
            exchange.client().reset(Failure.of(Cause.CLIENT_CLOSED, ""));
            collect();
            assertEquals(8, sent(Frames.RST_STREAM, stream).get(0).number(0));
            assertEquals(256_000, exchange.received);
            assertNull(exchange.failure);
            assertEquals(List.of(), sent(Frames.WINDOW_UPDATE, stream));
            exchange.client().consumed(256_000); // has been given back already
            exchange.client().flush();
            collect();
            int back = 65_535 + returned() - window;
            assertTrue(back <= sent && back >= sent - window / 2, back + " of " + sent);
        }
        assertEquals(List.of(), sent(Frames.GOAWAY, 0));
        assertTrue(channel.isOpen());
    }

    /** Returns by how much the window of the connection was opened so far. */
    private int returned() {
        return sent(Frames.WINDOW_UPDATE, 0).stream()
                .mapToInt(update -> update.number(0))
                .sum();
    }
}
