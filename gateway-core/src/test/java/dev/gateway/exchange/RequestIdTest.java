package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.listener.ListenerConfig.RequestId.Format;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.RequestIdSettings;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Which id a request has. */
class RequestIdTest extends ExchangeRig {
    @Test
    void aRequestThatIsRefusedEarlyHasAnIdAllTheSame() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        handler().onRefused(client, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, 431, "too many fields"));
        assertThat(client.body.toString()).contains("\"requestId\":\"" + record().requestId + '"');
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void aRequestWithoutARouteHasAnIdAllTheSame() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        handler().onRequest(client, head("GET", "/nowhere"), true);
        assertAnswered(404, Cause.NO_ROUTE);
        assertThat(client.body.toString()).contains("\"requestId\":\"" + record().requestId + '"');
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void aRequestWithoutAnIdGetsOne() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        get();
        opener.last().succeed();
        AsciiString id = upstream().head().fields().first(FieldName.X_REQUEST_ID);
        assertThat(String.valueOf(id)).matches("[0-9a-f]{32}");
        opener.last().events.onHead(response(200), true);
        assertThat((CharSequence) record().requestId).isEqualTo(id);
    }

    /** Makes a request with an id, where ids of trusted proxies are accepted. */
    private RequestHead withId(String id) {
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        route();
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.X_REQUEST_ID, id);
        return head;
    }

    @Test
    void anIdThatCouldConfuseLogsIsReplaced() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        RequestHead head = withId("a\"b");
        StreamEvents events = handler().onRequest(client, head, true);
        events.onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void anIdThatATrustedProxySentIsKept() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        RequestHead head = withId("trace-1");
        handler().onRequest(client, head, true);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.NEVER));
        assertThat((CharSequence) record().requestId).hasToString("trace-1");
        assertThat(client.body.toString()).contains("\"requestId\":\"trace-1\"");
    }

    @Test
    void anIdThatAnybodyElseSentIsReplaced() {
        RequestHead head = withId("trace-1");
        handler().onRequest(client, head, true);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.NEVER));
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void anIdMayBeAUuid() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        settings.requestIds = new RequestIdSettings(FieldName.X_REQUEST_ID, Format.UUID);
        handler().onRequest(client, head("GET", "/nowhere"), true);
        String id = String.valueOf(record().requestId);
        UUID read = UUID.fromString(id);
        assertThat(read).hasToString(id);
        assertThat(read.version()).isEqualTo(4);
        assertThat(read.variant()).isEqualTo(2);
    }

    /** Makes a request with an ID in a field of the operator's choice, besides the usual one. */
    private RequestHead withCorrelation(String id) {
        FieldName header = FieldName.of("X-Correlation-Id");
        settings.requestIds = new RequestIdSettings(header, Format.HEX);
        RequestHead head = withId("other");
        head.fields().add(header, id);
        return head;
    }

    @Test
    void anIdOfATrustedProxyMayHaveAnotherField() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        handler().onRequest(client, withCorrelation("trace-1"), true).onReadComplete();
        opener.last().succeed();
        Fields sent = opener.last().stream.head().fields();
        assertThat(String.valueOf(sent.first(FieldName.of("X-Correlation-Id")))).isEqualTo("trace-1");
        opener.last().events.onHead(response(204), true);
        assertThat((CharSequence) record().requestId).hasToString("trace-1");
    }

    @Test
    void whatLooksLikeTheFieldOfTheOperatorsChoiceIsNotOfATrustedProxy() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        RequestHead head = withCorrelation("trace-1");
        head.fields().add(FieldName.of("X_Correlation_Id"), "forged");
        assertThat(forwarded(head).toString())
                .contains("X-Correlation-Id: trace-1")
                .doesNotContain("forged");
    }

    @Test
    void anIdInAnotherFieldIsReplacedIfAnybodyElseSentIt() {
        handler().onRequest(client, withCorrelation("trace-1"), true).onReadComplete();
        opener.last().succeed();
        Fields sent = opener.last().stream.head().fields();
        AsciiString id = sent.first(FieldName.of("X-Correlation-Id"));
        assertThat(String.valueOf(id)).matches("[0-9a-f]{32}");
        assertThat(sent.toString()).doesNotContain("trace-1");
        opener.last().events.onHead(response(204), true);
        assertThat((CharSequence) record().requestId).isEqualTo(id);
    }

    /** Sends a request, and returns what its upstream gets. */
    private Fields forwarded(RequestHead head) {
        handler().onRequest(client, head, true).onReadComplete();
        opener.last().succeed();
        Fields sent = opener.last().stream.head().fields();
        opener.last().events.onHead(response(204), true);
        return sent;
    }

    @Test
    void theUsualFieldIsNotForwardedEitherIfAnybodyElseSentIt() {
        assertThat(forwarded(withCorrelation("trace-1")).contains(FieldName.X_REQUEST_ID))
                .isFalse();
    }

    @Test
    void aNameThatSomeServersTakeForThatOfTheIdIsNotForwarded() {
        settings.trust = new ClientTrust(ClientTrust.NOBODY.proxies(), false, HeadersWithUnderscores.ALLOW);
        RequestHead head = withCorrelation("trace-1");
        head.fields().add(FieldName.of("X_Correlation_Id"), "trace-2");
        head.fields().add(FieldName.of("X_Other_Id"), "3");
        assertThat(forwarded(head).toString()).contains("X_Other_Id: 3").doesNotContain("trace-");
    }

    @Test
    void noTrailerLooksLikeTheId() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        StreamEvents events = handler().onRequest(client, withCorrelation("trace-1"), false);
        opener.last().succeed();
        Fields trailers = new Fields();
        for (String name : List.of("X-Correlation-Id", "X_Correlation_Id", "X-Request-Id", "X_Request_Id", "X-Sum")) {
            trailers.add(FieldName.of(name), "1");
        }
        events.onTrailers(trailers);
        assertThat(String.valueOf(upstream().trailers)).isEqualTo("X-Sum: 1\n");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void theUsualFieldOfATrustedProxyStays() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        assertThat(String.valueOf(forwarded(withCorrelation("trace-1")).first(FieldName.X_REQUEST_ID)))
                .isEqualTo("other");
    }

    @Test
    void anIdThatAnybodyElseSentSelectsNoRoute() {
        RequestHead head = withCorrelation("trace-1");
        Router all = settings.router;
        settings.router = asked -> asked.fields().contains(FieldName.X_REQUEST_ID)
                        && asked.fields().contains(FieldName.of("X-Correlation-Id"))
                ? all.match(asked)
                : null;
        handler().onRequest(client, head, true);
        assertAnswered(404, Cause.NO_ROUTE);
    }

    @Test
    void ofTwoRequestIdsNoneIsBelieved() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        RequestHead head = withId("good");
        head.fields().add(FieldName.X_REQUEST_ID, "\"bad\"");
        handler().onRequest(client, head, true).onReadComplete();
        opener.last().succeed();
        Fields sent = opener.last().stream.head().fields();
        assertThat(sent.toString()).doesNotContain("\"bad\"", "good");
        assertThat(sent.contains(FieldName.X_REQUEST_ID)).isTrue();
        opener.last().events.onHead(response(204), true);
    }
}
