package dev.gateway.filter.externalauth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.FakeContext.FakeCall;
import dev.gateway.filter.RequestWord;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.grpc.MalformedMessageException;
import dev.gateway.message.grpc.ProtoReader;
import dev.gateway.message.grpc.ProtoWriter;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server is asked about requests by Envoy's gRPC, and what becomes of its answers. */
class GrpcAuthTest {
    private static final Upstream SERVER = new Upstream(
            "authz",
            List.of(),
            NamedByRequest.POLICY,
            UpstreamValues.builder()
                    .maxConnections(1)
                    .maxPendingRequests(1)
                    .maxRequests(1)
                    .build());

    private final FakeContext context = FakeContext.from("192.0.2.1");
    private final AuthTally tally = new AuthTally();
    private List<FieldName> sent = List.of();
    private List<FieldName> edited = List.of();
    private boolean allowOnError;

    private ExternalAuth filter() {
        return ExternalAuth.byGrpc(
                SERVER,
                new GrpcAuth(
                        new GrpcAuth.Question(
                                sent, Set.of(FieldName.HOST), Map.of("policy", "shop"), () -> 1_700_000_000_250L),
                        new GrpcAuth.Answers(
                                edited,
                                FieldName.of("Remote-User"),
                                Set.of(FieldName.HOST, FieldName.VIA),
                                Set.of(FieldName.CONTENT_LENGTH))),
                new AuthPolicy(5000, 1024, allowOnError),
                tally);
    }

    private FakeCall ask(RequestHead head) {
        assertThat(filter().onRequest(head, context)).isInstanceOf(Verdict.Wait.class);
        return context.calls.get(0);
    }

    private static void answer(FakeCall call, ByteBuf body) {
        deliver(call, body);
        assertThat(body.refCnt()).isZero();
    }

    private static void deliver(FakeCall call, ByteBuf body) {
        call.callback.onAnswer(new UpstreamCall.Answer(
                new ResponseHead(200, null, Heads.fields("content-type: application/grpc"), -1),
                body,
                true,
                Heads.fields("grpc-status: 0")));
    }

    private Verdict verdict() {
        assertThat(context.resumed).hasSize(1);
        return context.resumed.get(0);
    }

