package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.exchange.body.DroppedBody;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that tell an error, whose body a filter or the listener chooses. */
class ErrorBodyTest extends ExchangeRig {
    private final List<ErrorAnswer> asked = new ArrayList<>();

    private ErrorBody page(ErrorAnswer answer) {
        asked.add(answer);
        return new ErrorBody.Page(new AsciiString("text/html"), bytes("page of " + answer.status()));
    }

    private void choosePages() {
        filters.add(new Filter() {
            @Override
            public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
                return page(answer);
            }
        });
    }

    private void assertPage(int status) {
        assertThat(client.status()).isEqualTo(status);
        assertThat(client.body).hasToString("page of " + status);
        assertThat(client.field("Content-Type")).isEqualTo("text/html");
        assertThat(client.field("Content-Length")).isEqualTo(Integer.toString(client.body.length()));
        assertThat(client.field("Cache-Control")).isEqualTo("no-store");
        assertThat(client.ended).isTrue();
        assertThat(client.unflushed).isZero();
        assertThat(record().status).isEqualTo(status);
        assertThat(record().sentBytes).isEqualTo(client.body.length());
    }

    @Test
    void aFailureHasTheChosenBodyAndTellsItsCauseInFields() {
        choosePages();
        get();
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, "nobody listens"));
        assertPage(502);
        assertThat(client.field("Proxy-Status")).contains("connect_failed");
        assertThat(record().cause).isEqualTo(Cause.CONNECT_FAILED);
        assertThat(asked).singleElement().satisfies(answer -> {
            assertThat(answer.cause()).isEqualTo(Cause.CONNECT_FAILED);
            assertThat(answer.upstream()).isFalse();
        });
    }

    @Test
    void whatALaterFilterRefusesHasItToo() {
        choosePages();
        Fields challenge = new Fields();
        challenge.add(FieldName.WWW_AUTHENTICATE, "Basic realm=\"x\"");
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, 401, "who?"), challenge);
            }
        });
        get();
        assertPage(401);
        assertThat(client.field("WWW-Authenticate")).isEqualTo("Basic realm=\"x\"");
    }

    @Test
    void theAnswerToHeadHasTheLengthOnly() {
        choosePages();
        request("HEAD", "/", true);
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, "nobody listens"));
        assertThat(client.body).isEmpty();
        assertThat(client.field("Content-Length")).isEqualTo(Integer.toString("page of 502".length()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/grpc+proto", "application/grpc-web+proto"})
    void callsOfGrpcAreAnsweredAsBefore(String type) {
        for (HttpVersion version : List.of(HttpVersion.HTTP_1_1, HttpVersion.HTTP_2)) {
            client.version = version;
            client.heads.clear();
            client.ended = false;
            client.body.setLength(0);
            choosePages();
            route();
            RequestHead head = head("POST", "/service/Method");
            head.fields().add(FieldName.CONTENT_TYPE, type);
            handler().onRequest(client, head, true);
            opener.last().fail(Failure.of(Cause.CONNECT_FAILED, "nobody listens"));
            assertThat(client.body.toString()).doesNotContain("page");
        }
        assertThat(asked).isEmpty();
    }

    @Test
    void aFilterThatThrowsLeavesTheAnswerAsItIs() {
        filters.add(new Filter() {
            @Override
            public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
                throw new IllegalStateException("a defect");
            }
        });
        get();
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, "nobody listens"));
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(client.field("Content-Type")).isEqualTo("application/problem+json");
    }

    // ---- before and without filters

    @Test
    void whatHasNoRouteHasTheBodyThatItsListenerChooses() {
        settings.errorBody = this::page;
        handler().onRequest(client, head("GET", "/nowhere"), true);
        assertPage(404);
        assertThat(asked).hasSize(1);
    }

    @Test
    void aRequestThatCannotBeReadHasTheBodyThatItsListenerChooses() {
        settings.errorBody = this::page;
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        handler().onRefused(client, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "not HTTP"));
        assertPage(400);
        assertThat(asked).singleElement().satisfies(answer -> {
            assertThat(answer.request()).isNull();
            assertThatObject(answer.requestId()).isNotNull().isEqualTo(record().requestId);
        });
    }

    @Test
    void theBodyOfAFilterComesBeforeThatOfTheListener() {
        settings.errorBody = answer -> ErrorBody.PLAIN;
        choosePages();
        get();
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, "nobody listens"));
        assertPage(502);
    }

    // ---- filters that answer

    private void reply(ResponseHead head, String body) {
        choosePages();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead request, FilterContext context) {
                return new Verdict.Reply(head, bytes(body));
            }
        });
        get();
    }

    @Test
    void anErrorOfAFilterWithoutABodyHasTheChosenOne() {
        reply(response(503), "");
        assertPage(503);
        assertThat(asked.get(0).cause()).isNull();
        assertThat(asked.get(0).upstream()).isFalse();
    }

    @Test
    void aFilterThatRefusesByAnAnswerWithoutABodyHasTheChosenOneAndTheCause() {
        choosePages();
        Failure refusal = Failure.of(Cause.AUTHZ_DENIED, 401, "no token");
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead request, FilterContext context) {
                return new Verdict.Reply(response(401), bytes(""), refusal);
            }
        });
        get();
        assertPage(401);
        assertThat(asked.get(0).cause()).isEqualTo(Cause.AUTHZ_DENIED);
        assertThat(client.field("Proxy-Status"))
                .isEqualTo("gateway;error=http_request_denied;details=\"authz_denied\"");
        assertThat(record().cause).isEqualTo(Cause.AUTHZ_DENIED);
    }

    @Test
    void aFilterThatSaysSomethingIsNotAsked() {
        reply(response(503), "we are moving");
        assertThat(client.body).hasToString("we are moving");
        assertThat(asked).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 301, 304})
    void whatIsNoErrorIsNotAsked(int status) {
        reply(response(status), "");
        assertThat(asked).isEmpty();
    }

    // ---- errors of upstreams

    private ResponseHead failing(int status) {
        ResponseHead head = response(status);
        Fields fields = head.fields();
        fields.add(FieldName.CONTENT_TYPE, "application/json");
        fields.add(FieldName.CONTENT_ENCODING, "gzip");
        fields.add(FieldName.ETAG, "\"x\"");
        fields.add(FieldName.CACHE_CONTROL, "max-age=60");
        fields.add(FieldName.SET_COOKIE, "a=b");
        fields.add(FieldName.RETRY_AFTER, "7");
        return head;
    }

    @Test
    void anErrorOfAnUpstreamHasTheChosenBodyAndKeepsTheFieldsThatAreNotOfTheBody() {
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        assertPage(500);
        assertThat(client.field("Set-Cookie")).isEqualTo("a=b");
        assertThat(client.field("Retry-After")).isEqualTo("7");
        assertThat(client.field("Content-Encoding")).isNull();
        assertThat(client.field("ETag")).isNull();
        assertThat(record().cause).isNull();
        assertThat(asked.get(0).upstream()).isTrue();

        opener.last().events.onData(bytes("secret"), false);
        opener.last().events.onReadComplete();
        opener.last().events.onData(bytes(" stack trace"), true);
        assertThat(upstream().consumed).isEqualTo("secret stack trace".length());
        assertThat(upstream().reset).as("its connection is kept").isNull();
        assertThat(records.attempts).containsExactly("500");
    }

    /** A client that has all of a file already sees it from {@code Content-Range}. */
    @Test
    void aRangeThatCannotBeSatisfiedKeepsTheLengthOfTheResource() {
        choosePages();
        get();
        opener.last().succeed();
        ResponseHead head = failing(416);
        head.fields().add(FieldName.CONTENT_RANGE, "bytes */47");
        head.fields().add(FieldName.of("Accept-Ranges"), "bytes");
        opener.last().events.onHead(head, true);
        assertPage(416);
        assertThat(client.field("Content-Range")).isEqualTo("bytes */47");
        assertThat(client.field("Accept-Ranges")).isEqualTo("bytes");
        assertThat(client.field("ETag")).isNull();
    }

    @Test
    void anErrorOfAnUpstreamWithoutABodyHasTheChosenOne() {
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), true);
        assertPage(500);
        assertThat(upstream().reset).isNull();
    }

    @Test
    void aLongBodyIsNotWaitedFor() {
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        assertPage(500);
        String kibibyte = "x".repeat(1024);
        int sent = 0;
        while (upstream().reset == null) {
            opener.last().events.onData(bytes(kibibyte), false);
            sent += kibibyte.length();
            assertThat(sent).isLessThanOrEqualTo(2 * DroppedBody.MOST_BYTES);
        }
        assertThat(upstream().consumed).isEqualTo(DroppedBody.MOST_BYTES);
        opener.last().events.onData(bytes("late"), true);
    }

    @Test
    void aSlowBodyIsNotWaitedFor() {
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        opener.last().events.onData(bytes("x"), false);
        pass(DroppedBody.MOST_MILLIS / 2);
        assertThat(upstream().reset).isNull();
        pass(DroppedBody.MOST_MILLIS);
        assertThat(upstream().reset).isNotNull();
        opener.last().events.onData(bytes("late"), true);
    }

    @Test
    void trailersAndResetsEndTheWaitForABody() {
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        opener.last().events.onTrailers(new Fields());
        assertThat(client.trailers).isNull();
        pass(2 * DroppedBody.MOST_MILLIS);
        assertThat(upstream().reset).isNull();
    }

    @Test
    void anUpstreamThatBreaksOffAfterTheAnswerChangesNothing() {
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        opener.last().events.onReset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "closed"));
        pass(2 * DroppedBody.MOST_MILLIS);
        assertPage(500);
        assertThat(upstream().reset).isNull();
        assertThat(record().cause).isNull();
    }

    @Test
    void anUpstreamThatStillGetsTheRequestGetsNoMoreOfIt() {
        choosePages();
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("some"), false);
        opener.last().events.onHead(failing(413), false);
        assertPage(413);
        assertThat(upstream().reset).isNotNull();
        opener.last().events.onData(bytes("late"), true);
    }

    @Test
    void anAnswerInPlaceOfAnUpstreamsThatCannotBeSentEndsTheExchange() {
        choosePages();
        get();
        opener.last().succeed();
        client.onNextCall = () -> {
            throw new IllegalStateException("a defect");
        };
        opener.last().events.onHead(failing(500), false);
        opener.last().events.onData(bytes("rest"), true);
        assertThat(client.reset).isNotNull();
        assertThat(record().status).isEqualTo(500);
    }

    @Test
    void thePlainWordsOfTheGatewayTakeThePlaceOfAnUpstreamsBody() {
        settings.errorBody = answer -> ErrorBody.PLAIN;
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        opener.last().events.onData(bytes("secret"), true);
        assertThat(client.body)
                .hasToString("{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500}\n");
    }

    @Test
    void aStatusThatIsTriedAgainIsNotReplaced() {
        retry = new Route.Retry(1, Set.of(503), 0);
        choosePages();
        get();
        opener.last().succeed();
        opener.last().events.onHead(failing(503), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(asked).isEmpty();
    }

    @Test
    void whatAProxiedDestinationAnswersIsNotReplaced() {
        settings.errorBody = this::page;
        offerTunnels();
        RequestHead head = head("GET", "elsewhere.test", "/");
        head.setAbsoluteForm(true);
        handler().onRequest(client, head, true);
        opener.last().succeed();
        opener.last().events.onHead(failing(500), false);
        opener.last().events.onData(bytes("theirs"), true);
        assertThat(client.body).hasToString("theirs");
        assertThat(asked).isEmpty();
    }
}
