package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.ViaSignature;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Requests that come back to the route that they took before. */
class RouteLoopTest extends ExchangeRig {
    private static RequestHead via(String... lines) {
        RequestHead head = head("GET", "/");
        for (String line : lines) {
            head.fields().add(FieldName.VIA, line);
        }
        return head;
    }

    @Test
    void aRequestThatComesBackIsRefused() {
        route();
        handler().onRequest(client, via("1.1 somebody, 2.0 " + settings.signature, "1.1 else"), true);
        assertAnswered(508, Cause.LOOP_DETECTED);
        assertThat(opener.openings).isEmpty();
        assertThat(record().route).isEqualTo("app");
    }

    /** Behind nginx, an application would send everything uncompressed. */
    @Test
    void anyOtherIsNotSigned() {
        route();
        handler().onRequest(client, via("1.1 gateway"), true);
        opener.last().succeed();
        assertThat(String.valueOf(upstream().head().fields().first(FieldName.VIA)))
                .isEqualTo("1.1 gateway");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void aRequestForAListenerOfTheGatewayIsSigned() {
        route();
        handler().onRequest(client, via("1.1 somebody"), true);
        opener.last().succeedHere();
        assertThat(String.valueOf(upstream().head().fields().first(FieldName.VIA)))
                .isEqualTo("1.1 somebody, 1.1 " + settings.signature);
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void anotherAttemptIsNotSignedTwice() {
        retry = new Route.Retry(1, Set.of(), 0);
        route();
        handler().onRequest(client, via(), true);
        opener.last().succeedHere();
        opener.last().events.onReset(Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS, "gone"));
        opener.last().succeedHere();
        assertThat(String.valueOf(upstream().head().fields().first(FieldName.VIA)))
                .isEqualTo("1.1 " + settings.signature);
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void whereTheListenerSaysSoAllAreSignedInOneLine() {
        settings.signsAll = true;
        route();
        handler().onRequest(client, via("1.1 gateway", "2.0 " + ViaSignature.random()), true);
        opener.last().succeed();
        assertThat(String.valueOf(upstream().head().fields().first(FieldName.VIA)))
                .matches("1\\.1 gateway, 2\\.0 gateway-[0-9a-f]{12}, 1\\.1 " + settings.signature);
        opener.last().events.onHead(response(204), true);
    }

    /** Where the request is only passed on, a route of ours that it took before is nothing to do with it. */
    @Test
    void requestsForOtherHostsAreTheConnectSectionsToJudge() {
        offerTunnels();
        RequestHead head = via("1.1 " + settings.signature);
        head.setAbsoluteForm(true);
        handler().onRequest(client, head, true);
        opener.last().succeed();
        opener.last().events.onHead(response(204), true);
        assertThat(record().cause).isNull();
    }
}
