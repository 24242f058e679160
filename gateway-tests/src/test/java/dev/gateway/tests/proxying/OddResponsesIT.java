package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.protocol.http1.RawResponses;
import dev.gateway.protocol.http1.RawResponses.Case;
import dev.gateway.protocol.http1.RawResponses.Outcome;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.support.GatewayJar;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Responses that break the rules, or stretch them, through the whole gateway: the corpus of raw responses by HTTP/1
 * upstreams, and frames by HTTP/2 upstreams. No client takes what is broken for whole; no request gets what belongs to
 * another; the endpoint is blamed for what is its fault, and for nothing else.
 */
@Tag("jar")
@Timeout(120)
class OddResponsesIT {
    private static final int DATA = Http2Peer.DATA;
    private static final int HEADERS = Http2Peer.HEADERS;
    private static final int LAST = Http2Peer.END_STREAM;
    private static final int WHOLE_BLOCK = Http2Peer.END_HEADERS;
    private static final int PADDED = 8;
    private static final int PUSH_PROMISE = 5;

    /** What is longer is not sent byte by byte. */
    private static final int LONG = 1500;

    private static Origin origin;
    private static GatewayJar gateway;
    private static volatile @Nullable Behavior odd;
    private static volatile @Nullable Peer oddConnection;

    @BeforeAll
    static void start() throws Exception {
        Behavior asked = (stream, head) -> {
            Behavior behavior = odd;
            oddConnection = stream.peer();
            if (behavior != null) {
                behavior.serve(stream, head);
            }
        };
        Behavior next = (stream, head) -> {
            stream.receiveBody();
            boolean same = stream.peer() == oddConnection;
            stream.send(Head.response(200, "content-length", same ? "4" : "5"), false);
            stream.send(same ? "same" : "other", true);
        };
        origin = Origin.start()
                .on("/http1/odd", asked)
                .on("/h2c/odd", asked)
                .on("/http1/next", next)
                .on("/h2c/next", next);
        gateway = GatewayJar.of(
                        """
                        workers: 1
                        listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes:
                          - rules:
                              - {matches: [{path: {type: PathPrefix, value: /http1}}], backendRefs: [{name: http1}], retry: {attempts: 0}}
                              - {matches: [{path: {type: PathPrefix, value: /h2c}}], backendRefs: [{name: h2c}], retry: {attempts: 0}}
                        upstreams:
                          - name: http1
                            endpoints: [{host: 127.0.0.1, port: %1$d}]
                            protocol: http1
                            healthChecks: {outlierDetection: {consecutive5xx: 100}}
                            timeouts: {connect: 60s} # a dial that takes a sixth of it counts as a failure
                          - name: h2c
                            endpoints: [{host: 127.0.0.1, port: %1$d}]
                            protocol: h2c
                            healthChecks: {outlierDetection: {consecutive5xx: 100}}
                            timeouts: {connect: 60s} # a dial that takes a sixth of it counts as a failure
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(origin.port()))
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        gateway.close();
        origin.close();
    }

    /** What a client has got. */
    private record Answer(@Nullable Head head, String body, boolean whole, List<String> trailers) {
        int status() {
            return head == null ? 0 : head.status();
        }
    }

    private static Answer ask(Peers protocol, String method, String path, boolean ends) throws IOException {
        try (Peer client = protocol.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            if (ends) {
                stream.send(Head.request(method, path), true);
            } else {
                stream.send(Head.request(method, path, "content-length", "5"), false);
                try {
                    stream.send("ab", false);
                } catch (SocketException | StreamResetException e) {
                    // The response was faster.
                }
            }
            return receive(stream);
        }
    }

    private static Answer receive(PeerStream stream) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        Head head = null;
        boolean whole = false;
        try {
            head = stream.receiveFinal();
            byte[] buffer = new byte[8192];
            for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                body.write(buffer, 0, n);
            }
            whole = true;
        } catch (EOFException | SocketException | StreamResetException e) {
            // It is visible that something is missing.
        }
        List<String> trailers = stream.trailers().stream()
                .map(trailer -> trailer.getKey() + ": " + trailer.getValue())
                .toList();
        return new Answer(head, body.toString(StandardCharsets.ISO_8859_1), whole, trailers);
    }

    private static int failuresInARow(String upstream) throws Exception {
        for (var each : gateway.json("/upstreams").get("upstreams")) {
            if (each.get("name").asText().equals(upstream)) {
                return each.at("/endpoints/0/failuresInARow").asInt(-1);
            }
        }
        throw new IllegalStateException("no upstream " + upstream);
    }

    /** Asks the origin whether a request takes the connection of the one before. */
    private static String next(Peers client, String upstream) throws IOException {
        Answer answer = ask(client, "GET", "/" + upstream + "/next", true);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.whole()).isTrue();
        return answer.body();
    }

    // HTTP/1 upstreams

    /** How a case is sent. */
    private record Sent(Case response, Peers client, boolean bytewise) {
        @Override
        public String toString() {
            return response + " to " + client + (bytewise ? ", byte by byte" : "");
        }
    }

    static Stream<Sent> corpus() {
        return RawResponses.read().stream()
                .filter(response -> response.outcome() != Outcome.WAIT) // nothing can be seen of a gateway that waits
                // From these the gateway would learn how long connections of this endpoint are of use.
                .filter(response ->
                        response.keepAliveMillis() < 0 && !response.bytes().isEmpty())
                .flatMap(OddResponsesIT::waysOf);
    }

    private static Stream<Sent> waysOf(Case response) {
        List<Sent> sent = new ArrayList<>();
        // Bytes that come later than the response cannot be told from an answer to the next request.
        boolean bytewise =
                response.outcome() != Outcome.EXTRA && response.bytes().length() <= LONG;
        for (Peers client : List.of(Peers.HTTP1, Peers.H2C)) {
            sent.add(new Sent(response, client, false));
            if (bytewise && client == Peers.HTTP1) {
                sent.add(new Sent(response, client, true));
            }
        }
        return sent.stream();
    }

    private static Behavior play(Case response, boolean bytewise) {
        return (stream, head) -> {
            Http1Peer peer = (Http1Peer) stream.peer();
            if (response.requestEnds()) {
                stream.receiveBody();
            }
            byte[] bytes = response.bytes().getBytes(StandardCharsets.ISO_8859_1);
            for (int i = 0; bytewise && i < bytes.length; i++) {
                peer.raw(new byte[] {bytes[i]});
            }
            if (!bytewise) {
                peer.raw(bytes);
            }
            if (response.closes()) {
                peer.halfClose();
            }
            if (!response.requestEnds()) {
                peer.awaitClosed();
            }
        };
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("corpus")
    void theVerdictIsThatOfTheCorpus(Sent sent) throws Exception {
        Case expected = sent.response();
        odd = play(expected, sent.bytewise());
        Answer answer = ask(sent.client(), expected.method(), "/http1/odd", expected.requestEnds());
        int failures = failuresInARow("http1");
        String next = next(sent.client(), "http1");
        Outcome outcome = expected.outcome();
        switch (outcome) {
            case REFUSED, LOST -> {
                assertThat(answer.status()).isEqualTo(502);
                assertThat(answer.whole()).isTrue();
                assertThat(answer.body()).doesNotContain("EVIL");
            }
            case BROKEN, CUT -> assertBroken(answer, expected.finalStatus(), expected.body());
            default -> assertArrived(answer, expected);
        }
        assertThat(failures).as("failures in a row").isEqualTo(blame(expected));
        assertThat(next).as("the connection of the next request").isEqualTo(outcome == Outcome.KEPT ? "same" : "other");
    }

    private static int blame(Case response) {
        if (response.outcome().isWhole()) {
            return response.finalStatus() >= 500 ? 1 : 0;
        }
        return 1;
    }

    private static void assertBroken(Answer answer, int status, String body) {
        assertThat(answer.whole()).as("a response that is taken for whole").isFalse();
        assertThat(answer.status()).isIn(0, status); // there may be no time to send the head
        assertThat(body).startsWith(answer.body());
    }

    private static void assertArrived(Answer answer, Case expected) {
        assertThat(answer.status()).isEqualTo(expected.finalStatus());
        assertThat(answer.whole()).isTrue();
        assertThat(answer.body()).isEqualTo(expected.body());
        assertThat(answer.trailers().stream().map(String::toLowerCase))
                .isEqualTo(expected.trailers().stream().map(String::toLowerCase).toList());
        Head head = answer.head();
        for (String field : expected.fields()) {
            String[] parts = field.split(": ?", 2);
            List<String> values = head == null ? List.of() : head.all(parts[0]);
            if (parts.length == 1) {
                assertThat(values).as(field).isEmpty();
            } else {
                assertThat(values).as(field).contains(parts[1]);
            }
        }
    }

    // HTTP/2 upstreams

    /** What an HTTP/2 upstream does on a stream. */
    private interface Frames {
        void send(Http2Stream stream, Http2Peer peer) throws Exception;
    }

    /** What a client sees. */
    private enum Seen {
        /** 200, with the body "ok". */
        WHOLE,
        /** 502. */
        REFUSED,
        /** Anything but a whole response. */
        BROKEN,
        /** 200 without the body. */
        NO_BODY
    }

    /**
     * One case.
     *
     * @param unfinished whether the request does not end
     * @param next what the origin says of the next request, null if it does not matter
     */
    private record Odd(
            String title, String method, boolean unfinished, Frames frames, Seen seen, @Nullable String next) {
        Odd(String title, Frames frames, Seen seen, @Nullable String next) {
            this(title, "GET", false, frames, seen, next);
        }
    }

    /** One case, and who asks. */
    private record Asked(Odd odd, Peers client) {
        @Override
        public String toString() {
            return odd.title() + " to " + client;
        }
    }

    private static final byte[] OK = "ok".getBytes(StandardCharsets.ISO_8859_1);

    /** Returns a header block without compression. */
    private static byte[] block(String... fields) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String field : fields) {
            int colon = field.indexOf(':', 1);
            out.write(0);
            string(out, field.substring(0, Math.max(colon, 0)));
            string(out, field.substring(colon + 1));
        }
        return out.toByteArray();
    }

    private static void string(ByteArrayOutputStream out, String text) {
        out.write(text.length());
        out.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Frames head(int flags, String... fields) {
        return (stream, peer) -> peer.frame(HEADERS, WHOLE_BLOCK | flags, stream.id(), block(fields));
    }

    /** A head, and a body of two bytes. */
    private static Odd oddHead(String title, String... fields) {
        return new Odd(
                title,
                (stream, peer) -> {
                    head(0, fields).send(stream, peer);
                    peer.frame(DATA, LAST, stream.id(), OK);
                },
                Seen.REFUSED,
                "same");
    }

    /** A head that is taken, and a body of two bytes. */
    private static Odd lenientHead(String title, String... fields) {
        List<String> all = new ArrayList<>(List.of(fields));
        all.add(0, ":status:200");
        return new Odd(title, oddHead(title, all.toArray(String[]::new)).frames(), Seen.WHOLE, "same");
    }

    /** What follows a good head and a body of two bytes. */
    private static Odd behind(String title, Seen seen, @Nullable String next, Frames frames) {
        return new Odd(
                title,
                (stream, peer) -> {
                    head(0, ":status:200").send(stream, peer);
                    peer.frame(DATA, 0, stream.id(), OK);
                    frames.send(stream, peer);
                },
                seen,
                next);
    }

    private static Frames trailers(String... fields) {
        return head(LAST, fields);
    }

    private static Frames reset(int code) {
        return (stream, peer) -> peer.frame(Http2Peer.RST_STREAM, 0, stream.id(), new byte[] {0, 0, 0, (byte) code});
    }

    private static Frames interims(int count) {
        return (stream, peer) -> {
            for (int i = 0; i < count; i++) {
                head(0, ":status:103").send(stream, peer);
            }
            head(0, ":status:200").send(stream, peer);
            peer.frame(DATA, LAST, stream.id(), OK);
        };
    }

    private static List<Odd> heads() {
        List<Odd> heads = new ArrayList<>(List.of(
                oddHead("a name in upper case", ":status:200", "X-A:b"),
                oddHead("a name with a space", ":status:200", "x a:b"),
                oddHead("no name", ":status:200", ""),
                oddHead("a NUL in a value", ":status:200", "x-a:\0"),
                oddHead("a CR in a value", ":status:200", "x-a:b\rc"),
                oddHead("a LF in a value", ":status:200", "x-a:b\nc"),
                oddHead("white space before a status", ":status: 200"),
                oddHead("no status", "x-a:b"),
                oddHead("two statuses", ":status:200", ":status:200"),
                oddHead("a status behind a field", "x-a:b", ":status:200"),
                oddHead("a pseudo-header field of requests", ":status:200", ":path:/"),
                oddHead("a pseudo-header field that nobody knows", ":status:200", ":x:y"),
                oddHead("status 101", ":status:101"),
                oddHead("a length that is none", ":status:200", "content-length:x"),
                oddHead("a length with a plus sign", ":status:200", "content-length:+2"),
                oddHead("two lengths", ":status:200", "content-length:2", "content-length:3"),
                oddHead("a list of two lengths", ":status:200", "content-length:2, 3"),
                lenientHead("white space around a value", "x-a: \tb "),
                lenientHead("white space around a length", "content-length: 2 "),
                lenientHead("a length twice", "content-length:2", "content-length:2"),
                lenientHead("a length twice in a list", "content-length:2, 2")));
        for (String status : List.of("", "20", "2000", "099", "20x", "+20", "-20")) {
            heads.add(oddHead("status \"" + status + "\"", ":status:" + status));
        }
        for (String name : List.of("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade")) {
            heads.add(oddHead("the field " + name, ":status:200", name + ":close"));
        }
        return heads;
    }

    private static List<Odd> streams() {
        return List.of(
                new Odd(
                        "a good response",
                        (stream, peer) -> {
                            head(0, ":status:200", "content-length:2").send(stream, peer);
                            peer.frame(DATA, LAST, stream.id(), OK);
                        },
                        Seen.WHOLE,
                        "same"),
                behind("an empty frame at the end", Seen.WHOLE, "same", (stream, peer) -> {
                    peer.frame(DATA, LAST, stream.id(), new byte[0]);
                }),
                behind("trailers", Seen.WHOLE, "same", trailers("x-a:b")),
                new Odd("as many interim responses as there may be", interims(100), Seen.WHOLE, "same"),
                new Odd("one interim response too many", interims(101), Seen.REFUSED, "same"),
                new Odd("an interim response that ends the stream", head(LAST, ":status:103"), Seen.REFUSED, "same"),
                new Odd(
                        "a body without a head",
                        (stream, peer) -> peer.frame(DATA, LAST, stream.id(), OK),
                        Seen.REFUSED,
                        "same"),
                new Odd(
                        "a body before the final head",
                        (stream, peer) -> {
                            head(0, ":status:103").send(stream, peer);
                            peer.frame(DATA, LAST, stream.id(), OK);
                        },
                        Seen.REFUSED,
                        "same"),
                new Odd("a length and no body", head(LAST, ":status:200", "content-length:2"), Seen.REFUSED, "same"),
                new Odd(
                        "a body shorter than its length",
                        (stream, peer) -> {
                            head(0, ":status:200", "content-length:3").send(stream, peer);
                            peer.frame(DATA, LAST, stream.id(), OK);
                        },
                        Seen.BROKEN,
                        "same"),
                new Odd(
                        "a body longer than its length",
                        (stream, peer) -> {
                            head(0, ":status:200", "content-length:1").send(stream, peer);
                            peer.frame(DATA, LAST, stream.id(), OK);
                        },
                        Seen.BROKEN,
                        "same"),
                new Odd(
                        "trailers before the announced length",
                        (stream, peer) -> {
                            head(0, ":status:200", "content-length:3").send(stream, peer);
                            peer.frame(DATA, 0, stream.id(), OK);
                            trailers("x-a:b").send(stream, peer);
                        },
                        Seen.BROKEN,
                        "same"),
                new Odd(
                        "a body to HEAD",
                        "HEAD",
                        false,
                        (stream, peer) -> {
                            head(0, ":status:200", "content-length:2").send(stream, peer);
                            peer.frame(DATA, LAST, stream.id(), OK);
                        },
                        Seen.NO_BODY,
                        "same"));
    }

    private static List<Odd> ends() {
        return List.of(
                behind("a pseudo-header field in trailers", Seen.BROKEN, "same", trailers(":status:200")),
                behind("a field of a connection in trailers", Seen.BROKEN, "same", trailers("connection:close")),
                behind("a name in upper case in trailers", Seen.BROKEN, "same", trailers("X-A:b")),
                behind("trailers that do not end the stream", Seen.BROKEN, null, head(0, "x-a:b")),
                behind("a reset amid the body", Seen.BROKEN, "same", reset(2)),
                behind("a reset without an error amid the body", Seen.BROKEN, "same", reset(0)),
                behind("a close amid the body", Seen.BROKEN, "other", (stream, peer) -> peer.close()),
                behind("GOAWAY and a close amid the body", Seen.BROKEN, "other", (stream, peer) -> {
                    peer.goAway(stream.id(), 2);
                    peer.close();
                }),
                behind("padding longer than its frame", Seen.BROKEN, "other", (stream, peer) -> {
                    peer.frame(DATA, PADDED | LAST, stream.id(), new byte[] {9, 'a'});
                }),
                behind("a body behind the end", Seen.WHOLE, null, (stream, peer) -> {
                    peer.frame(DATA, LAST, stream.id(), new byte[0]);
                    peer.frame(DATA, LAST, stream.id(), OK);
                }),
                behind("a response behind the end", Seen.WHOLE, null, (stream, peer) -> {
                    peer.frame(DATA, LAST, stream.id(), new byte[0]);
                    head(LAST, ":status:200").send(stream, peer);
                }),
                new Odd("a reset before the head", reset(2), Seen.REFUSED, "same"),
                new Odd("a close before the head", (stream, peer) -> peer.close(), Seen.REFUSED, "other"),
                new Odd(
                        "a header block that is none",
                        (stream, peer) ->
                                peer.frame(HEADERS, WHOLE_BLOCK, stream.id(), new byte[] {(byte) 0xff, -1, -1}),
                        Seen.REFUSED,
                        "other"),
                new Odd("a body of no stream", (stream, peer) -> peer.frame(DATA, 0, 0, OK), Seen.REFUSED, "other"),
                new Odd(
                        "a promise that nobody wants",
                        (stream, peer) -> peer.frame(
                                PUSH_PROMISE, WHOLE_BLOCK, stream.id(), new byte[] {0, 0, 0, 2, (byte) 0x82}),
                        Seen.REFUSED,
                        "other"),
                early("a response to half a request, and a reset without an error", reset(0)),
                early("a response to half a request, and a reset", reset(8)),
                early("a response to half a request", (stream, peer) -> {}));
    }

    /** The response is whole before the request is. */
    private static Odd early(String title, Frames then) {
        return new Odd(
                title,
                "PUT",
                true,
                (stream, peer) -> {
                    head(0, ":status:200", "content-length:2").send(stream, peer);
                    peer.frame(DATA, LAST, stream.id(), OK);
                    then.send(stream, peer);
                },
                Seen.WHOLE,
                "same");
    }

    static Stream<Asked> frames() {
        return Stream.of(heads(), streams(), ends())
                .flatMap(List::stream)
                .flatMap(each -> Stream.of(new Asked(each, Peers.HTTP1), new Asked(each, Peers.H2C)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("frames")
    void framesGetTheirVerdict(Asked asked) throws Exception {
        Odd expected = asked.odd();
        odd = (stream, head) -> {
            if (!expected.unfinished()) {
                stream.receiveBody();
            }
            expected.frames().send((Http2Stream) stream, (Http2Peer) stream.peer());
        };
        Answer answer = ask(asked.client(), expected.method(), "/h2c/odd", !expected.unfinished());
        int failures = failuresInARow("h2c");
        String next = next(asked.client(), "h2c");
        boolean blamed = true;
        switch (expected.seen()) {
            case WHOLE -> {
                blamed = false;
                assertThat(answer.whole()).isTrue();
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.body()).isEqualTo("ok");
            }
            case REFUSED -> {
                assertThat(answer.whole()).isTrue();
                assertThat(answer.status()).isEqualTo(502);
            }
            case BROKEN -> assertBroken(answer, 200, "ok");
            case NO_BODY -> {
                blamed = false;
                assertThat(answer.whole()).isTrue();
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.body()).isEmpty();
            }
        }
        assertThat(failures).as("failures in a row").isEqualTo(blamed ? 1 : 0);
        if (expected.next() != null) {
            assertThat(next).as("the connection of the next request").isEqualTo(expected.next());
        }
    }
}