    private void assertRefused(Cause cause, String detail) {
        assertThat(verdict()).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(cause);
            assertThat(refuse.failure().detail()).isEqualTo("ExternalAuth: authz " + detail);
        });
    }

    private static ProtoWriter status(int code) {
        return new ProtoWriter().number(1, code);
    }

    /** CheckResponse. */
    private static ProtoWriter ok(ProtoWriter consent) {
        return new ProtoWriter().message(1, status(0)).message(3, consent);
    }

    private static ProtoWriter denied(ProtoWriter refusal) {
        return new ProtoWriter().message(1, status(7)).message(2, refusal);
    }

    /** HeaderValueOption; an action of -1 is not said. */
    private static ProtoWriter field(String name, String value, @Nullable Boolean append, int action) {
        ProtoWriter option =
                new ProtoWriter().message(1, new ProtoWriter().text(1, name).text(2, value));
        if (append != null) {
            option.message(2, new ProtoWriter().number(1, append ? 1 : 0));
        }
        return option.number(3, Math.max(action, 0));
    }

    private static ProtoWriter field(String name, String value) {
        return field(name, value, null, -1);
    }

    private static String text(ProtoReader in) throws MalformedMessageException {
        return in.bytes().toString(StandardCharsets.UTF_8);
    }

    /** Returns every text and number in a message, by the numbers of the fields that lead there. */
    private static Map<String, String> flat(ByteBuf framed) throws MalformedMessageException {
        Map<String, String> found = new TreeMap<>();
        ByteBuf copy = Unpooled.copiedBuffer(framed);
        flatten("", ProtoReader.open(copy), found);
        return found;
    }

    private static final Set<String> MESSAGES =
            Set.of("1", "1.1", "1.1.1", "1.1.1.1", "1.2", "1.2.1", "1.2.1.1", "1.4", "1.4.1", "1.4.2", "1.12");
    private static final Set<String> NUMBERS = Set.of("1.1.1.1.3", "1.2.1.1.3", "1.4.1.1", "1.4.1.2", "1.4.2.9");

    private static void flatten(String at, ProtoReader in, Map<String, String> found) throws MalformedMessageException {
        while (in.next()) {
            String path = at.isEmpty() ? "" + in.field() : at + "." + in.field();
            if (path.equals("1.4.2.3") || path.equals("1.10")) {
                ProtoReader entry = in.message();
                entry.next();
                String key = text(entry);
                assertThat(found.put(path + " " + key, entry.next() ? text(entry) : ""))
                        .isNull();
            } else if (MESSAGES.contains(path)) {
                flatten(path, in.message(), found);
            } else {
                found.put(path, NUMBERS.contains(path) ? "" + in.number() : text(in));
            }
        }
    }

    @Test
    void theQuestionHasTheRequestIdWhateverTheListenerCallsIt() throws MalformedMessageException {
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        FakeCall call = ask(Heads.request("GET", "shop.test", "/", "x-correlation-id: r-1"));
        assertThat((CharSequence) call.request.head().fields().first(FieldName.X_REQUEST_ID))
                .hasToString("r-1");
        assertThat(flat(call.request.body()))
                .containsEntry("1.4.2.1", "r-1")
                .containsEntry("1.4.2.3 x-request-id", "r-1");
    }

    @Test
    void theQuestionHasNoOtherRequestIdThanThatOfTheGateway() throws MalformedMessageException {
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        FakeCall call = ask(Heads.request("GET", "shop.test", "/", "x-request-id: other", "x-correlation-id: r-1"));
        assertThat((CharSequence) call.request.head().fields().first(FieldName.X_REQUEST_ID))
                .hasToString("r-1");
        assertThat(flat(call.request.body()))
                .containsEntry("1.4.2.1", "r-1")
                .containsEntry("1.4.2.3 x-request-id", "r-1");
    }

    @Test
    void theQuestionHasTheRequestAsRoutesSeeIt() throws MalformedMessageException {
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        context.target = ClientTarget.of(Scheme.HTTPS, AsciiString.EMPTY_STRING);
        RequestHead head = Heads.request(
                "POST",
                "shop.test",
                "/a?b=c",
                "host: shop.test",
                "Accept: x/y",
                "accept: z",
                "cookie: a=1",
                "cookie: b=2",
                "via: 1.1 here",
                "x-request-id: r-1",
                "traceparent: t-1",
                "x-forwarded-for: 198.51.100.9",
                "x-forwarded-uri: /public",
                "x-forwarded-proto: https");
        FakeCall call = ask(head);
        assertThat(call.upstream).isSameAs(SERVER);
        assertThat(call.request.isSafe()).isTrue();
        assertThat(call.request.timeoutMillis()).isEqualTo(5000);
        assertThat((CharSequence) call.request.head().path()).hasToString("/envoy.service.auth.v3.Authorization/Check");
        assertThat(call.request.head().method()).hasToString("POST");
        assertThat(call.request.head().fields().toString().lines())
                .containsExactly(
                        "Content-Type: application/grpc",
                        "TE: trailers",
                        "grpc-timeout: 5000m",
                        "Via: 1.1 here",
                        "traceparent: t-1",
                        "X-Request-Id: r-1");
        Map<String, String> asked = flat(call.request.body());
        assertThat(asked)
                .containsEntry("1.1.1.1.2", "192.0.2.1")
                .containsEntry("1.4.1.1", "1700000000")
                .containsEntry("1.4.1.2", "250000000")
                .containsEntry("1.4.2.1", "r-1")
                .containsEntry("1.4.2.2", "POST")
                .containsEntry("1.4.2.4", "/a?b=c")
                .containsEntry("1.4.2.5", "shop.test")
                .containsEntry("1.4.2.6", "https")
                .containsEntry("1.4.2.3 :authority", "shop.test")
                .containsEntry("1.4.2.3 :path", "/a?b=c")
                .containsEntry("1.4.2.3 accept", "x/y,z")
                .containsEntry("1.4.2.3 cookie", "a=1; b=2")
                .containsEntry("1.4.2.3 x-forwarded-for", "192.0.2.1")
                .containsEntry("1.4.2.3 x-forwarded-uri", "/a?b=c")
                .containsEntry("1.10 policy", "shop")
                .doesNotContainKey("1.4.2.3 host");
    }

    @Test
    void theQuestionHasOnlyTheFieldsThatAreAllowed() throws MalformedMessageException {
        sent = List.of(FieldName.COOKIE);
        Map<String, String> asked = flat(ask(Heads.get("shop.test", "/", "cookie: a=1", "x-secret: s"))
                .request
                .body());
        assertThat(asked).containsEntry("1.4.2.3 cookie", "a=1").doesNotContainKey("1.4.2.3 x-secret");
    }

    @Test
    void consentEditsTheRequest() {
        RequestHead head = Heads.request(
                "GET", "shop.test", "/", "a: 1", "A_: odd", "b: 1", "c: 1", "d: 1", "x-gone: 1", "X_Gone: 1");
        answer(
                ask(head),
                ok(new ProtoWriter()
                                .message(2, field("a", "2"))
                                .message(2, field("b", "2", true, -1))
                                .message(2, field("c", "2", null, 1))
                                .message(2, field("new", "2", null, 1))
                                .message(2, field("d", " 2 ", null, 3))
                                .message(2, field("e", "2", null, 3))
                                .message(2, field("remote-user", "ann", false, 3))
                                .text(5, "x-gone")
                                .text(5, "absent"))
                        .framed());
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(head.fields().toString().lines())
                .containsExactly("A_: odd", "b: 1", "c: 1", "a: 2", "b: 2", "new: 2", "d: 2", "remote-user: ann");
        assertThat(context.identity()).isNotNull().satisfies(who -> assertThat(who.name())
                .isEqualTo("ann"));
        Fields trailers = Heads.fields("a: forged", "x-gone: forged", "x-checksum: stays");
        filter().onRequestTrailers(trailers, context);
        assertThat(trailers.toString().lines()).containsExactly("x-checksum: stays");
        assertThat(tally.allowed()).isEqualTo(1);
    }

    /** As a field it would be that of another user. */
    @ParameterizedTest
    @ValueSource(strings = {" ann", "ann ", "ann\t"})
    void aUserWithBlanksAtTheEndsIsNone(String name) {
        answer(
                ask(Heads.get("shop.test", "/")),
                ok(new ProtoWriter().message(2, field("remote-user", name))).framed());
        assertRefused(Cause.AUTHZ_ERROR, "says who the client is with blanks at the ends");
        assertThat(context.identity()).isNull();
    }

    /** Nobody else can say what the configuration leaves to the server, and it can say nothing else. */
    @Test
    void aListOfFieldsIsForTheServerAlone() {
        edited = List.of(FieldName.of("X-Role"));
        RequestHead head = Heads.get("shop.test", "/", "x-role: forged", "X_Role: forged", "remote-user: forged");
        FakeCall call = ask(head);
        assertThat(head.fields().size()).isZero();
        answer(
                call,
                ok(new ProtoWriter()
                                .message(2, field("x-role", "staff"))
                                .message(2, field("x-other", "no"))
                                .message(2, field("remote-user", "ann")))
                        .framed());
        assertThat(head.fields().toString().lines()).containsExactly("x-role: staff");
        assertThat(context.identity()).isNotNull();
    }

    @Test
    void consentEditsTheResponse() {
        answer(
                ask(Heads.get("shop.test", "/")),
                ok(new ProtoWriter()
                                .message(6, field("set-cookie", "s=1"))
                                .message(6, field("server", "mine", false, -1))
                                .message(6, field("content-length", "9")))
                        .framed());
        Fields response = Heads.fields("set-cookie: app=1", "server: theirs", "content-length: 4");
        filter().onResponse(new ResponseHead(200, null, response, 4), context);
        assertThat(response.toString().lines())
                .containsExactly(
                        "set-cookie: app=1",
                        "content-length: 4",
                        "Set-Cookie: s=1",
                        "Server: mine",
                        "Cache-Control: private");
    }

    @Test
    void whatIsOverwrittenIfItExistsLeavesNoNameThatLooksAlike() {
        RequestHead head = Heads.get("shop.test", "/", "x_role: admin", "x-other: 1");
        answer(
                ask(head),
                ok(new ProtoWriter()
                                .message(2, field("x-role", "guest", null, 3))
                                .message(2, field("x-missing", "1", null, 3)))
                        .framed());
        assertThat(head.fields().toString().lines()).contains("x-other: 1", "x-role: guest");
        assertThat(head.fields().toString()).doesNotContain("x_role", "missing");
    }

    @Test
    void aRefusalIsTheClients() {
        ByteBuf answer = denied(new ProtoWriter()
                        .message(1, status(401))
                        .message(2, field("www-authenticate", "Basic"))
                        .message(2, field("set-cookie", "a=1"))
                        .message(2, field("set-cookie", "b=2"))
                        .message(2, field("content-length", "999"))
                        .message(2, field("connection", "close"))
                        .text(3, "who are you?"))
                .framed();
        deliver(ask(Heads.get("shop.test", "/")), answer);
        assertThat(verdict()).isInstanceOfSatisfying(Verdict.Reply.class, reply -> {
            assertThat(reply.head().status()).isEqualTo(401);
            assertThat(reply.head().contentLength()).isEqualTo(12);
            assertThat(reply.head().fields().toString().lines())
                    .containsExactly(
                            "WWW-Authenticate: Basic",
                            "Set-Cookie: a=1",
                            "Set-Cookie: b=2",
                            "Content-Type: text/plain",
                            "Cache-Control: no-store");
            assertThat(reply.body().toString(StandardCharsets.UTF_8)).isEqualTo("who are you?");
            assertThat(answer.refCnt()).as("what is charged is the answer").isOne();
            reply.body().release();
            assertThat(answer.refCnt()).isZero();
            assertThat(reply.refusal()).isNotNull().extracting(Failure::cause).isEqualTo(Cause.AUTHZ_DENIED);
        });
        assertThat(tally.denied()).isEqualTo(1);
    }

    @Test
    void aRefusalWithoutAnAnswerIs403() {
        answer(
                ask(Heads.get("shop.test", "/")),
                new ProtoWriter().message(1, status(7)).framed());
        assertRefused(Cause.AUTHZ_DENIED, "answered PERMISSION_DENIED");
    }

    @Test
    void aStatusWithoutBodyHasNone() {
        answer(
                ask(Heads.get("shop.test", "/")),
                denied(new ProtoWriter().message(1, status(304)).text(3, "x")).framed());
        assertThat(verdict()).isInstanceOfSatisfying(Verdict.Reply.class, reply -> assertThat(
                        reply.body().isReadable())
                .isFalse());
    }

    /** Status, raw value, metadata and fields of later versions, as other encoders write them. */
    @Test
    void aConsentMayHaveWhatIsNotReadHere() {
        RequestHead head = Heads.get("shop.test", "/");
        ProtoWriter raw =
                new ProtoWriter().message(1, new ProtoWriter().text(1, "a").text(3, "raw"));
        answer(
                ask(head),
                new ProtoWriter()
                        .message(4, new ProtoWriter().text(1, "metadata"))
                        .message(3, new ProtoWriter().message(2, raw).message(3, new ProtoWriter().text(1, "old")))
                        .number(900, 5)
                        .framed());
        assertThat(head.fields().toString().lines()).containsExactly("a: raw");
    }

    private static List<ProtoWriter> unusable() {
        List<ProtoWriter> found = new ArrayList<>();
        found.add(new ProtoWriter());
        found.add(new ProtoWriter().message(5, new ProtoWriter()));
        found.add(ok(new ProtoWriter().message(2, field("host", "other.test"))));
        found.add(ok(new ProtoWriter().text(5, "via")));
        found.add(ok(new ProtoWriter().message(7, new ProtoWriter().text(1, "q"))));
        found.add(ok(new ProtoWriter().message(2, field(":path", "/other"))));
        found.add(ok(new ProtoWriter().message(2, field("a", "x\r\nb: y"))));
        found.add(ok(new ProtoWriter().message(2, field("a", "x", null, 9))));
        ProtoWriter many = new ProtoWriter();
        for (int i = 0; i <= CheckResponse.MOST_EDITS; i++) {
            many.message(2, field("a", "x"));
        }
        found.add(ok(many));
        return found;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | answered without a status",
                "1 | answered that it failed (error_response)",
                "2 | edits Host, which the gateway itself writes",
                "3 | edits Via, which the gateway itself writes",
                "4 | edits query parameters, which is not supported",
                "5 | answered with an invalid name of a header field",
                "6 | answered with a value that a header field cannot have",
                "7 | answered with an append_action that there is not: 9",
                "8 | answered with more than 100 header fields"
            })
    void aConsentThatCannotBeCarriedOutIsNone(int which, String detail) {
        RequestHead head = Heads.get("shop.test", "/");
        answer(ask(head), unusable().get(which).framed());
        assertRefused(Cause.AUTHZ_ERROR, detail);
        assertThat(head.fields().size()).isZero();
        assertThat(tally.failed()).isEqualTo(1);
    }

    /** The server has said no, so no policy for errors lets the request continue. */
    @Test
    void aRefusalThatCannotBeCarriedOutIsNoConsent() {
        allowOnError = true;
        answer(
                ask(Heads.get("shop.test", "/")),
                denied(new ProtoWriter().message(2, field("a b", "x"))).framed());
        assertRefused(Cause.AUTHZ_ERROR, "answered with an invalid name of a header field");
    }

    @ParameterizedTest
    @CsvSource({"101", "600", "99999999"})
    void aRefusalNeedsAStatusOfHttp(int status) {
        allowOnError = true;
        answer(
                ask(Heads.get("shop.test", "/")),
                denied(new ProtoWriter().message(1, status(status))).framed());
        assertRefused(Cause.AUTHZ_ERROR, "answered with the HTTP status " + status);
    }

    @Test
    void aServerThatSaysThatItFailedHasNotRefused() {
        allowOnError = true;
        answer(
                ask(Heads.get("shop.test", "/")),
                new ProtoWriter()
                        .message(1, status(13))
                        .message(5, new ProtoWriter().message(1, status(500)))
                        .framed());
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(tally.failed()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsNoMessageDecidesNothing(boolean allow) {
        allowOnError = allow;
        ByteBuf compressed = Unpooled.copiedBuffer(ok(new ProtoWriter()).framed());
        compressed.setByte(0, 1);
        answer(ask(Heads.get("shop.test", "/")), compressed);
        if (allow) {
            assertThat(verdict()).isEqualTo(Verdict.PROCEED);
        } else {
            assertRefused(Cause.AUTHZ_ERROR, "answered with a compressed message");
        }
    }

    @Test
    void aFailedCallDecidesNothing() {
        Fields head = Heads.fields("content-type: application/grpc", "grpc-status: 12");
        ask(Heads.get("shop.test", "/"))
                .callback
                .onAnswer(new UpstreamCall.Answer(
                        new ResponseHead(200, null, head, -1), Unpooled.EMPTY_BUFFER, true, null));
        assertRefused(
                Cause.AUTHZ_ERROR,
                "answered grpc-status 12 (UNIMPLEMENTED): it has no envoy.service.auth.v3.Authorization");
    }

    /** It may have been a refusal. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAnswerThatDoesNotComeWholeIsNoConsent(boolean tooLong) {
        allowOnError = true;
        FakeCall call = ask(Heads.get("shop.test", "/"));
        if (tooLong) {
            call.callback.onAnswer(new UpstreamCall.Answer(
                    new ResponseHead(200, null, new Fields(), -1), Unpooled.EMPTY_BUFFER, false, null));
            assertRefused(Cause.AUTHZ_ERROR, "answered with more than 1024 bytes");
        } else {
            call.callback.onFailure(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "gone"), 200);
            assertRefused(Cause.AUTHZ_ERROR, "answered 200, but not all of it came: upstream_reset_in_body: gone");
        }
    }

    @Test
    void withoutAnAnswerTheRequestContinuesIfThatIsWanted() {
        allowOnError = true;
        ask(Heads.get("shop.test", "/")).callback.onFailure(Failure.of(Cause.CONNECT_FAILED, "nobody"), 0);
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
    }

    /** As the types of Envoy for Go write it: {@code gateway-tests/authz} prints these bytes, and an end-to-end test compares. */
    @Test
    void bytesOfARealEncoderAreRead() {
        RequestHead head = Heads.get("shop.test", "/", "a: x");
        answer(
                ask(head),
                Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(
                        "0000000012" + "0a00" + "1a0e" + "120c" + "0a060a01611201621202" + "0801")));
        assertThat(head.fields().toString().lines()).containsExactly("a: x", "a: b");
    }
}
