package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.upstream.SessionPersistenceConfig.SameSite;
import dev.gateway.exchange.route.HedgeDelay;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.SessionResult;
import dev.gateway.stream.Cause;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gateway sends a client with a session to its endpoint. If it selects another endpoint, it sends a new cookie. */
class StickySessionTest extends ExchangeRig {
    private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final String KEY = "0123456789abcdef0123456789abcdef";
    private static final Route.Hedging HEDGING = new Route.Hedging(HedgeDelay.fixed(100), 100, Set.of(Method.GET));

    private List<String> keys = List.of(KEY);
    private final SessionPersistence sessions =
            new SessionPersistence("app", "sid", () -> keys, 60, SameSite.LAX, () -> 1000);
    private @Nullable Upstream sticky;

    @BeforeEach
    void chooseTheFirst() {
        retry = new Route.Retry(1, Set.of(503), 0);
        health = new Health(
                endpoints,
                hosts -> request -> {
                    Endpoint other = FIRST.equals(request.previous()) ? SECOND : FIRST;
                    return hosts.isEmpty()
                            ? null
                            : hosts.size() == 1 ? hosts.get(0).endpoint() : other;
                },
                outliers,
                null,
                () -> now);
        sticky = new Upstream("app", health, policy()).persist(sessions);
    }

    private void ask(@Nullable String cookie) {
        settings.route(filters, Objects.requireNonNull(sticky), timeouts, retry);
        RequestHead head = head("GET", "/");
        if (cookie != null) {
            head.fields().add(FieldName.COOKIE, new AsciiString(cookie));
        }
        handler().onRequest(client, head, true).onReadComplete();
    }

    private String cookieOf(Endpoint endpoint) {
        return sessions.begin(endpoint, false).toString().replaceAll(";.*", "");
    }

    private void answer(int status) {
        opener.last().succeed();
        opener.last().events.onHead(response(status), true);
    }

    @Test
    void theFirstAnswerBeginsASession() {
        ask(null);
        answer(200);
        assertThat(client.field("Set-Cookie"))
                .isEqualTo(sessions.begin(FIRST, false).toString());
        assertThat(records.sessions).containsExactly(SessionResult.BEGUN);
    }

    @Test
    void aSessionLeadsToItsEndpointWhichSeesNothingOfIt() {
        ask("a=b; " + cookieOf(SECOND) + "; c=d");
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        assertThat((Object) upstream().head().fields().first(FieldName.COOKIE)).hasToString("a=b; c=d");
        opener.last().events.onHead(response(200), true);
        assertThat(client.field("Set-Cookie")).as("nothing new").isNull();
        assertThat(records.sessions).containsExactly(SessionResult.KEPT);
    }

