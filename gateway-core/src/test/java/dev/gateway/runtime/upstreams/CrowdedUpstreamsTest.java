package dev.gateway.runtime.upstreams;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.exchange.progress.UpstreamUse;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.limit.PendingLimit;
import dev.gateway.upstream.pool.PoolCounts;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who gives way in an upstream for whose connections others wait. */
class CrowdedUpstreamsTest {
    private final ClientShares shares = new ClientShares();
    private final ClientMemory one = shares.enter("one");
    private final ClientMemory two = shares.enter("two");
    private final ClientMemory three = shares.enter("three");
    private final List<Loop> loops = new ArrayList<>(List.of(new Loop()));
    private final List<String> ended = new ArrayList<>();
    private final UpstreamValues settings = UpstreamValues.builder().protocol(Protocol.HTTP1);
    private Upstream upstream = upstream();
    private long now = TimeUnit.HOURS.toNanos(1);
    private long waitedMillis = 2_000; // those who wait

    private Upstream upstream() {
        return new Upstream("app", List.of(), RoundRobin::new, settings.build());
    }

    /** What an event loop answers. */
    private static final class Loop {
        final Map<Object, Integer> clients = new HashMap<>();
        final List<UpstreamUse.Idler> idlers = new ArrayList<>();
        int active;
        int connecting;
        int promised;
        int pending;

        CrowdedUpstreams.LoopUse use() {
            return new CrowdedUpstreams.LoopUse(
                    new UpstreamUse(clients, idlers),
                    new PoolCounts(0, active, connecting, pending),
                    promised,
                    Runnable::run);
        }
    }

    /** A client keeps connections busy, the first of them for the longest time. */
    private void hold(Loop loop, Object client, int idle, int others) {
        loop.clients.merge(client, idle + others, Integer::sum);
        loop.active += idle + others;
        for (int i = 0; i < idle; i++) {
            String name = client + " " + i + (loop == loops.get(0) ? "" : " elsewhere");
            loop.idlers.add(new UpstreamUse.Idler(client, 1_000L - i, () -> ended.add(name)));
        }
    }

    private void hold(Object client, int idle, int others) {
        hold(loops.get(0), client, idle, others);
    }

    private List<PendingLimit.Place> await(Object client, int requests) {
        List<PendingLimit.Place> places = new ArrayList<>();
        long since = now - TimeUnit.MILLISECONDS.toNanos(waitedMillis);
        for (int i = 0; i < requests; i++) {
            places.add(Objects.requireNonNull(upstream.pendingRequests().tryTake(client, since, place -> {})));
        }
        loops.get(0).pending += requests;
        return places;
    }

    private CrowdedUpstreams crowded() {
        return new CrowdedUpstreams(
                asked -> loops.stream()
                        .map(each -> CompletableFuture.completedFuture(
                                asked.contains(upstream)
                                        ? Map.of(upstream, each.use())
                                        : Map.<Upstream, CrowdedUpstreams.LoopUse>of()))
                        .toList(),
                Runnable::run,
                () -> now);
    }

    private void giveBack(List<PendingLimit.Place> places) {
        places.forEach(upstream.pendingRequests()::release);
        loops.get(0).pending -= places.size();
    }

    private Set<Object> last() {
        return upstream.pendingRequests().last();
    }

    private List<String> reviewTwice() {
        CrowdedUpstreams crowded = crowded();
        crowded.review(List.of(upstream));
        assertThat(ended).as("it may be over in a moment").isEmpty();
        crowded.review(List.of(upstream));
        return ended;
    }

    @Test
    void whoHasAllGivesWayToEachThatWaitsWhatHasLongestMadeNoProgress() {
        hold(one, 8, 0);
        await(two, 2);
        await(three, 1);
        assertThat(reviewTwice()).containsExactly("one 0", "one 1", "one 2");
    }

    @Test
    void nobodyGetsMoreThanAnEqualShare() {
        hold(one, 8, 0);
        await(two, 100);
        assertThat(reviewTwice()).hasSize(4);
    }

