package dev.gateway.filter.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.ratelimit.RateLimit.Limited;
import dev.gateway.filter.ratelimit.RateLimitConfig.Rate;
import dev.gateway.filter.ratelimit.RateLimitConfig.Unit;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RateLimitTest {
    private static final long SECOND = 1_000_000_000;
    private static final LimitKey ALL = new LimitKey(List.of());
    private static final LimitKey CLIENT = new LimitKey(List.of(LimitKey.client()));

    private final LimitTables tables = new LimitTables(() -> 0, 1 << 20);

    private Limited rate(String name, long requests, int seconds, long burst, LimitKey key) {
        return new Limited(
                new RequestLimit(tables, new Rate(Unit.REQUESTS, requests, Duration.ofSeconds(seconds), burst)),
                key,
                new LimitPolicy(name, requests, seconds, null),
                "limit " + name);
    }

    private Limited inFlight(String name, int max, LimitKey key) {
        return new Limited(
                new ConcurrencyLimit(tables, max),
                key,
                new LimitPolicy(name, max, 0, LimitPolicy.CONCURRENT_REQUESTS),
                "limit " + name);
    }

    private RateLimit filter(Limited... limits) {
        return new RateLimit(tables, List.of(limits), true);
    }

    private static FakeContext from(String address, long nanos) {
        FakeContext context = FakeContext.from(address);
        context.nanos = nanos;
        return context;
    }

    private static boolean passes(RateLimit filter, FakeContext context, String... fields) {
        return filter.onRequest(Heads.get("a", "/?q=1", fields), context) == Verdict.PROCEED;
    }

    private static Verdict.Refuse refusal(RateLimit filter, FakeContext context) {
        Verdict verdict = filter.onRequest(Heads.get("a", "/"), context);
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        return (Verdict.Refuse) verdict;
    }

    private static String fields(RateLimit filter, FakeContext context) {
        ResponseHead response = new ResponseHead(200, null, Heads.fields(), 0);
        filter.onResponse(response, context);
        return response.fields().toString();
    }

    @Test
    void aClientOverTheLimitIsToldWhenToComeAgain() {
        RateLimit filter = filter(rate("per-client", 2, 60, 2, CLIENT));
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
        Verdict.Refuse refusal = refusal(filter, from("192.0.2.1", SECOND * 3 / 2));
        assertThat(refusal.failure().cause()).isEqualTo(Cause.RATE_LIMITED);
        assertThat(refusal.failure().status()).isEqualTo(429);
        assertThat(refusal.failure().detail()).isEqualTo("limit per-client");
        assertThat(refusal.fields())
                .hasToString(
                        """
                        Retry-After: 29
                        RateLimit-Policy: "per-client";q=2;w=60
                        RateLimit: "per-client";r=0;t=29
                        """);
        assertThat(passes(filter, from("192.0.2.2", SECOND))).isTrue();
        assertThat(passes(filter, from("192.0.2.1", 31 * SECOND))).isTrue();
    }

    @Test
    void aNetworkOfIpv6IsOneClient() {
        RateLimit filter = filter(rate("per-client", 1, 60, 1, CLIENT));
        assertThat(passes(filter, from("2001:db8:0:1::1", 0))).isTrue();
        assertThat(passes(filter, from("2001:db8:0:1:ffff::2", 0))).isFalse();
        assertThat(passes(filter, from("2001:db8:0:2::1", 0))).isTrue();
    }

    @Test
    void requestsWithoutAPartOfTheKeyAreCountedTogether() {
        LimitKey both =
                new LimitKey(List.of(LimitKey.header(FieldName.of("X-Key")), LimitKey.cookie(new AsciiString("user"))));
        RateLimit filter = filter(rate("both", 1, 60, 1, both));
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
        assertThat(passes(filter, from("192.0.2.2", 0))).isFalse();
        assertThat(passes(filter, from("192.0.2.2", 0), "X-Key: a")).isTrue();
        assertThat(passes(filter, from("192.0.2.2", 0), "Cookie: user=a")).isTrue();
        assertThat(passes(filter, from("192.0.2.2", 0), "X-Key: a", "Cookie: user=a"))
                .isTrue();
        assertThat(passes(filter, from("192.0.2.3", 0), "X-Key: a", "Cookie: user=a"))
                .isFalse();
    }

    @Test
    void identitiesAndQueryParametersAreKeysToo() {
        RateLimit identity = filter(rate("id", 1, 60, 1, new LimitKey(List.of(LimitKey.identity()))));
        assertThat(passes(identity, from("192.0.2.1", 0).as("ann"))).isTrue();
        assertThat(passes(identity, from("192.0.2.2", 0).as("ann"))).isFalse();
        assertThat(passes(identity, from("192.0.2.2", 0).as("ben"))).isTrue();
        assertThat(passes(identity, from("192.0.2.1", 0))).isTrue();
        assertThat(passes(identity, from("192.0.2.2", 0))).isFalse();
        LimitKey query = new LimitKey(List.of(LimitKey.queryParameter(new AsciiString("q"))));
        RateLimit parameter = filter(rate("q", 1, 60, 1, query));
        assertThat(parameter.onRequest(Heads.get("a", "/?q=1"), from("192.0.2.1", 0)))
                .isSameAs(Verdict.PROCEED);
        assertThat(parameter.onRequest(Heads.get("a", "/?q=1"), from("192.0.2.1", 0)))
                .isInstanceOf(Verdict.Refuse.class);
        assertThat(parameter.onRequest(Heads.get("a", "/?q=2"), from("192.0.2.1", 0)))
                .isSameAs(Verdict.PROCEED);
    }

    @Test
    void claimsAreKeysTooAndTokensWithoutOneAreCountedTogether() {
        RateLimit filter = filter(rate("tenant", 1, 60, 1, new LimitKey(List.of(LimitKey.claim("tenant")))));
        assertThat(passes(filter, with(Map.of("tenant", "a", "other", "x")))).isTrue();
        assertThat(passes(filter, with(Map.of("tenant", "a", "other", "y")))).isFalse();
        assertThat(passes(filter, with(Map.of("tenant", "b")))).isTrue();
        assertThat(passes(filter, with(Map.of()))).isTrue();
        assertThat(passes(filter, with(Map.of("other", "x")))).isFalse();
    }

    private static FakeContext with(Map<String, String> claims) {
        FakeContext context = from("192.0.2.1", 0);
        context.setClaims(claims);
        return context;
    }

    @Test
    void whatOneLimitRefusesTakesNothingFromTheOthers() {
        Limited inFlight = inFlight("in-flight", 9, ALL);
        Limited inFlightPerClient = inFlight("in-flight-per-client", 9, CLIENT);
        RateLimit filter =
                filter(rate("all", 10, 60, 10, ALL), inFlight, inFlightPerClient, rate("per-client", 1, 60, 1, CLIENT));
        FakeContext first = from("192.0.2.1", 0);
        assertThat(passes(filter, first)).isTrue();
        for (int i = 0; i < 100; i++) {
            assertThat(passes(filter, from("192.0.2.1", 0))).isFalse();
        }
        FakeContext second = from("192.0.2.2", 0);
        assertThat(passes(filter, second)).isTrue();
        assertThat(fields(filter, second))
                .isEqualTo(
                        """
                        RateLimit-Policy: "all";q=10;w=60, "in-flight";q=9;qu="concurrent-requests", \
                        "in-flight-per-client";q=9;qu="concurrent-requests", "per-client";q=1;w=60
                        RateLimit: "all";r=8;t=12, "in-flight";r=7, "in-flight-per-client";r=8, "per-client";r=0;t=60
                        """);
        filter.onEnd(first);
        filter.onEnd(second);
        assertThat(inFlight.limit().take(Limit.ALL, 0)).isPositive();
        assertThat(inFlight.limit().left(1L << 32)).isEqualTo(8);
        assertThat(tables.permits().used()).isZero();
        assertThat(inFlight.limit().allowed()).isEqualTo(2);
        assertThat(inFlight.limit().denied()).isZero();
    }

    @Test
    void requestsInFlightAreCountedUntilTheyEnd() {
        RateLimit filter = filter(inFlight("in-flight", 1, CLIENT));
        FakeContext first = from("192.0.2.1", 0);
        assertThat(passes(filter, first)).isTrue();
        assertThat(refusal(filter, from("192.0.2.1", 0)).fields())
                .hasToString(
                        """
                        Retry-After: 1
                        RateLimit-Policy: "in-flight";q=1;qu="concurrent-requests"
                        RateLimit: "in-flight";r=0;t=1
                        """);
        assertThat(passes(filter, from("192.0.2.2", 0))).isTrue();
        filter.onEnd(first);
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
    }

    @Test
    void requestsInFlightOfAllAreCountedUntilTheyEnd() {
        RateLimit filter = filter(inFlight("in-flight", 1, ALL));
        FakeContext first = from("192.0.2.1", 0);
        assertThat(passes(filter, first)).isTrue();
        assertThat(passes(filter, from("192.0.2.2", 0))).isFalse();
        filter.onEnd(first);
        assertThat(passes(filter, from("192.0.2.2", 0))).isTrue();
    }

    @Test
    void theFieldsCanBeLeftOut() {
        RateLimit filter = new RateLimit(tables, List.of(rate("all", 1, 60, 1, ALL)), false);
        FakeContext first = from("192.0.2.1", 0);
        assertThat(passes(filter, first)).isTrue();
        assertThat(fields(filter, first)).isEmpty();
        assertThat(refusal(filter, from("192.0.2.1", 0)).fields()).hasToString("Retry-After: 60\n");
    }

    @Test
    void aChangedLimitKeepsItsCount() {
        Limited limited = rate("all", 10, 60, 10, ALL);
        RateLimit filter = filter(limited);
        for (int i = 0; i < 6; i++) {
            passes(filter, from("192.0.2.1", 0));
        }
        ((RequestLimit) limited.limit()).change(new Rate(Unit.REQUESTS, 8, Duration.ofHours(1), 8));
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
        assertThat(passes(filter, from("192.0.2.1", 0))).isFalse();
        assertThat(limited.limit().allowed()).isEqualTo(8);
        assertThat(limited.limit().denied()).isEqualTo(1);
    }

    @Test
    void limitsDoNotCountForEachOther() {
        RequestHead head = Heads.get("a", "/");
        RateLimit one = filter(rate("x", 1, 60, 1, CLIENT));
        RateLimit other = filter(rate("x", 1, 60, 1, CLIENT));
        assertThat(one.onRequest(head, from("192.0.2.1", 0))).isSameAs(Verdict.PROCEED);
        assertThat(other.onRequest(head, from("192.0.2.1", 0))).isSameAs(Verdict.PROCEED);
    }

    private Limited bytes(String name, long quota, int seconds, LimitKey key) {
        return new Limited(
                new ByteLimit(tables, new Rate(Unit.BYTES, quota, Duration.ofSeconds(seconds), quota)),
                key,
                new LimitPolicy(name, quota, seconds, LimitPolicy.CONTENT_BYTES),
                "limit " + name);
    }

    private static void end(RateLimit filter, FakeContext context, long bytes) {
        context.moved = bytes;
        filter.onEnd(context);
    }

    @Test
    void bytesAreTakenWhenARequestEnds() {
        RateLimit filter = filter(bytes("volume", 1_000, 100, CLIENT));
        FakeContext first = from("192.0.2.1", 0);
        FakeContext beside = from("192.0.2.1", 0);
        assertThat(passes(filter, first)).isTrue();
        assertThat(fields(filter, first))
                .isEqualTo(
                        """
                        RateLimit-Policy: "volume";q=1000;qu="content-bytes";w=100
                        RateLimit: "volume";r=999;t=1
                        """);
        assertThat(passes(filter, beside)).isTrue();
        end(filter, first, 900);
        assertThat(passes(filter, from("192.0.2.1", 0))).isTrue();
        end(filter, beside, 1_100);

        Verdict.Refuse refusal = refusal(filter, from("192.0.2.1", 0));
        assertThat(refusal.failure().cause()).isEqualTo(Cause.RATE_LIMITED);
        assertThat(refusal.fields().toString())
                .contains("Retry-After: 101\n")
                .contains("RateLimit: \"volume\";r=0;t=101\n");
        assertThat(passes(filter, from("192.0.2.2", 0))).isTrue();
        assertThat(passes(filter, from("192.0.2.1", 100 * SECOND))).isFalse();
        assertThat(passes(filter, from("192.0.2.1", 101 * SECOND))).isTrue();
    }

    @Test
    void aRequestThatMovesNothingTakesNothing() {
        RateLimit filter = filter(bytes("volume", 1, 1_000_000, CLIENT), bytes("all", 1, 1_000_000, ALL));
        for (int i = 0; i < 3; i++) {
            FakeContext context = from("192.0.2.1", i);
            assertThat(passes(filter, context)).isTrue();
            end(filter, context, 0);
        }
    }

    @Test
    void aRequestThatAnotherLimitRefusesTakesNoBytes() {
        RateLimit filter = filter(bytes("volume", 2, 1_000_000, CLIENT), rate("one", 1, 1_000_000, 1, ALL));
        FakeContext first = from("192.0.2.1", 0);
        assertThat(passes(filter, first)).isTrue();
        assertThat(refusal(filter, from("192.0.2.1", 0)).failure().detail()).isEqualTo("limit one");
        end(filter, first, 1);
        assertThat(refusal(filter, from("192.0.2.1", 0)).failure().detail()).isEqualTo("limit one");
    }

    @Test
    void bytesOfAllRequestsAreOneQuota() {
        RateLimit filter = filter(bytes("volume", 100, 100, ALL));
        FakeContext context = from("192.0.2.1", 0);
        assertThat(passes(filter, context)).isTrue();
        end(filter, context, 150);
        assertThat(passes(filter, from("192.0.2.2", 0))).isFalse();
        assertThat(passes(filter, from("192.0.2.2", 51 * SECOND))).isTrue();
    }

    /** One client, which chooses the keys of one limit and wants to be rid of what another one counts. */
    @Test
    void aFloodOfKeysOfOneLimitResetsNoOther() {
        RateLimit login = filter(rate("login", 5, 60, 5, CLIENT));
        RateLimit api =
                filter(rate("api", 100, 86_400, 100, new LimitKey(List.of(LimitKey.header(FieldName.of("X-Key"))))));
        for (int i = 0; i < 5; i++) {
            assertThat(passes(login, from("192.0.2.1", 0))).isTrue();
        }
        for (int i = 0; i < 20_000; i++) {
            assertThat(passes(api, from("192.0.2.1", 0), "X-Key: " + i)).isTrue();
        }
        assertThat(tables.untracked()).isPositive();
        assertThat(passes(login, from("192.0.2.1", 0))).isFalse();
    }

    @Test
    void anEvictedKeyIsStillChargedWhatItsRequestHasMoved() {
        LimitTables few = new LimitTables(() -> 0, 1);
        ByteLimit limit = new ByteLimit(few, new Rate(Unit.BYTES, 100, Duration.ofSeconds(100), 100));
        assertThat(limit.take(7, 0)).isEqualTo(1);
        for (long key = 8; few.untracked() == 0 || limit.left(limit.take(7, 0)) < 99; key++) {
            limit.take(key, 0);
        }
        limit.onEnd(7, 1, 1_000, 0);
        assertThat(limit.take(7, 0)).isNegative();
    }
}
