package dev.gateway.exchange.reply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class LocalReplyTest {
    private long wallMillis = 784_111_777_999L;

    private final LocalReply replies = new LocalReply(new DateField(() -> wallMillis));

    private FakeServerStream refuse(Failure failure) {
        FakeServerStream client = new FakeServerStream();
        LocalReply.About about = new LocalReply.About(null, null, new Fields(), ErrorBody.UNCHANGED);
        replies.send(client, null, failure, new Settings(), about);
        return client;
    }

    @Test
    void everyFailureSaysWhenItWasAnsweredAndThatNobodyKeepsIt() {
        for (Cause cause : Cause.values()) {
            if (cause != Cause.UNKNOWN) {
                FakeServerStream client = refuse(Failure.of(cause, 503, "test"));
                assertThat(client.field("Date")).as(cause.label()).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
                assertThat(client.field("Cache-Control")).as(cause.label()).isEqualTo("no-store");
            }
        }
    }

    /** Many programs show nothing else of it. */
    @Test
    void aRefusedTunnelHasItsCauseInTheReason() {
        FakeServerStream client = new FakeServerStream();
        LocalReply.About about = new LocalReply.About(null, null, new Fields(), ErrorBody.UNCHANGED);
        Failure failure = Failure.of(Cause.POLICY_HOST, "test");
        replies.send(client, Heads.request("CONNECT", "shop.example.com", ""), failure, new Settings(), about);
        assertThat((CharSequence) client.heads.get(0).reason()).hasToString("Forbidden by gateway: policy_host");
        assertThat(client.body.toString()).contains(",\"detail\":\"Forbidden by gateway: policy_host\",");
        assertThat((CharSequence) refuse(failure).heads.get(0).reason()).isNull();
    }

    /** apt, for one, uses http:// URLs, and shows the status line alone. */
    @Test
    void aRefusedRequestToADestinationOfTheClientHasItsCauseInTheReason() {
        FakeServerStream client = new FakeServerStream();
        LocalReply.About about =
                new LocalReply.About(null, new AsciiString("b.test:80"), new Fields(), ErrorBody.UNCHANGED);
        replies.send(
                client,
                Heads.request("GET", "shop.example.com", "/"),
                Failure.of(Cause.POLICY_PORT, "test"),
                new Settings(),
                about);
        assertThat((CharSequence) client.heads.get(0).reason()).hasToString("Forbidden by gateway: policy_port");
    }

    @Test
    void adviceIsInTheReasonAndInTheBody() {
        FakeServerStream client = new FakeServerStream();
        LocalReply.About about = new LocalReply.About(null, null, new Fields(), ErrorBody.UNCHANGED);
        RequestHead head = Heads.request("GET", "shop.example.com", "/");
        head.fields().add(FieldName.ACCEPT, "text/html");
        Failure failure = Failure.of(Cause.NO_ROUTE, "test").advising("use CONNECT");
        replies.send(client, head, failure, new Settings(), about);
        assertThat((CharSequence) client.heads.get(0).reason()).hasToString("Not Found: use CONNECT");
        assertThat(client.body.toString()).isEqualTo("404 Not Found\nno_route\nuse CONNECT\n");
    }

    @Test
    void theDateGoesOnWithTheClock() {
        Failure failure = Failure.of(Cause.NO_ROUTE, "test");
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
        wallMillis++;
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        wallMillis += 999;
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        wallMillis -= 60_000; // somebody has set the clock back
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:48:38 GMT");
    }

    @Test
    void aDateThatAFilterHasSetStays() {
        FakeServerStream client = new FakeServerStream();
        Fields fields = new Fields();
        fields.add(FieldName.DATE, "Thu, 01 Jan 1970 00:00:00 GMT");
        Verdict.Reply reply = new Verdict.Reply(new ResponseHead(200, null, fields, 0), Unpooled.EMPTY_BUFFER);
        replies.send(client, Heads.request("GET", "shop.example.com", "/"), reply, new Settings());
        assertThat(client.field("Date")).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
    }

    @Test
    void aReplyThatRefusesNamesTheCause() {
        FakeServerStream client = new FakeServerStream();
        Verdict.Reply reply = new Verdict.Reply(
                new ResponseHead(302, null, new Fields(), 0),
                Unpooled.EMPTY_BUFFER,
                Failure.of(Cause.AUTHZ_DENIED, "not for the client"));
        replies.send(client, Heads.request("GET", "shop.example.com", "/"), reply, new Settings());
        assertThat(client.status()).isEqualTo(302);
        assertThat(client.field("Proxy-Status"))
                .isEqualTo("gateway;error=http_request_denied;details=\"authz_denied\"");
    }

    @Test
    void anAnswerThatMayHaveNoBodyAnnouncesNone() {
        for (int status : new int[] {204, 304}) {
            FakeServerStream client = new FakeServerStream();
            Verdict.Reply reply =
                    new Verdict.Reply(new ResponseHead(status, null, new Fields(), 0), Buffers.of("never sent"));
            replies.send(client, Heads.request("GET", "shop.example.com", "/"), reply, new Settings());
            assertThat(client.field("Content-Length")).isNull();
            assertThat(client.body).isEmpty();
            assertThat(client.ended).isTrue();
        }
    }

    /** Its client takes nothing, and memory is short: the status is what it needs most. */
    @Test
    void aRefusalWithoutRoomLeavesWithoutItsBody() {
        FakeServerStream client = new FakeServerStream();
        client.roomForReplies = false;
        LocalReply.About about = new LocalReply.About(null, null, new Fields(), ErrorBody.UNCHANGED);
        int sent = replies.send(
                client,
                Heads.request("GET", "shop.example.com", "/"),
                Failure.of(Cause.AUTHZ_DENIED, "test"),
                new Settings(),
                about);
        assertThat(sent).isZero();
        assertThat(client.status()).isEqualTo(403);
        assertThat(client.field("Content-Length")).isEqualTo("0");
        assertThat(client.body).isEmpty();
        assertThat(client.ended).isTrue();
    }

    @Test
    void theBodyOfAReplyWithoutRoomIsReleased() {
        FakeServerStream client = new FakeServerStream();
        client.roomForReplies = false;
        ByteBuf body = Buffers.of("never sent");
        Verdict.Reply reply = new Verdict.Reply(new ResponseHead(403, null, new Fields(), 10), body);
        replies.send(client, Heads.request("GET", "shop.example.com", "/"), reply, new Settings());
        assertThat(body.refCnt()).isZero();
        assertThat(client.field("Content-Length")).isEqualTo("0");
        assertThat(client.ended).isTrue();
    }

    @Test
    void datesAreWrittenAsHttpWantsThem() {
        assertThat(DateField.text(784_111_777).toString())
                .isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT"); // the RFC's example
        DateTimeFormatter expected = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
        for (int day = 0; day < 366; day++) {
            long second = TimeUnit.DAYS.toSeconds(day) + day;
            assertThat(DateField.text(second).toString())
                    .isEqualTo(expected.format(Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "NO_ROUTE, 404, destination_not_found",
        "NO_HEALTHY_ENDPOINT, 503, destination_unavailable",
        "DNS_FAILED, 502, dns_error",
        "CONNECT_FAILED, 502, connection_refused",
        "CONNECT_TIMEOUT, 504, connection_timeout",
        "TLS_FAILED, 502, tls_protocol_error",
        "PENDING_OVERFLOW, 503, connection_limit_reached",
        "UPSTREAM_RESET_BEFORE_HEADERS, 502, connection_terminated",
        "UPSTREAM_RESET_IN_BODY, 502, http_response_incomplete",
        "UPSTREAM_PROTOCOL_ERROR, 502, http_protocol_error",
        "UPSTREAM_TIMEOUT, 504, http_response_timeout",
        "IDLE_TIMEOUT, 504, connection_read_timeout",
        "CLIENT_TIMEOUT, 408, http_request_error",
        "RATE_LIMITED, 429, http_request_denied",
        "AUTHZ_ERROR, 503, proxy_internal_error",
        "FILTER_ERROR, 500, proxy_internal_error",
        "POLICY_ADDRESS, 403, destination_ip_prohibited",
        "LOOP_DETECTED, 508, proxy_loop_detected",
        "OVERLOAD, 503, proxy_internal_response",
    })
    void proxyStatusNamesTheErrorAsTheRfcDoes(Cause cause, int status, String error) {
        FakeServerStream client = refuse(Failure.of(cause, "not for the client"));
        assertThat(client.status()).isEqualTo(status);
        assertThat(client.field("Proxy-Status"))
                .isEqualTo("gateway;error=" + error + ";details=\"" + cause.label() + '"');
        assertThat(client.body.toString()).doesNotContain("not for the client");
    }

    @ParameterizedTest
    @CsvSource({
        "400, Bad Request",
        "407, Proxy Authentication Required",
        "431, Request Header Fields Too Large",
        "499, Client Error",
        "500, Internal Server Error",
        "504, Gateway Timeout",
        "599, Server Error",
    })
    void theProblemIsWhatTheRfcHas(int status, String title) {
        FakeServerStream client = refuse(Failure.of(Cause.AUTHZ_DENIED, status, "test"));
        assertThat(client.body)
                .hasToString("{\"type\":\"about:blank\",\"title\":\"" + title + "\",\"status\":" + status
                        + ",\"cause\":\"authz_denied\"}\n");
        assertThat(client.field("Content-Type")).isEqualTo("application/problem+json");
        assertThat(client.field("Content-Length")).isEqualTo(Integer.toString(client.body.length()));
    }

    @ParameterizedTest
    @CsvSource({
        "RATE_LIMITED, 429, 60",
        "PENDING_OVERFLOW, 503, 1",
        "OVERLOAD, 429, 1",
        "CONNECT_FAILED, 502,",
        "CONNECT_TIMEOUT, 504,",
        "PROXY_AUTH, 407,",
    })
    void whoMayComeBackIsToldWhen(Cause cause, int status, @Nullable String seconds) {
        assertThat(refuse(Failure.of(cause, status, "test")).field("Retry-After"))
                .isEqualTo(seconds);
    }

    @ParameterizedTest
    @CsvSource({"405, true", "404, false", "501, false"})
    void whatIsAllowedIsToldToWhoeverAskedForSomethingElse(int status, boolean told) {
        FakeServerStream client = refuse(Failure.of(Cause.NO_ROUTE, status, "test"));
        assertThat(client.field("Allow")).isEqualTo(told ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : null);
    }

    private String bodyFor(String... accepted) {
        FakeServerStream client = new FakeServerStream();
        RequestHead head = Heads.request("GET", "shop.example.com", "/");
        for (String accept : accepted) {
            head.fields().add(FieldName.ACCEPT, accept);
        }
        LocalReply.About about = new LocalReply.About(null, null, new Fields(), ErrorBody.UNCHANGED);
        int sent = replies.send(client, head, Failure.of(Cause.NO_ROUTE, "test"), new Settings(), about);
        assertThat(sent).isEqualTo(client.body.length());
        assertThat(client.field("Content-Type"))
                .isEqualTo(client.body.charAt(0) == '{' ? "application/problem+json" : "text/plain; charset=utf-8");
        return client.body.toString();
    }

    @Test
    void textIsForWhoeverPrefersIt() {
        String text = "404 Not Found\nno_route\n";
        assertThat(bodyFor("text/")).isEqualTo(text);
        assertThat(bodyFor("image/png, TEXT/*")).isEqualTo(text);
        assertThat(bodyFor("image/png", "text/plain")).isEqualTo(text);
        assertThat(bodyFor("text/plain", "image/png")).isEqualTo(text);
        assertThat(bodyFor()).startsWith("{");
        assertThat(bodyFor("*/*")).startsWith("{");
        assertThat(bodyFor("text")).startsWith("{");
        assertThat(bodyFor("text/html", "application/JSON")).startsWith("{");
        assertThat(bodyFor("application/problem+json, text/html")).startsWith("{");
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void theDestinationIsNamedWhereTheFailureIsAboutIt(Cause cause) {
        FakeServerStream client = new FakeServerStream();
        LocalReply.About about =
                new LocalReply.About(null, new AsciiString("b.test:443"), new Fields(), ErrorBody.UNCHANGED);
        replies.send(client, null, Failure.of(cause, 502, "test"), new Settings(), about);
        boolean named = Set.of(
                        Cause.DNS_FAILED,
                        Cause.CONNECT_FAILED,
                        Cause.CONNECT_TIMEOUT,
                        Cause.TLS_FAILED,
                        Cause.POLICY_PORT,
                        Cause.POLICY_HOST,
                        Cause.POLICY_ADDRESS)
                .contains(cause);
        assertThat(String.valueOf(client.field("Proxy-Status")).contains(";next-hop=\"b.test:443\""))
                .isEqualTo(named);
    }

    @Test
    void fieldsOfTheFailureAreAdded() {
        for (HttpVersion version : HttpVersion.values()) {
            FakeServerStream client = new FakeServerStream();
            client.version = version;
            RequestHead head = Heads.request("POST", "shop.example.com", "/demo.Echo/Say");
            head.fields().add(FieldName.CONTENT_TYPE, "application/grpc");
            Fields fields = new Fields();
            fields.add(FieldName.PROXY_AUTHENTICATE, "Basic");
            fields.add(FieldName.PROXY_AUTHENTICATE, "Digest");
            LocalReply.About about = new LocalReply.About(null, null, fields, ErrorBody.UNCHANGED);
            int sent = replies.send(client, head, Failure.of(Cause.PROXY_AUTH, "test"), new Settings(), about);
            assertThat(sent).isEqualTo(client.body.length());
            assertThat(client.heads.get(0).fields().toString())
                    .contains("Proxy-Authenticate: Basic\nProxy-Authenticate: Digest\n")
                    .contains("Date: Sun, 06 Nov 1994 08:49:37 GMT\n")
                    .contains("Proxy-Status: gateway;error=http_request_denied;details=\"proxy_auth\"\n");
            assertThat(client.flushes).isEqualTo(1);
            assertThat(client.ended).isTrue();
        }
    }

    @Test
    void aReplyToHeadIsFlushedAndItsBodyIsReleased() {
        FakeServerStream client = new FakeServerStream();
        ByteBuf body = Buffers.of("never sent");
        Verdict.Reply reply = new Verdict.Reply(new ResponseHead(200, null, new Fields(), 0), body);
        assertThat(replies.send(client, Heads.request("HEAD", "shop.example.com", "/"), reply, new Settings()))
                .isZero();
        assertThat(body.refCnt()).isZero();
        assertThat(client.field("Content-Length")).isEqualTo("10");
        assertThat(client.flushes).isEqualTo(1);
    }
}