    @Test
    void aSessionMovesWhenItsEndpointMayNotBeChosen() {
        String cookie = cookieOf(SECOND);
        Objects.requireNonNull(health).drain(SECOND.toString(), true);
        ask(cookie);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(FIRST) + ";");
        assertThat(records.sessions).containsExactly(SessionResult.MOVED);
    }

    /** It is there, and has what the session needs. */
    @Test
    void aSessionStaysWhereAStreamWasRefused() {
        ask(cookieOf(SECOND));
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
        assertThat(records.sessions).containsExactly(SessionResult.KEPT);
    }

    @Test
    void anEndpointThatDrainsKeepsItsSessions() {
        Objects.requireNonNull(health).drainButSessions(FIRST.toString(), 1, HOUR_NANOS);
        ask(cookieOf(FIRST));
        assertThat(opener.last().endpoint).isEqualTo(FIRST);
        answer(200);
        assertThat(client.field("Set-Cookie")).as("nothing new").isNull();
        assertThat(records.sessions).containsExactly(SessionResult.KEPT);
    }

    @Test
    void anEndpointThatDrainsGetsNoNewSessions() {
        Objects.requireNonNull(health).drainButSessions(FIRST.toString(), 1, HOUR_NANOS);
        ask(null);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
    }

    @Test
    void theTimeOfSessionsAtAnEndpointThatDrainsEnds() {
        Objects.requireNonNull(health).drainButSessions(FIRST.toString(), 1, HOUR_NANOS);
        String cookie = cookieOf(FIRST);
        Objects.requireNonNull(health).endSessions(FIRST.toString(), 1);
        ask(cookie);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
        assertThat(records.sessions).containsExactly(SessionResult.MOVED);
    }

    @Test
    void aForgedCookieIsNoSessionAndIsReplaced() {
        ask("sid=" + "A".repeat(43));
        assertThat(opener.last().endpoint).isEqualTo(FIRST);
        opener.last().succeed();
        assertThat((Object) upstream().head().fields().first(FieldName.COOKIE)).isNull();
        opener.last().events.onHead(response(200), true);
        assertThat(client.field("Set-Cookie")).startsWith("sid=");
    }

    /** Other endpoints do not have what its own has. */
    @Test
    void aRequestOfASessionStaysAtItsEndpointHoweverLongThatTakes() {
        settings.hedging = HEDGING;
        ask(cookieOf(SECOND));
        opener.last().succeed();
        pass(1000);
        assertThat(opener.openings).hasSize(1);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aSessionBeginsAtTheEndpointThatAnswersFirst() {
        settings.hedging = HEDGING;
        ask(null);
        opener.last().succeed();
        pass(200);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(SECOND) + ";");
    }

    @Test
    void theSessionOfAnEndpointThatDrainsMoves() {
        Objects.requireNonNull(health).drain(SECOND.toString(), true);
        ask(cookieOf(SECOND));
        assertThat(opener.last().endpoint).isEqualTo(FIRST);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(FIRST) + ";");
    }

    @Test
    void theSessionOfAnEndpointThatCannotBeReachedMoves() {
        ask(cookieOf(SECOND));
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertThat(opener.last().endpoint).isEqualTo(FIRST);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(FIRST) + ";");
    }

    @Test
    void aKeptConnectionThatWasClosedIsNoReasonToMove() {
        ask(cookieOf(SECOND));
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
        assertThat(client.field("Set-Cookie")).isNull();
    }

    @Test
    void anAnswerAfterAClosedConnectionIsTriedAgainElsewhere() {
        ask(cookieOf(FIRST));
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        assertThat(opener.last().endpoint).isEqualTo(FIRST);
        answer(503);
        pass(10);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(SECOND) + ";");
    }

    @ParameterizedTest
    @ValueSource(strings = {"max-age=60, Public", "s-maxage=5"})
    void anAnswerThatSharedCachesKeepBeginsNoSession(String control) {
        ask(null);
        opener.last().succeed();
        ResponseHead head = response(200);
        head.fields().add(FieldName.CACHE_CONTROL, new AsciiString(control));
        opener.last().events.onHead(head, true);
        assertThat(client.field("Set-Cookie")).isNull();
    }

    @Test
    void theEndpointThatGivesTheAnswerHasTheSession() {
        ask(cookieOf(FIRST));
        answer(503); // which is tried again elsewhere
        pass(10);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(503);
        assertThat(client.status()).isEqualTo(503);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(SECOND) + ";");
    }

    @Test
    void anEndpointWithoutRoomGivesTheSessionToTheOneThatHasSome() {
        ask(cookieOf(FIRST));
        opener.last().callback.onMoved(SECOND);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(SECOND) + ";");
    }

    @Test
    void interimResponsesCarryNoCookie() {
        ask(null);
        opener.last().succeed();
        opener.last().events.onHead(response(103), false);
        assertThat(client.heads).hasSize(1);
        assertThat(client.field("Set-Cookie")).isNull();
        opener.last().events.onHead(response(200), true);
        assertThat(client.field("Set-Cookie")).isNotNull();
    }

    @Test
    void anAnswerOfTheGatewayItselfBeginsNoSession() {
        Objects.requireNonNull(health).drain(FIRST.toString(), true);
        Objects.requireNonNull(health).drain(SECOND.toString(), true);
        ask(cookieOf(SECOND));
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
        assertThat(client.field("Set-Cookie")).isNull();
    }

    @Test
    void aClientThatSpeaksTlsWithATrustedProxyGetsASecureCookie() {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        askAsIfByTls();
        assertThat(client.field("Set-Cookie")).contains("; Secure;");
    }

    @Test
    void whoOnlySaysThatItSpeaksTlsGetsACookieForWhatItSpeaks() {
        askAsIfByTls();
        assertThat(client.field("Set-Cookie")).startsWith("sid=").doesNotContain("Secure");
    }

    private void askAsIfByTls() {
        settings.route(filters, Objects.requireNonNull(sticky), timeouts, retry);
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.X_FORWARDED_PROTO, new AsciiString("https"));
        handler().onRequest(client, head, true).onReadComplete();
        answer(200);
    }

    @Test
    void aCookieOfAFormerKeyIsMadeAnew() {
        String former = cookieOf(SECOND);
        keys = List.of(KEY + "2", KEY);
        ask(former);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        answer(200);
        assertThat(client.field("Set-Cookie")).startsWith(cookieOf(SECOND) + ";");
    }

    @Test
    void anUpstreamWithoutSessionsLeavesCookiesAlone() {
        route();
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.COOKIE, new AsciiString("sid=1"));
        handler().onRequest(client, head, true).onReadComplete();
        opener.last().succeed();
        assertThat((Object) upstream().head().fields().first(FieldName.COOKIE)).hasToString("sid=1");
        opener.last().events.onHead(response(200), true);
        assertThat(client.field("Set-Cookie")).isNull();
    }
}
