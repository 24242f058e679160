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
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import dev.gateway.testing.Buffers;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server is asked about requests, and what becomes of its answers. */
class ExternalAuthTest {
    private static final Upstream SERVER = new Upstream(
            "auth",
            List.of(),
            NamedByRequest.POLICY,
            UpstreamValues.builder()
                    .maxConnections(1)
                    .maxPendingRequests(1)
                    .maxRequests(1)
                    .build());

    private static final List<FieldName> SENT = List.of(FieldName.AUTHORIZATION, FieldName.COOKIE);

    private final FakeContext context = FakeContext.from("192.0.2.1");
    private final AuthTally tally = new AuthTally();

    private ExternalAuth filter(AuthQuestion question, boolean allowOnError) {
        AuthAnswerFields fields = new AuthAnswerFields(
                List.of(FieldName.of("Remote-Email"), FieldName.AUTHORIZATION),
                List.of(FieldName.SET_COOKIE, FieldName.of("X-Level")),
                FieldName.of("Remote-User"));
        return ExternalAuth.byHttp(SERVER, question, fields, new AuthPolicy(5000, 1024, allowOnError), tally);
    }

    private ExternalAuth filter() {
        return filter(AuthQuestion.atPath("/auth?x=1", Method.GET, SENT), false);
    }

    private FakeCall ask(ExternalAuth filter, RequestHead head) {
        assertThat(filter.onRequest(head, context)).isInstanceOf(Verdict.Wait.class);
        assertThat(context.calls).hasSize(1);
        return context.calls.get(0);
    }

    private static void answer(FakeCall call, int status, ByteBuf body, String... fields) {
        ResponseHead head = new ResponseHead(status, null, Heads.fields(fields), body.readableBytes());
        call.callback.onAnswer(new UpstreamCall.Answer(head, body, true, null));
    }

    private static void answer(FakeCall call, int status, String... fields) {
        answer(call, status, Unpooled.EMPTY_BUFFER, fields);
    }

    private static List<String> all(Fields fields, String name) {
        FieldName wanted = FieldName.of(name);
        List<String> found = new ArrayList<>();
        for (int i = fields.find(wanted, 0); i >= 0; i = fields.find(wanted, i + 1)) {
            found.add(fields.value(i).toString());
        }
        return found;
    }

    private Verdict verdict() {
        assertThat(context.resumed).hasSize(1);
        return context.resumed.get(0);
    }

    @Test
    void theQuestionHasWhatTheClientShowsAndWhatTheGatewayKnows() {
        RequestHead head = Heads.request(
                "POST",
                "shop.test:8443",
                "/a?b=c",
                "authorization: Bearer t",
                "cookie: a=1",
                "cookie: b=2",
                "accept: x/y",
                "content-length: 5",
                "via: 1.1 here",
                "x-request-id: r-1",
                "traceparent: t-1",
                "x-b3-traceid: z-1",
                "x-forwarded-for: 198.51.100.9",
                "x-forwarded-proto: http",
                "x-forwarded-host: other.test",
                "x-forwarded-uri: /public",
                "x-forwarded-method: GET");
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        context.target = ClientTarget.of(Scheme.HTTPS, head.authority());
        FakeCall call = ask(filter(), head);
        assertThat(call.upstream).isSameAs(SERVER);
        assertThat(call.request.timeoutMillis()).isEqualTo(5000);
        assertThat(call.request.maxBodyBytes()).isEqualTo(1024);
        assertThat(call.request.body().isReadable()).isFalse();
        RequestHead question = call.request.head();
        assertThat(question.method()).isEqualTo(Method.GET);
        assertThat((CharSequence) question.path()).hasToString("/auth?x=1");
        assertThat((CharSequence) question.authority()).as("the endpoint's own").hasToString("");
        assertThat(question.fields().toString().lines().sorted())
                .containsExactly(
                        "Authorization: Bearer t",
                        "Cookie: a=1",
                        "Cookie: b=2",
                        "Via: 1.1 here",
                        "X-B3-TraceId: z-1",
                        "X-Forwarded-For: 192.0.2.1",
                        "X-Forwarded-Host: shop.test:8443",
                        "X-Forwarded-Method: POST",
                        "X-Forwarded-Proto: https",
                        "X-Forwarded-Uri: /a?b=c",
                        "X-Request-Id: r-1",
                        "traceparent: t-1");
    }