    @Test
    void twoThatHaveHalfEachDoNotShutOutAThird() {
        hold(one, 5, 0);
        hold(two, 4, 0);
        await(three, 100);
        assertThat(reviewTwice()).containsExactlyInAnyOrder("one 0", "one 1", "two 0");
    }

    @Test
    void whoHasMostOfAllGivesWayThoughAnotherHasMoreThatDoesNothing() {
        hold(one, 2, 5);
        hold(two, 3, 0);
        await(three, 1);
        assertThat(reviewTwice()).containsExactly("one 0");
    }

    @Test
    void whoHasNothingThatCanEndIsPassedOver() {
        hold(one, 0, 6);
        hold(two, 4, 0);
        await(three, 2);
        assertThat(reviewTwice()).containsExactly("two 0");
    }

    @Test
    void aClientAloneLosesNothing() {
        hold(one, 8, 0);
        await(one, 3);
        assertThat(reviewTwice()).isEmpty();
    }

    @Test
    void whoHasMoreThanItsShareGetsNothingOfOthers() {
        hold(one, 6, 0);
        hold(two, 2, 0);
        await(one, 3);
        assertThat(reviewTwice()).isEmpty();
    }

    /** Requests of the client that has most could get what others lose. */
    @Test
    void nobodyLosesMoreThanThoseNeedWhoHaveLessThanTheirShare() {
        hold(one, 20, 0);
        await(one, 50);
        await(two, 1);
        assertThat(reviewTwice()).containsExactly("one 0");
    }

    @Test
    void requestsThatWaitForAnEndpointThatAnswersTakeNothing() {
        hold(one, 8, 0);
        await(two, 3);
        loops.get(0).pending = 0;
        assertThat(reviewTwice()).isEmpty();
    }

    @Test
    void whileNobodyWaitsAClientMayHaveAll() {
        hold(one, 8, 0);
        CrowdedUpstreams crowded = crowded();
        List<PendingLimit.Place> places = await(two, 1);
        crowded.review(List.of(upstream));
        giveBack(places);
        crowded.review(List.of(upstream));
        await(two, 1);
        crowded.review(List.of(upstream));
        assertThat(ended).isEmpty();
    }

    /** Others may have waited at the review before, and may have got their connections. */
    @Test
    void whoHasWaitedForAMomentOnlyTakesNothing() {
        hold(one, 8, 0);
        waitedMillis = 200;
        await(two, 3);
        waitedMillis = 300;
        await(three, 1);
        assertThat(reviewTwice()).containsExactly("one 0");
    }

    @Test
    void whereNobodyMayWaitForLongHalfOfTheTimeIsLong() {
        settings.poolAcquireMillis(200);
        upstream = upstream();
        hold(one, 8, 0);
        waitedMillis = 90;
        await(two, 3);
        waitedMillis = 110;
        await(three, 1);
        assertThat(reviewTwice()).containsExactly("one 0");
    }

    @Test
    void aConnectionThatIsBeingMadeForThoseWhoWaitIsTheirs() {
        hold(one, 8, 0);
        loops.get(0).connecting = 2;
        loops.get(0).promised = 2;
        await(two, 3);
        assertThat(reviewTwice()).containsExactly("one 0");
    }

    /** Such as those to an endpoint that does not answer, while requests wait for another one. */
    @Test
    void aConnectionThatIsBeingMadeForOthersIsNot() {
        hold(one, 8, 0);
        loops.get(0).connecting = 8;
        await(two, 3);
        assertThat(reviewTwice()).hasSize(3);
    }

    /** As with event streams: nothing is ended that may be of use to its client. */
    @Test
    void whoHasMoreThanItsShareComesAfterOthers() {
        hold(one, 0, 7);
        hold(two, 0, 1);
        await(one, 3);
        await(three, 1);
        assertThat(reviewTwice()).isEmpty();
        assertThat(last()).containsExactly(one);
    }

    /** Its requests are short, and several of them ran by chance. */
    @Test
    void whoHadMuchAtOneLookOnlyTakesTurns() {
        hold(three, 0, 4);
        await(two, 2);
        CrowdedUpstreams crowded = crowded();
        crowded.review(List.of(upstream));
        loops.get(0).clients.clear();
        hold(one, 0, 4);
        crowded.review(List.of(upstream));
        assertThat(last()).isEmpty();
        crowded.review(List.of(upstream));
        assertThat(last()).containsExactly(one);
    }

