package dev.gateway.filter.jwt.jwks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.crypto.JwkSet;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.testing.SigningKey;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.SourceStatus;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When keys are fetched, and what there is meanwhile: with a server that the test plays and a clock that it moves. */
class RemoteKeysTest {
    private static final String FIRST = SigningKey.set(SigningKey.of("ES256", "first"));
    private static final String SECOND = SigningKey.set(SigningKey.of("ES256", "second"));
    private static final Failure REFUSED = Failure.of(Cause.CONNECT_FAILED, "connection refused");
    private static final long MINUTE = 60_000;

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final PlayedServer server = new PlayedServer();
    private long now = 1;
    private Executor parsing = Runnable::run;
    private final RemoteKeys keys = new RemoteKeys(
            new KeyLocation("https://id.test/keys?v=1", upstream(), new AsciiString("/keys?v=1")),
            server,
            new TimerWheel(loop.eventLoop(), () -> now),
            task -> parsing.execute(task),
            () -> now);

    private static Upstream upstream() {
        return new Upstream(
                "jwks:http://id.test",
                List.of(new Endpoint(0, "id.test", 80, 1)),
                RoundRobin::new,
                UpstreamValues.builder().build());
    }

    @BeforeEach
    void start() {
        loop.freezeTime();
        keys.start();
        loop.runPendingTasks();
    }

    @AfterEach
    void nothingIsLeftBehind() {
        keys.close();
        loop.runPendingTasks();
        int before = server.asked.size();
        pass(90 * MINUTE);
        assertThat(server.asked).hasSize(before).allSatisfy(each -> assertThat(each.isOver())
                .isTrue());
        assertThat(loop.runScheduledPendingTasks()).as("timers still armed").isEqualTo(-1);
        loop.finishAndReleaseAll();
    }

    // ---- fetches

    @Test
    void theKeysAreFetchedAtTheStart() {
        assertThat(keys.get()).isSameAs(JwkSet.NONE);
        assertThat(keys.status().state()).isEqualTo(SourceStatus.State.WAITING);
        server.last().answer(FIRST);
        RequestHead head = Objects.requireNonNull(server.last().head);
        assertThat(head.path().toString()).isEqualTo("/keys?v=1");
        assertThat(head.authority().toString()).isEqualTo("id.test");
        settle();
        assertThat(keys.get().find("first", "ES256")).hasSize(1);
        assertThat(keys.status().state()).isEqualTo(SourceStatus.State.FRESH);
        keys.start(); // again, by a reload
        settle();
        assertThat(server.asked).hasSize(1);
        assertThat(keys.succeeded()).isEqualTo(1);
    }

    @Test
    void aKeyThatCannotBeUsedDoesNotKeepTheOthersAway() {
        answer(FIRST.replace("[", "[{\"kty\":\"RSA\",\"kid\":\"damaged\"},"));
        assertThat(keys.get().find("first", "ES256")).hasSize(1);
        assertThat(keys.get().size()).isEqualTo(1);
        assertThat(keys.status().state()).isEqualTo(SourceStatus.State.FRESH);
    }

    @Test
    void theyAreFetchedAgainBeforeTheyAreTooOld() {
        answer(FIRST); // for ten minutes
        long fetched = now;
        passUntilAsked(1);
        assertThat(TimeUnit.NANOSECONDS.toMillis(now - fetched))
                .isBetween(10 * MINUTE * 80 / 100, 10 * MINUTE * 90 / 100 + 30);
        JwkSet before = keys.get();
        answer(FIRST);
        assertThat(keys.get()).as("the same keys are the same object").isSameAs(before);
        answerNext(SECOND);
        assertThat(keys.get().find("second", "ES256")).hasSize(1);
        assertThat(keys.get().find("first", "ES256")).isEmpty();
        assertThat(keys.succeeded()).isEqualTo(3);
    }

