package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.SessionPersistenceConfig.SameSite;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Cookies lead back to the endpoint that they were made for; nothing else does. */
class SessionPersistenceTest {
    private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final String KEY = "0123456789abcdef0123456789abcdef";
    private static final String OTHER_KEY = "fedcba9876543210fedcba9876543210";
    private static final List<Host> HOSTS = hosts(1, 2, 3);

    private long now = 1_000_000;
    private List<String> keys = List.of();

    private static List<Host> hosts(int... numbers) {
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            hosts.add(new Host(new Endpoint(i, "10.0.0." + numbers[i], 80, 1)));
        }
        return hosts;
    }

    private SessionPersistence sessions(long timeoutSeconds, String... keys) {
        return sessions("app", timeoutSeconds, keys);
    }

    private SameSite sameSite = SameSite.LAX;

    private SessionPersistence sessions(String upstream, long timeoutSeconds, String... keys) {
        List<String> texts = keys.length == 0 ? List.of(KEY) : List.of(keys);
        SessionPersistence sessions =
                new SessionPersistence(upstream, "sid", () -> texts, timeoutSeconds, sameSite, () -> now);
        sessions.onChoice(HOSTS);
        return sessions;
    }

    private static String token(AsciiString setCookie) {
        return setCookie.toString().replaceAll("^sid=|;.*", "");
    }

    private static SessionPersistence.@Nullable Kept find(SessionPersistence sessions, String token) {
        Fields fields = new Fields();
        fields.add(FieldName.COOKIE, new AsciiString("a=b; sid=" + token));
        return sessions.find(fields);
    }

    private static @Nullable Endpoint endpoint(SessionPersistence sessions, String token) {
        SessionPersistence.Kept kept = find(sessions, token);
        return kept == null ? null : kept.endpoint();
    }

    @Test
    void aCookieLeadsBackToItsEndpointAlsoAtAnotherReplica() {
        SessionPersistence replica = sessions(0);
        for (Host host : HOSTS) {
            String token = token(sessions(0).begin(host.endpoint(), false));
            assertThat(find(replica, token)).isEqualTo(new SessionPersistence.Kept(host.endpoint(), 0, false));
        }
    }

    @Test
    void cookiesOfThatNameThatOthersHaveSetAreNotInTheWay() {
        SessionPersistence sessions = sessions(0);
        Endpoint second = HOSTS.get(1).endpoint();
        String token = token(sessions.begin(second, false));
        assertThat(endpoint(sessions, "theirs; sid=" + token)).isEqualTo(second);
        assertThat(endpoint(sessions, "a; sid=b; sid=" + token)).isEqualTo(second);
        assertThat(endpoint(sessions, "a; sid=b; sid=c; sid=" + token))
                .as("no more than three are looked at")
                .isNull();
    }

    @Test
    void anEndpointThatReturnsHasItsSessionsAgain() {
        SessionPersistence sessions = sessions(0, KEY, OTHER_KEY);
        String token = token(sessions.begin(HOSTS.get(1).endpoint(), false));
        sessions.onChoice(HOSTS.subList(0, 1));
        assertThat(endpoint(sessions, token)).isNull();
        sessions.onChoice(HOSTS);
        assertThat(endpoint(sessions, token)).isEqualTo(HOSTS.get(1).endpoint());
    }

    @Test
    void theCookieTellsTheBrowserNoMoreThanItNeeds() {
        assertThat(sessions(0).begin(HOSTS.get(0).endpoint(), true).toString())
                .matches("sid=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; Secure; SameSite=Lax");
        assertThat(sessions(90).begin(HOSTS.get(0).endpoint(), false).toString())
                .matches("sid=[A-Za-z0-9_-]{43}; Path=/; Max-Age=90; HttpOnly; SameSite=Lax");
    }

    /** In another site's frame, a browser sends no other cookie. It refuses None without Secure. */
    @Test
    void aCookieMayBeForFramesOfOtherSites() {
        sameSite = SameSite.NONE;
        assertThat(sessions(0).begin(HOSTS.get(0).endpoint(), true).toString()).endsWith("; Secure; SameSite=None");
        assertThat(sessions(0).begin(HOSTS.get(0).endpoint(), false).toString()).endsWith("; HttpOnly; SameSite=Lax");
        sameSite = SameSite.STRICT;
        assertThat(sessions(0).begin(HOSTS.get(0).endpoint(), false).toString())
                .endsWith("; HttpOnly; SameSite=Strict");
    }

    @Test
    void aSessionEndsWhateverTheBrowserThinks() {
        SessionPersistence sessions = sessions(90);
        String token = token(sessions.begin(HOSTS.get(1).endpoint(), false));
        now += 89;
        assertThat(endpoint(sessions, token)).isEqualTo(HOSTS.get(1).endpoint());
        now += 1;
        assertThat(endpoint(sessions, token)).isNull();
    }

    @Test
    void noChangedCookieIsAccepted() {
        SessionPersistence sessions = sessions(90);
        String token = token(sessions.begin(HOSTS.get(2).endpoint(), false));
        SplittableRandom random = new SplittableRandom(27);
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for (int i = 0; i < token.length() - 1; i++) { // the last character has two bits that mean nothing
            char other;
            do {
                other = alphabet.charAt(random.nextInt(alphabet.length()));
            } while (other == token.charAt(i));
            assertThat(find(sessions, token.substring(0, i) + other + token.substring(i + 1)))
                    .isNull();
        }
        for (String bad : List.of("", "x", token + "A", token.substring(1), "=".repeat(43), "A".repeat(43))) {
            assertThat(find(sessions, bad)).as(bad).isNull();
        }
        assertThat(sessions.find(new Fields())).isNull();
    }

    @Test
    void aCookieOfAnotherUpstreamOrKeyIsNotAccepted() {
        String token = token(sessions(0).begin(HOSTS.get(0).endpoint(), false));
        assertThat(find(sessions("other", 0), token)).isNull();
        assertThat(find(sessions(0, OTHER_KEY), token)).isNull();
    }

    @Test
    void nothingInACookieTellsWhichEndpointsOfOthersAreTheSame() {
        String one = token(sessions(0).begin(HOSTS.get(0).endpoint(), false));
        String other = token(sessions(0, OTHER_KEY).begin(HOSTS.get(0).endpoint(), false));
        String elsewhere = token(sessions("other", 0).begin(HOSTS.get(0).endpoint(), false));
        assertThat(List.of(one.substring(0, 10), other.substring(0, 10), elsewhere.substring(0, 10)))
                .doesNotHaveDuplicates();
    }

    @Test
    void aFormerKeyIsAcceptedAndItsCookieMadeAnewWithTheSameEnd() {
        keys = List.of(KEY);
        SessionPersistence sessions = new SessionPersistence("app", "sid", () -> keys, 90, SameSite.LAX, () -> now);
        sessions.onChoice(HOSTS);
        String token = token(sessions.begin(HOSTS.get(0).endpoint(), false));
        now += 30;
        keys = List.of(OTHER_KEY, KEY);
        SessionPersistence.Kept kept = find(sessions, token);
        assertThat(kept).isEqualTo(new SessionPersistence.Kept(HOSTS.get(0).endpoint(), now + 60, true));
        AsciiString renewed = sessions.renew(HOSTS.get(0).endpoint(), Objects.requireNonNull(kept), true);
        assertThat(renewed.toString()).contains("; Max-Age=60;");
        keys = List.of(OTHER_KEY);
        assertThat(find(sessions, token)).as("its key has gone").isNull();
        assertThat(find(sessions, token(renewed)))
                .isEqualTo(new SessionPersistence.Kept(HOSTS.get(0).endpoint(), now + 60, false));
    }

    @Test
    void aShorterTimeoutHoldsForSessionsThatHaveBegun() {
        for (long former : new long[] {0, 1000}) {
            String token = token(sessions(former).begin(HOSTS.get(0).endpoint(), false));
            assertThat(find(sessions(90), token))
                    .isEqualTo(new SessionPersistence.Kept(HOSTS.get(0).endpoint(), now + 90, true));
        }
    }

    @Test
    void anEndpointThatIsNotChosenHasNoSessionsUntilItIsAgain() {
        SessionPersistence sessions = sessions(0);
        String token = token(sessions.begin(HOSTS.get(0).endpoint(), false));
        sessions.onChoice(HOSTS.subList(1, 3));
        assertThat(find(sessions, token)).isEqualTo(new SessionPersistence.Kept(null, 0, false));
        sessions.onChoice(HOSTS);
        assertThat(endpoint(sessions, token)).isEqualTo(HOSTS.get(0).endpoint());
    }

    @Test
    void anEndpointKeepsItsSessionsWhateverItsPosition() {
        String token = token(sessions(0).begin(HOSTS.get(2).endpoint(), false));
        SessionPersistence turned = sessions(0);
        List<Host> others = hosts(3, 4, 1);
        turned.onChoice(others);
        assertThat(endpoint(turned, token)).isEqualTo(others.get(0).endpoint());
    }

    @Test
    void anUpstreamTellsOfItsEndpoints() {
        Upstream upstream = new Upstream(
                "app",
                HOSTS.stream().map(Host::endpoint).toList(),
                RoundRobin::new,
                UpstreamValues.builder()
                        .maxConnections(1)
                        .maxPendingRequests(1)
                        .maxRequests(1)
                        .build());
        keys = List.of(KEY);
        SessionPersistence sessions = new SessionPersistence("app", "sid", () -> keys, 0, SameSite.LAX, () -> now);
        assertThat(upstream.persist(sessions).sessions()).isSameAs(sessions);
        String token = token(sessions.begin(HOSTS.get(0).endpoint(), false));
        assertThat(endpoint(sessions, token)).isEqualTo(HOSTS.get(0).endpoint());
        upstream.health().drain("10.0.0.1:80", true);
        assertThat(find(sessions, token)).isEqualTo(new SessionPersistence.Kept(null, 0, false));
        upstream.health().drain("10.0.0.1:80", false);
        assertThat(endpoint(sessions, token)).isEqualTo(HOSTS.get(0).endpoint());
    }

    private static Upstream upstream(Health health) {
        UpstreamSettings settings = UpstreamValues.builder()
                .maxConnections(1)
                .maxPendingRequests(1)
                .maxRequests(1)
                .build();
        return new Upstream("app", health, settings);
    }

    private static Health health() {
        List<Endpoint> endpoints = HOSTS.stream().map(Host::endpoint).toList();
        return new Health(endpoints, RoundRobin::new, null, null, System::nanoTime);
    }

    @Test
    void aDrainLeavesAnEndpointItsSessionsUntilTheyEnd() {
        Health health = health();
        Endpoint first = HOSTS.get(0).endpoint();
        SessionPersistence sessions = sessions(0);
        Host host = upstream(health).persist(sessions).host(first);
        String token = token(sessions.begin(first, false));
        assertThat(health.drainButSessions("10.0.0.1:80", 7, HOUR_NANOS)).isTrue();
        assertThat(endpoint(sessions, token)).isEqualTo(first);
        assertThat(host.isChosen()).isFalse();
        assertThat(host.isUsed()).as("requests may wait for it").isTrue();
        health.onChecked(first, "down");
        assertThat(endpoint(sessions, token)).as("unhealthy").isNull();
        health.onChecked(first, null);
        assertThat(endpoint(sessions, token)).isEqualTo(first);
        assertThat(health.endSessions("10.0.0.1:80", 6))
                .as("of an earlier drain")
                .isFalse();
        assertThat(endpoint(sessions, token)).isEqualTo(first);
        assertThat(health.endSessions("10.0.0.1:80", 7)).isTrue();
        assertThat(endpoint(sessions, token)).isNull();
        assertThat(host.takesSessions()).isFalse();
        health.drain("10.0.0.1:80", false);
        assertThat(endpoint(sessions, token)).isEqualTo(first);
        assertThat(health.drainButSessions("192.0.2.9:80", 8, HOUR_NANOS)).isFalse();
    }

    @Test
    void aReloadChangesNothingOfADrain() {
        Health before = health();
        before.drainButSessions("10.0.0.1:80", 7, HOUR_NANOS);
        Health after = health();
        after.inherit(before);
        SessionPersistence sessions = sessions(0);
        upstream(after).persist(sessions);
        String token = token(sessions.begin(HOSTS.get(0).endpoint(), false));
        assertThat(endpoint(sessions, token)).isEqualTo(HOSTS.get(0).endpoint());
        after.endSessions("10.0.0.1:80", 7);
        assertThat(endpoint(sessions, token)).isNull();
    }

    @Test
    void whatHasLeftTheUpstreamLosesItsSessionsAtOnce() {
        Health health = health();
        SessionPersistence sessions = sessions(0);
        Upstream upstream = upstream(health).persist(sessions);
        String token = token(sessions.begin(HOSTS.get(0).endpoint(), false));
        health.drainButSessions("10.0.0.1:80", 7, HOUR_NANOS);
        upstream.update(HOSTS.stream()
                .skip(1)
                .map(host -> EndpointSpec.of(host.endpoint()))
                .toList());
        assertThat(endpoint(sessions, token)).isNull();
    }

    @Test
    void theCookieIsTakenAway() {
        Fields fields = new Fields();
        fields.add(FieldName.COOKIE, new AsciiString("a=b; sid=whatever; c=d"));
        sessions(0).strip(fields);
        assertThat((Object) fields.first(FieldName.COOKIE)).hasToString("a=b; c=d");
    }

    @Test
    void aKeyOfAnyLengthAndManyKeysWork() {
        String[] keys = new String[8];
        Arrays.setAll(keys, i -> KEY + "x".repeat(i * 100));
        for (String key : keys) {
            String token = token(sessions(0, key).begin(HOSTS.get(1).endpoint(), false));
            assertThat(endpoint(sessions(0, keys), token))
                    .isEqualTo(HOSTS.get(1).endpoint());
        }
    }
}