    @Test
    void theQuestionHasTheRequestIdInItsUsualFieldWhateverTheListenerCallsIt() {
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        RequestHead head = Heads.request("GET", "shop.test", "/", "x-correlation-id: r-1");
        assertThat(all(ask(filter(), head).request.head().fields(), "x-request-id"))
                .containsExactly("r-1");
    }

    @Test
    void theQuestionHasNoOtherRequestIdThanThatOfTheGateway() {
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        List<FieldName> sent = List.of(FieldName.X_REQUEST_ID);
        RequestHead head = Heads.request("GET", "shop.test", "/", "x-request-id: other", "x-correlation-id: r-1");
        FakeCall call = ask(filter(AuthQuestion.atPath("/auth", Method.GET, sent), false), head);
        assertThat(all(call.request.head().fields(), "x-request-id")).containsExactly("r-1");
    }

    @Test
    void belowAPrefixTheQuestionIsTheRequestItself() {
        RequestHead head = Heads.request("PUT", "shop.test", "/a?b=c");
        RequestHead question = ask(filter(AuthQuestion.below("/check/", null, SENT), false), head)
                .request
                .head();
        assertThat(question.method()).hasToString("PUT");
        assertThat((CharSequence) question.authority()).hasToString("shop.test");
        assertThat((CharSequence) question.path()).hasToString("/check/a?b=c");
        assertThat(all(question.fields(), "x-forwarded-proto")).containsExactly("http");
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", ""})
    void whatIsNoPathIsAskedAboutAsTheWholeSite(String path) {
        RequestHead head = Heads.request("OPTIONS", "shop.test", path);
        RequestHead question = ask(filter(AuthQuestion.below("/check", Method.GET, SENT), false), head)
                .request
                .head();
        assertThat(question.method()).isEqualTo(Method.GET);
        assertThat((CharSequence) question.path()).hasToString("/check/");
    }

    /** Routes take it for the GET that it was. */
    @Test
    void aWebSocketIsAskedAboutAsAGet() {
        RequestHead head = Heads.request("GET", "shop.test", "/live");
        head.upgradeTo(new AsciiString("websocket"));
        RequestHead question = ask(filter(AuthQuestion.below("/check", null, SENT), false), head)
                .request
                .head();
        assertThat(question.method()).isEqualTo(Method.GET);
        assertThat((CharSequence) question.protocol()).isNull();
        assertThat(all(question.fields(), "x-forwarded-method")).containsExactly("GET");
    }

    @Test
    void consentGivesTheRequestFieldsThatNobodyElseCan() {
        RequestHead head = Heads.request(
                "GET",
                "shop.test",
                "/",
                "remote-email: forged",
                "Remote_Email: forged",
                "remote-user: forged",
                "authorization: Bearer client",
                "remote-name: stays");
        FakeCall call = ask(filter(), head);
        assertThat(all(call.request.head().fields(), "authorization")).containsExactly("Bearer client");
        assertThat(head.fields().toString().lines()).containsExactly("remote-name: stays");
        answer(
                call,
                200,
                "remote-user: ann",
                "remote-email: ann@example.com",
                "connection: remote-groups",
                "remote-groups: hop",
                "x-other: not wanted");
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(head.fields().toString().lines())
                .containsExactly("remote-name: stays", "Remote-Email: ann@example.com");
        assertThat(context.identity()).isEqualTo(new Identity("ann", Set.of()));
        assertThat(tally.allowed()).isEqualTo(1);
    }

    /** The server has decided by the field that it was shown; an upstream may take another one for it. */
    @Test
    void whatLooksLikeAFieldOfTheQuestionGoes() {
        AuthQuestion question = AuthQuestion.atPath("/auth", Method.GET, List.of(FieldName.of("X-Token")));
        RequestHead head = Heads.request("GET", "shop.test", "/", "x-token: good", "x_token: other", "x_other: stays");
        FakeCall call = ask(filter(question, false), head);
        assertThat(all(call.request.head().fields(), "x-token")).containsExactly("good");
        assertThat(head.fields().toString().lines()).containsExactly("x-token: good", "x_other: stays");
    }

    /** Some servers add trailers to the fields of the head. */
    @Test
    void trailersDoNotSayWhatOnlyTheServerMaySay() {
        answer(ask(filter(), Heads.get("shop.test", "/")), 200, "remote-user: ann");
        Fields trailers = Heads.fields("remote-email: forged", "Remote_User: forged", "x-checksum: stays");
        filter().onRequestTrailers(trailers, context);
        assertThat(trailers.toString().lines()).containsExactly("x-checksum: stays");
    }

    @Test
    void anIdentityIsTextOfUtf8AndNotEndless() {
        FakeCall call = ask(filter(), Heads.get("shop.test", "/"));
        Fields fields = new Fields();
        fields.add(FieldName.of("remote-user"), new AsciiString("J\u00f6rg".getBytes(StandardCharsets.UTF_8), false));
        call.callback.onAnswer(
                new UpstreamCall.Answer(new ResponseHead(200, null, fields, 0), Unpooled.EMPTY_BUFFER, true, null));
        assertThat(context.identity()).isEqualTo(new Identity("J\u00f6rg", Set.of()));

        assertNobody("a".repeat(257).getBytes(StandardCharsets.UTF_8));
    }

    /** Two users whose names are not UTF-8 would be one. */
    @ParameterizedTest
    @ValueSource(strings = {"m\u00fcller", "\u00c3", "\u00a0ann", " ann", "ann ", "a\u0000"})
    void anIdentityThatIsNoUtf8OrHasBlanksAtItsEndsIsNone(String name) {
        assertNobody(name.getBytes(StandardCharsets.ISO_8859_1));
    }

    private void assertNobody(byte[] name) {
        FakeContext other = FakeContext.from("192.0.2.2");
        filter().onRequest(Heads.get("shop.test", "/"), other);
        Fields fields = new Fields();
        fields.add(FieldName.of("remote-user"), new AsciiString(name, false));
        other.calls
                .get(0)
                .callback
                .onAnswer(new UpstreamCall.Answer(
                        new ResponseHead(200, null, fields, 0), Unpooled.EMPTY_BUFFER, true, null));
        assertThat(other.resumed).containsExactly(Verdict.PROCEED);
        assertThat(other.identity()).isNull();
    }

    @Test
    void consentGivesTheResponseFields() {
        FakeCall call = ask(filter(), Heads.get("shop.test", "/"));
        answer(call, 202, "set-cookie: s=1", "set-cookie: t=2", "x-level: 3");
        Fields response = Heads.fields("set-cookie: app=1", "x-level: of the upstream");
        filter().onResponse(new ResponseHead(200, null, response, 0), context);
        assertThat(all(response, "set-cookie")).containsExactly("app=1", "s=1", "t=2");
        assertThat(all(response, "cache-control"))
                .as("no shared cache may give the login to others")
                .containsExactly("private");
        assertThat(all(response, "x-level")).containsExactly("3");
        Fields failure = new Fields();
        filter().onFailure(failure, context);
        assertThat(all(failure, "set-cookie")).containsExactly("s=1", "t=2");
    }

    @Test
    void consentWithoutFieldsLeavesTheResponseAlone() {
        answer(ask(filter(), Heads.get("shop.test", "/")), 204);
        Fields response = Heads.fields("x-level: of the upstream");
        filter().onResponse(new ResponseHead(200, null, response, 0), context);
        assertThat(all(response, "x-level")).containsExactly("of the upstream");
        assertThat(context.identity()).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {302, 401, 403, 404, 429, 499})
    void anyOtherAnswerIsTheClients(int status) {
        ByteBuf body = Buffers.of("why");
        FakeCall call = ask(filter(), Heads.get("shop.test", "/"));
        answer(call, status, body, "location: /login", "connection: close", "transfer-encoding: chunked");
        assertThat(verdict()).isInstanceOfSatisfying(Verdict.Reply.class, reply -> {
            assertThat(reply.head().status()).isEqualTo(status);
            assertThat(reply.head().fields().toString().lines())
                    .containsExactly("location: /login", "Cache-Control: no-store");
            assertThat(reply.body()).isSameAs(body);
            Failure refusal = Objects.requireNonNull(reply.refusal());
            assertThat(refusal.cause()).isEqualTo(Cause.AUTHZ_DENIED);
            assertThat(refusal.detail()).isEqualTo("ExternalAuth: auth answered " + status);
            reply.body().release();
        });
        assertThat(tally.denied()).isEqualTo(1);
    }

    @Test
    void aRefusalKeepsWhatItSaysOfCaches() {
        answer(ask(filter(), Heads.get("shop.test", "/")), 403, "cache-control: max-age=5");
        assertThat(verdict()).isInstanceOfSatisfying(Verdict.Reply.class, reply -> assertThat(
                        all(reply.head().fields(), "cache-control"))
                .containsExactly("max-age=5"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefusalThatIsTooLongIsNoConsent(boolean allowOnError) {
        ResponseHead head = new ResponseHead(401, null, new Fields(), 9999);
        ask(filter(AuthQuestion.atPath("/auth", Method.GET, SENT), allowOnError), Heads.get("shop.test", "/"))
                .callback
                .onAnswer(new UpstreamCall.Answer(head, Unpooled.EMPTY_BUFFER, false, null));
        assertError("answered 401 with more than 1024 bytes of body");
    }

    @ParameterizedTest
    @ValueSource(ints = {302, 401, 499})
    void aRefusalThatBreaksOffIsNoConsent(int status) {
        ask(filter(AuthQuestion.atPath("/auth", Method.GET, SENT), true), Heads.get("shop.test", "/"))
                .callback
                .onFailure(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "gone"), status);
        assertError("answered " + status + ", but not all of it came: upstream_reset_in_body: gone");
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 500})
    void anyOtherAnswerThatBreaksOffIsNoDecision(int status) {
        ask(filter(AuthQuestion.atPath("/auth", Method.GET, SENT), true), Heads.get("shop.test", "/"))
                .callback
                .onFailure(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "gone"), status);
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(tally.failed()).isEqualTo(1);
    }

    private void assertError(String detail) {
        assertThat(verdict()).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_ERROR);
            assertThat(refuse.failure().status()).isEqualTo(503);
            assertThat(refuse.failure().detail()).isEqualTo("ExternalAuth: auth " + detail);
        });
        assertThat(tally.failed()).isEqualTo(1);
        assertThat(tally.denied()).isZero();
    }

    @Test
    void anErrorOfTheServerIsNoDecision() {
        ByteBuf body = Buffers.of("trace");
        answer(ask(filter(), Heads.get("shop.test", "/")), 500, body);
        assertError("answered 500");
        assertThat(body.refCnt()).isZero();
    }

    @Test
    void consentMayBeAsLongAsItLikes() {
        ResponseHead head = new ResponseHead(200, null, new Fields(), 9999);
        ask(filter(), Heads.get("shop.test", "/"))
                .callback
                .onAnswer(new UpstreamCall.Answer(head, Unpooled.EMPTY_BUFFER, false, null));
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
    }

    @Test
    void withoutAnAnswerTheRequestIsRefused() {
        ask(filter(), Heads.get("shop.test", "/"))
                .callback
                .onFailure(Failure.of(Cause.CONNECT_FAILED, "nobody there"), 0);
        assertError("did not answer: connect_failed: nobody there");
    }

    /** Else a client could make the gateway hold so much for it that its next requests pass. */
    @Test
    void forWantOfMemoryNoRequestContinues() {
        ask(filter(AuthQuestion.atPath("/auth", Method.GET, SENT), true), Heads.get("shop.test", "/"))
                .callback
                .onFailure(Failure.of(Cause.OVERLOAD, "no memory"), 0);
        assertError("did not answer: overload: no memory");
    }

    @Test
    void withoutAnAnswerTheRequestContinuesIfThatIsWanted() {
        RequestHead head = Heads.get("shop.test", "/", "remote-user: forged");
        ask(filter(AuthQuestion.atPath("/auth", Method.GET, SENT), true), head)
                .callback
                .onFailure(Failure.of(Cause.UPSTREAM_TIMEOUT, "late"), 0);
        assertThat(verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(all(head.fields(), "remote-user")).isEmpty();
        assertThat(context.identity()).isNull();
        assertThat(tally.failed()).isEqualTo(1);
    }

    @Test
    void itGivesTheCallUpWhenTheExchangeEnds() {
        Verdict verdict = filter().onRequest(Heads.get("shop.test", "/"), context);
        ((Verdict.Wait) verdict).cancel().run();
        assertThat(context.calls.get(0).cancelled).isTrue();
        assertThat(filter().guards()).isTrue();
    }
}