    @Test
    void notTwoServersAreAskedAtTheSameMoment() {
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answer(FIRST);
            long began = now;
            int before = server.asked.size();
            passUntilAsked(before);
            times.add(now - began);
        }
        assertThat(times.stream().distinct().count()).as("jitter").isGreaterThan(5);
    }

    @ParameterizedTest
    @CsvSource({
        "302, 'answered 302, and the gateway does not follow redirects'",
        "404, answered 404",
        "500, answered 500",
        "204, answered 204"
    })
    void onlyStatus200HasKeys(int status, String why) {
        server.last().answer(status, "max-age=600", FIRST.getBytes(StandardCharsets.UTF_8));
        settle();
        assertThat(keys.get()).isSameAs(JwkSet.NONE);
        assertThat(keys.status().problem()).isEqualTo(why);
        assertThat(keys.failed()).isEqualTo(1);
    }

    @Test
    void moreThanAMebibyteIsNotReceived() {
        server.last().answer(200, "max-age=600", new byte[(1 << 20) + 8192]);
        settle();
        assertThat(server.last().reset).isTrue();
        assertThat(keys.status().problem()).isEqualTo("sent more than 1 MiB");
    }

    @Test
    void aMebibyteIs() {
        String padded = FIRST + " ".repeat((1 << 20) - FIRST.length());
        answer(padded);
        assertThat(keys.get().size()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"a\\nb\"}]}; the answer: key 1 (a?b)",
                "<html>; the answer: not a JSON Web Key Set",
                "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\"}]}; the answer: key 1 is damaged",
                "{\"keys\":[]}; the answer: it has no key that verifies signatures"
            })
    void garbageHasNoKeys(String body, String why) {
        answer(body);
        assertThat(keys.get()).isSameAs(JwkSet.NONE);
        assertThat(keys.status().problem()).startsWith(why);
    }

    @Test
    void norHasWhatIsNestedDeeply() {
        answer("[".repeat(1 << 20));
        assertThat(keys.get()).isSameAs(JwkSet.NONE);
        assertThat(keys.failed()).isEqualTo(1);
        answerNext("{\"keys\":" + "[".repeat(1 << 19) + "]".repeat(1 << 19) + "}");
        assertThat(keys.failed()).isEqualTo(2);
    }

    @Test
    void aFetchTakesFiveSecondsAtMost() {
        server.last().opened();
        pass(RemoteKeys.TIMEOUT_MILLIS + 30);
        assertThat(server.last().reset).isTrue();
        assertThat(keys.status().problem()).isEqualTo("no complete answer in 5000 ms");
    }

    @Test
    void soDoesReadingIt() {
        List<Runnable> waiting = new ArrayList<>();
        parsing = waiting::add;
        List<RenewalOutcome> told = renew("ann");
        answer(FIRST);
        pass(RemoteKeys.TIMEOUT_MILLIS + 30);
        assertThat(told).containsExactly(RenewalOutcome.FAILED);
        waiting.forEach(Runnable::run);
        settle();
        assertThat(keys.get()).as("what comes too late").isSameAs(JwkSet.NONE);
        parsing = task -> {
            throw new RejectedExecutionException();
        };
        answerNext(FIRST);
        assertThat(keys.failed()).isEqualTo(2);
    }

    @Test
    void aConnectionThatWasClosedBeforeIsTriedAgainAtOnce() {
        Failure stale = new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, RetrySafety.ALWAYS, true, "closed");
        server.last().opened();
        server.last().breakOff(stale);
        assertThat(server.asked).hasSize(2);
        assertThat(keys.failed()).isZero();
        server.last().opened();
        server.last().breakOff(stale);
        settle();
        assertThat(server.asked).hasSize(2);
        assertThat(keys.failed()).isEqualTo(1);
    }

    // ---- outages

    @Test
    void aServerThatFailsIsAskedLessAndLessOften() {
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            server.last().failToOpen(REFUSED);
            long began = now;
            passUntilAsked(server.asked.size());
            pauses.add(TimeUnit.NANOSECONDS.toMillis(now - began));
        }
        for (int i = 0; i < 9; i++) {
            long most = Math.min(30_000, 1_000L << i);
            assertThat(pauses.get(i)).isBetween(most / 2, most + 30);
        }
        answer(FIRST);
        passUntilAsked(server.asked.size());
        server.last().failToOpen(REFUSED);
        pass(1_030);
        assertThat(server.last().isOver())
                .as("it asks at once in the next outage")
                .isFalse();
    }

    @Test
    void theLastKeysStayForADay() {
        answer(FIRST);
        JwkSet before = keys.get();
        passUntilAsked(1);
        long deadline = now + TimeUnit.HOURS.toNanos(23);
        while (now < deadline) {
            server.last().failToOpen(REFUSED);
            passUntilAsked(server.asked.size());
        }
        assertThat(keys.get()).isSameAs(before);
        assertThat(keys.status().state()).isEqualTo(SourceStatus.State.STALE);
        assertThat(keys.status().problem()).isEqualTo("connect_failed: connection refused");
        assertThat(keys.status().staleNanos()).isGreaterThan(TimeUnit.HOURS.toNanos(22));
        deadline += TimeUnit.MINUTES.toNanos(70);
        while (now < deadline) {
            server.last().failToOpen(REFUSED);
            passUntilAsked(server.asked.size());
        }
        assertThat(keys.get()).isSameAs(JwkSet.NONE);
        answer(FIRST);
        assertThat(keys.get()).isEqualTo(before);
        assertThat(keys.status().isStale()).isFalse();
    }

    // ---- who needs other keys

    @Test
    void whoComesBeforeTheFirstKeysWaitsForThem() {
        List<RenewalOutcome> told = renew("ann");
        assertThat(told).isEmpty();
        answer(FIRST);
        assertThat(told).containsExactly(RenewalOutcome.CHANGED);
    }

    @Test
    void withoutKeysNobodyWaitsForTheNextTry() {
        List<RenewalOutcome> told = renew("ann");
        server.last().failToOpen(REFUSED);
        settle();
        assertThat(told).containsExactly(RenewalOutcome.FAILED);
        assertThat(renew("ann")).containsExactly(RenewalOutcome.FAILED);
        assertThat(server.asked).hasSize(1);
    }

    @Test
    void aTokenOfANewKeyHasItFetched() {
        answer(FIRST);
        List<RenewalOutcome> told = renew("ann");
        List<RenewalOutcome> other = renew("bob");
        assertThat(server.asked).as("together").hasSize(2);
        answer(SECOND);
        assertThat(told).containsExactly(RenewalOutcome.CHANGED);
        assertThat(other).containsExactly(RenewalOutcome.CHANGED);
    }

    @Test
    void whoSawTheKeysOfBeforeNeedsNoFetch() {
        answer(FIRST);
        JwkSet before = keys.get();
        passUntilAsked(1);
        answer(SECOND);
        List<RenewalOutcome> told = new ArrayList<>();
        keys.renew("ann", before, told::add);
        settle();
        assertThat(told).containsExactly(RenewalOutcome.CHANGED);
        assertThat(server.asked).hasSize(2);
    }

    /** A caller that has an old object may ask when an equal set has replaced it. */
    @Test
    void equalKeysAreNotNewOnes() {
        answer(FIRST);
        JwkSet seen = keys.get();
        answerNext(SECOND);
        answerNext(FIRST);
        assertThat(keys.get()).isNotSameAs(seen);
        List<RenewalOutcome> told = new ArrayList<>();
        keys.renew("ann", seen, told::add);
        settle();
        assertThat(server.asked).as("it is fetched early").hasSize(4);
        answer(FIRST);
        assertThat(told).containsExactly(RenewalOutcome.SAME);
    }

    /** Strangers may name keys as often as they like: five fetches, and then six a minute. */
    @Test
    void unknownKeysHaveThemFetchedSeldom() {
        server.last().answer(200, "max-age=3600", FIRST.getBytes(StandardCharsets.UTF_8));
        settle();
        List<RenewalOutcome> told = new ArrayList<>();
        for (int i = 0; i < 6_000; i++) { // of ten milliseconds
            keys.renew("eve", keys.get(), told::add);
            settle();
            if (!server.last().isOver()) {
                answer(FIRST);
            }
            pass(10);
        }
        assertThat(told).hasSize(6_000).containsOnly(RenewalOutcome.SAME);
        assertThat(server.asked.size() - 1).isBetween(10, 11);
    }

    @Test
    void aNewKeyRightAfterAnUnknownOneIsFetchedAMomentLater() {
        answer(FIRST);
        List<RenewalOutcome> stranger = renew("eve");
        answer(FIRST);
        assertThat(stranger).containsExactly(RenewalOutcome.SAME);
        List<RenewalOutcome> told = renew("ann");
        List<RenewalOutcome> other = renew("bob");
        assertThat(told).isEmpty();
        assertThat(server.asked).as("not at once").hasSize(2);
        pass(1_030);
        assertThat(server.asked).hasSize(3);
        answer(SECOND);
        assertThat(told).containsExactly(RenewalOutcome.CHANGED);
        assertThat(other).containsExactly(RenewalOutcome.CHANGED);
    }

    @Test
    void aFetchThatFailsLeavesUnknownWhetherThereIsSuchAKey() {
        answer(FIRST);
        List<RenewalOutcome> told = renew("ann");
        server.last().failToOpen(REFUSED);
        settle();
        assertThat(told).containsExactly(RenewalOutcome.FAILED);
        assertThat(keys.get().size()).isEqualTo(1);
    }

    /** However often it is asked for, and until the server answers again. */
    @Test
    void whileTheServerFailsNobodyIsToldThatThereIsNoSuchKey() {
        answer(FIRST);
        List<RenewalOutcome> told = new ArrayList<>();
        for (int i = 0; i < 6_000; i++) { // of ten milliseconds
            keys.renew("ann", keys.get(), told::add);
            settle();
            if (!server.last().isOver()) {
                server.last().failToOpen(REFUSED);
                settle();
            }
            pass(10);
        }
        assertThat(told).hasSize(6_000).containsOnly(RenewalOutcome.FAILED);
        answerNext(SECOND);
        assertThat(keys.get().find("second", "ES256")).hasSize(1);
    }

    @Test
    void soManyMayWaitAndNoClientTakesAllPlaces() {
        int most = KeyWaiters.MOST;
        List<RenewalOutcome> eve = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            keys.renew("eve", JwkSet.NONE, eve::add);
        }
        settle();
        assertThat(eve).hasSize(most / 2).containsOnly(RenewalOutcome.TOO_MANY);
        List<RenewalOutcome> others = new ArrayList<>();
        for (int i = 0; i <= most / 2; i++) {
            keys.renew(i, JwkSet.NONE, others::add);
        }
        settle();
        assertThat(others).containsExactly(RenewalOutcome.TOO_MANY);
        answer(FIRST);
        assertThat(others).hasSize(most / 2 + 1).contains(RenewalOutcome.CHANGED);
        passUntilAsked(1);
        assertThat(renew("eve")).as("places are free again").isEmpty();
        answer(SECOND);
    }

    @Test
    void whoWaitsAtTheEndIsToldToo() {
        List<RenewalOutcome> told = renew("ann");
        keys.close();
        settle();
        assertThat(told).containsExactly(RenewalOutcome.FAILED);
        assertThat(server.last().cancelled).isTrue();
        assertThat(renew("ann")).containsExactly(RenewalOutcome.FAILED);
    }

    // ---- what tests are made of

    private List<RenewalOutcome> renew(Object client) {
        List<RenewalOutcome> told = new ArrayList<>();
        keys.renew(client, keys.get(), told::add);
        settle();
        return told;
    }

    private void answer(String body) {
        server.last().answer(body);
        settle();
    }

    private void answerNext(String body) {
        passUntilAsked(server.asked.size());
        answer(body);
    }

    private void passUntilAsked(int before) {
        for (long waited = 0; server.asked.size() == before && waited < 61 * MINUTE; waited += 10) {
            pass(10);
        }
        assertThat(server.asked).hasSize(before + 1);
    }

    private void settle() {
        loop.runPendingTasks();
    }

    private void pass(long millis) {
        for (long i = 0; i < millis; i += 10) {
            now += TimeUnit.MILLISECONDS.toNanos(10);
            loop.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            loop.runPendingTasks();
            loop.runScheduledPendingTasks();
        }
    }
}