    @Test
    void whoWaitsForAnEndpointThatCanBeReachedMakesNobodyComeLast() {
        hold(one, 0, 8);
        await(two, 1);
        loops.get(0).pending = 0;
        assertThat(reviewTwice()).isEmpty();
        assertThat(last()).isEmpty();
    }

    @Test
    void nobodyComesLastWhileNobodyHasWaitedForLong() {
        hold(one, 0, 8);
        waitedMillis = 200;
        await(two, 1);
        assertThat(reviewTwice()).isEmpty();
        assertThat(last()).isEmpty();
    }

    @Test
    void aClientAloneDoesNotComeLast() {
        hold(one, 0, 8);
        await(one, 3);
        assertThat(reviewTwice()).isEmpty();
        assertThat(last()).isEmpty();
    }

    @Test
    void connectionsOfUnixSocketsDoNotComeLast() {
        hold(new ConnectionInfo(0, "web", HttpVersion.HTTP_1_1, null, null, null), 0, 8);
        await(two, 1);
        assertThat(reviewTwice()).isEmpty();
        assertThat(last()).isEmpty();
    }

    @Test
    void whoCameLastDoesSoForAWhileButOnlyAsLongAsItHasMuch() {
        hold(one, 0, 8);
        List<PendingLimit.Place> places = await(two, 1);
        CrowdedUpstreams crowded = crowded();
        crowded.review(List.of(upstream));
        crowded.review(List.of(upstream));
        giveBack(places);
        now += TimeUnit.SECONDS.toNanos(5);
        await(one, 1);
        crowded.review(List.of(upstream));
        assertThat(last()).as("others may come again").containsExactly(one);
        hold(two, 0, 8);
        crowded.review(List.of(upstream));
        assertThat(last()).isEmpty();
    }

    @Test
    void whoCameLastTakesTurnsAgainAfterAWhile() {
        hold(one, 0, 8);
        List<PendingLimit.Place> places = await(two, 1);
        CrowdedUpstreams crowded = crowded();
        crowded.review(List.of(upstream));
        crowded.review(List.of(upstream));
        giveBack(places);
        now += TimeUnit.SECONDS.toNanos(9);
        crowded.review(List.of());
        assertThat(last()).containsExactly(one);
        now += TimeUnit.SECONDS.toNanos(1);
        crowded.review(List.of()); // also after a reload has replaced the upstream
        assertThat(last()).isEmpty();
    }

    /** Nobody knows whose they are, or how many people stand behind them. */
    @Test
    void connectionsOfUnixSocketsLoseNothing() {
        ConnectionInfo unix = new ConnectionInfo(0, "web", HttpVersion.HTTP_1_1, null, null, null);
        hold(unix, 6, 0);
        hold(one, 2, 0);
        await(two, 4);
        assertThat(reviewTwice()).isEmpty();
    }

    @Test
    void whoWaitsOnAUnixSocketGetsConnections() {
        ConnectionInfo unix = new ConnectionInfo(0, "web", HttpVersion.HTTP_1_1, null, null, null);
        hold(one, 8, 0);
        await(unix, 1);
        assertThat(reviewTwice()).containsExactly("one 0");
    }

    @Test
    void theGatewaysOwnRequestsTakeNothingFromClients() {
        hold(one, 8, 0);
        await(StreamOpener.class, 3);
        assertThat(reviewTwice()).isEmpty();
    }

    /** A connection of HTTP/1.1 that ends makes room on any event loop, a stream of HTTP/2 only on its own. */
    @Test
    void streamsEndOnTheEventLoopOnWhichOthersWait() {
        settings.protocol(Protocol.H2C);
        upstream = upstream();
        loops.add(new Loop());
        hold(loops.get(1), one, 8, 0);
        hold(one, 8, 0);
        loops.forEach(each -> each.active = 1);
        await(two, 2);
        assertThat(reviewTwice()).containsExactly("one 0", "one 1");
    }
}
