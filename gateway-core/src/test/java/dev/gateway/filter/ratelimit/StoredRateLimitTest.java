package dev.gateway.filter.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.StoreConfig.OnError;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.ratelimit.RateLimit.Limited;
import dev.gateway.filter.ratelimit.RateLimitConfig.Rate;
import dev.gateway.filter.ratelimit.RateLimitConfig.Unit;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class StoredRateLimitTest {
    private static final long SECOND = 1_000_000_000;
    private static final LimitKey ALL = new LimitKey(List.of());
    private static final LimitKey CLIENT = new LimitKey(List.of(LimitKey.client()));

    /** A question, which the test answers. */
    private record Asked(StoreClient.Question question, StoreClient.Answer answer) {
        String key() {
            return question.key();
        }
    }

    private final LimitTables tables = new LimitTables(() -> 0, 1 << 20);
    private final List<Asked> asked = new ArrayList<>();
    private final Executor loop = task -> {};
    private boolean up = true;
    private int failures;
    private final StoreClient client = new StoreClient() {
        @Override
        public boolean mayAsk() {
            return up;
        }

        @Override
        public boolean ask(Question question, Answer answer) {
            return up && asked.add(new Asked(question, answer));
        }

        @Override
        public int failures() {
            return failures;
        }
    };
    private long nanos;
    private long tick;

    private LimitStore store(OnError onError) {
        return new LimitStore("shared", new LimitStore.Place("gw:", onError, any -> client));
    }

    private Limited shared(String name, long requests, long burst, LimitKey key, LimitStore store) {
        Rate rate = new Rate(Unit.REQUESTS, requests, Duration.ofSeconds(1), burst);
        return new Limited(
                new SharedLimit(tables, rate, "rule:" + name, store),
                key,
                new LimitPolicy(name, requests, 1, null),
                "limit " + name);
    }

    private Limited inFlight() {
        return new Limited(
                new ConcurrencyLimit(tables, 1),
                ALL,
                new LimitPolicy("one", 1, 0, LimitPolicy.CONCURRENT_REQUESTS),
                "limit one");
    }

    private RateLimit filter(Limited... limits) {
        return new RateLimit(tables, List.of(limits), true);
    }

    /** A request and its context. */
    private final class Request {
        final FakeContext context = FakeContext.from("192.0.2.1").on(loop);
        final Verdict first;

        Request(RateLimit filter) {
            this(filter, Long.MAX_VALUE);
        }

        Request(RateLimit filter, long room) {
            context.room = room;
            context.nanos = nanos;
            context.tick = tick;
            RequestHead head = Heads.get("a", "/");
            first = filter.onRequest(head, context);
        }

        boolean waits() {
            return first instanceof Verdict.Wait && context.resumed.isEmpty();
        }

        Verdict verdict() {
            if (!(first instanceof Verdict.Wait)) {
                return first;
            }
            assertThat(context.resumed).hasSize(1);
            return context.resumed.get(0);
        }

        boolean passed() {
            return verdict() == Verdict.PROCEED;
        }

        String seconds() {
            return ((Verdict.Refuse) verdict())
                    .fields()
                    .toString()
                    .lines()
                    .findFirst()
                    .orElse("");
        }
    }

    private void answer(int index, int granted, long lacking) {
        asked.get(index).answer.onTaken(granted, lacking * Pace.REQUEST);
    }

    @Test
    void aRequestWaitsForTheStoreAndIsToldWhatIsLeft() {
        RateLimit filter = filter(shared("mine", 4, 4, ALL, store(OnError.LOCAL)));
        Request request = new Request(filter);
        assertThat(request.waits()).isTrue();
        assertThat(asked).hasSize(1);
        assertThat(asked.get(0).key()).isEqualTo("gw:rule:mine");
        assertThat(asked.get(0).question.wanted()).isEqualTo(1);
        assertThat(asked.get(0).question.capacity()).isEqualTo(4 * StoreClient.REQUEST);
        assertThat(asked.get(0).question.ticksPerMicro() * 1_000_000)
                .isCloseTo(4.0 * StoreClient.REQUEST, Offset.offset(0.01));
        answer(0, 1, 3);
        assertThat(request.passed()).isTrue();
        ResponseHead response = new ResponseHead(200, null, Heads.fields(), 0);
        filter.onResponse(response, request.context);
        assertThat(response.fields().toString()).contains("RateLimit: \"mine\";r=1;t=1");
    }

    @Test
    void aRequestIsChargedForWhatItHoldsUntilTheStoreAnswers() {
        RateLimit filter = filter(shared("mine", 4, 4, CLIENT, store(OnError.LOCAL)));
        Request request = new Request(filter);
        assertThat(request.context.held).isEqualTo(StoredCheck.BYTES);
        answer(0, 1, 3);
        assertThat(request.passed()).isTrue();
        assertThat(request.context.held).isZero();
        up = false;
        Request undecided = new Request(filter);
        assertThat(undecided.passed()).isTrue();
        assertThat(undecided.context.held).as("of one that does not wait").isZero();
    }

    @Test
    void aRequestWithoutMemoryToWaitTakesNothingFromAnyLimit() {
        RateLimit filter = filter(shared("mine", 4, 4, ALL, store(OnError.LOCAL)), inFlight());
        Request refused = new Request(filter, StoredCheck.BYTES - 1);
        assertThat(refused.verdict()).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> assertThat(
                        refuse.failure().cause())
                .isEqualTo(Cause.OVERLOAD));
        assertThat(asked).isEmpty();
        assertThat(refused.context.held).isZero();
        assertThat(new Request(filter).waits())
                .as("the place in flight is free")
                .isTrue();
    }

    @Test
    void aKeyThatWasRefusedIsAskedForAgainOnceAnotherRequestHasGivenBack() {
        LimitStore store = store(OnError.DENY);
        RateLimit filter = filter(shared("one", 1, 1, CLIENT, store), shared("two", 4, 1, CLIENT, store));
        Request first = new Request(filter);
        answer(0, 1, 1); // it waits for the second limit now
        Request second = new Request(filter);
        answer(2, 0, 1);
        assertThat(second.passed()).isFalse();
        assertThat(new Request(filter).passed()).as("without a question").isFalse();
        assertThat(asked).hasSize(3);
        answer(1, 0, 1);
        assertThat(first.passed()).isFalse();
        assertThat(asked.get(3).question.wanted()).isEqualTo(-1);
        assertThat(asked.get(3).key()).isEqualTo(asked.get(0).key());
        answer(3, -1, 0);
        nanos += SECOND / 2; // in which the second limit forgets its refusal, and the first one would not
        new Request(filter);
        assertThat(asked).hasSize(5);
    }

    @Test
    void requestsOfOneKeyShareTheNextQuestion() {
        RateLimit filter = filter(shared("mine", 4, 4, CLIENT, store(OnError.LOCAL)));
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            requests.add(new Request(filter));
        }
        assertThat(asked).hasSize(1);
        answer(0, 1, 1);
        assertThat(requests.get(0).passed()).isTrue();
        assertThat(asked).hasSize(2);
        assertThat(asked.get(1).question.wanted()).isEqualTo(3);
        answer(1, 2, 4);
        assertThat(requests.get(1).passed()).isTrue();
        assertThat(requests.get(2).passed()).isTrue();
        assertThat(requests.get(3).seconds()).isEqualTo("Retry-After: 1");
    }

    @Test
    void whatTheStoreRefusesStaysRefusedUntilThereIsRoom() {
        LimitStore store = store(OnError.LOCAL);
        RateLimit filter = filter(shared("mine", 4, 4, ALL, store));
        Request first = new Request(filter);
        answer(0, 0, 4);
        assertThat(first.passed()).isFalse();
        nanos = SECOND / 4 - 1;
        assertThat(new Request(filter).passed()).isFalse();
        assertThat(asked).hasSize(1);
        nanos = SECOND / 4;
        assertThat(new Request(filter).waits()).isTrue();
        assertThat(asked).hasSize(2);
        assertThat(store.denied()).isEqualTo(2);
    }

    @Test
    void ofABusyKeySomeRequestsAreTakenInAdvance() {
        RateLimit filter = filter(shared("busy", 1_000, 1_000, ALL, store(OnError.LOCAL)));
        List<Request> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(new Request(filter));
        }
        answer(0, 1, 1);
        assertThat(asked.get(1).question.wanted()).isEqualTo(20); // 19 that wait, and the 20 of this period less those
        answer(1, 20, 21);
        assertThat(waiting).allMatch(Request::passed);
        assertThat(new Request(filter).passed()).isTrue();
        assertThat(asked).hasSize(2);
        assertThat(new Request(filter).waits()).isTrue();
        assertThat(asked.get(2).question.wanted()).isEqualTo(1 + 10); // no more than 1 % of the burst
    }

    @Test
    void whatWasTakenInAdvanceIsLostInAQuietTime() {
        RateLimit filter = filter(shared("busy", 1_000, 1_000, ALL, store(OnError.LOCAL)));
        new Request(filter);
        new Request(filter);
        answer(0, 1, 1);
        answer(1, 2, 3);
        nanos = 2 * SECOND;
        assertThat(new Request(filter).waits()).isTrue();
        assertThat(asked.get(2).question.wanted()).isEqualTo(1);
    }

    @Test
    void aBusyKeyThatIsRefusedIsNotAskedAboutForEachPermit() {
        RateLimit filter = filter(shared("busy", 1_000, 1_000, ALL, store(OnError.LOCAL)));
        new Request(filter);
        answer(0, 0, 1_000);
        nanos = 9_999_999;
        assertThat(new Request(filter).passed()).isFalse();
        nanos = 10_000_000;
        assertThat(new Request(filter).waits()).isTrue();
    }

    @Test
    void whileTheStoreIsAwayTheGatewayDecides() {
        LimitStore store = store(OnError.LOCAL);
        RateLimit filter = filter(shared("mine", 2, 2, CLIENT, store));
        Request waiting = new Request(filter);
        asked.get(0).answer.onFailure();
        assertThat(waiting.passed()).isTrue();
        up = false;
        assertThat(new Request(filter).passed()).isTrue();
        assertThat(new Request(filter).seconds()).isEqualTo("Retry-After: 1");
        assertThat(store.undecided()).isEqualTo(3);
    }

    @Test
    void whatAStoreRefusedBeforeItFailedIsRefusedNoMore() {
        RateLimit filter = filter(shared("mine", 1, 1, ALL, store(OnError.ALLOW)));
        new Request(filter);
        answer(0, 0, 1);
        assertThat(new Request(filter).passed()).isFalse();
        failures++;
        up = false;
        assertThat(new Request(filter).passed()).isTrue();
        up = true;
        assertThat(new Request(filter).waits()).isTrue();
    }

    @Test
    void whatWasTakenInAdvanceBeforeAStoreFailedIsLost() {
        RateLimit filter = filter(shared("busy", 1_000, 1_000, ALL, store(OnError.DENY)));
        List<Request> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(new Request(filter));
        }
        answer(0, 1, 1);
        answer(1, 20, 21);
        assertThat(waiting).allMatch(Request::passed);
        failures++;
        up = false;
        assertThat(new Request(filter).passed()).isFalse();
    }

    @Test
    void whileTheStoreIsAwayAllOrNoRequestsMayPass() {
        up = false;
        RateLimit allowing = filter(shared("mine", 1, 1, ALL, store(OnError.ALLOW)));
        assertThat(new Request(allowing).passed()).isTrue();
        assertThat(new Request(allowing).passed()).isTrue();
        RateLimit denying = filter(shared("mine", 1, 1, ALL, store(OnError.DENY)));
        Verdict.Refuse refusal = (Verdict.Refuse) new Request(denying).verdict();
        assertThat(refusal.failure().detail()).isEqualTo("store shared does not answer");
        assertThat(refusal.fields().toString()).startsWith("Retry-After: 1\n");
    }

    @Test
    void aRequestThatIsGoneTakesNothing() {
        RateLimit filter = filter(shared("mine", 4, 4, ALL, store(OnError.LOCAL)), inFlight());
        Request gone = new Request(filter);
        ((Verdict.Wait) gone.first).cancel().run();
        answer(0, 1, 1);
        assertThat(gone.context.resumed).isEmpty();
        assertThat(new Request(filter).passed()).isTrue(); // by what was granted, and the place in flight is free
        assertThat(asked).hasSize(1);
    }

    @Test
    void aLimitThatRefusesLetsTheOthersHaveTheirsBack() {
        LimitStore store = store(OnError.LOCAL);
        RateLimit filter = filter(shared("first", 9, 9, ALL, store), shared("second", 1, 1, ALL, store));
        Request request = new Request(filter);
        answer(0, 1, 1);
        assertThat(asked.get(1).key()).isEqualTo("gw:rule:second");
        answer(1, 0, 1);
        assertThat(request.passed()).isFalse();
        assertThat(asked).hasSize(3);
        assertThat(asked.get(2).key()).isEqualTo("gw:rule:first");
        assertThat(asked.get(2).question.wanted()).isEqualTo(-1);
        assertThat(new Request(filter).passed()).isFalse(); // known: the first is not even asked
        assertThat(asked).hasSize(3);
    }

    @Test
    void aLimitThatRefusesNoMoreByNowDoesNotSpareTheOthers() {
        LimitStore store = store(OnError.LOCAL);
        RateLimit filter = filter(shared("first", 9, 9, ALL, store), shared("second", 1, 1, ALL, store));
        new Request(filter);
        answer(0, 1, 1);
        answer(1, 0, 1);
        asked.clear();
        tick = 1; // so that at some of these times the second limit refuses when it is first looked at, and no more
        // then
        for (nanos = SECOND - 8; asked.isEmpty(); nanos++) {
            assertThat(nanos).isLessThanOrEqualTo(SECOND);
            Request request = new Request(filter);
            assertThat(request.waits() || !request.passed()).isTrue();
        }
        assertThat(asked.get(0).key()).isEqualTo("gw:rule:first");
    }

    @Test
    void aLimitThatDecidedHereGetsItsOwnBack() {
        LimitStore store = store(OnError.LOCAL);
        RateLimit filter = filter(shared("first", 2, 2, ALL, store), shared("second", 1, 1, ALL, store));
        up = false;
        assertThat(new Request(filter).passed()).isTrue();
        for (int i = 0; i < 5; i++) {
            Verdict.Refuse refusal = (Verdict.Refuse) new Request(filter).verdict();
            assertThat(refusal.failure().detail()).isEqualTo("limit second");
        }
        assertThat(asked).isEmpty();
    }

    @Test
    void onlySoManyRequestsWait() {
        RateLimit filter = filter(shared("mine", 9, 9, ALL, store(OnError.ALLOW)));
        Request[] requests = new Request[LoopStore.MOST_WAITING];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new Request(filter);
        }
        assertThat(requests).allMatch(Request::waits);
        assertThat(new Request(filter).passed()).isTrue();
        asked.get(0).answer.onFailure();
        assertThat(requests).allMatch(Request::passed);
        assertThat(new Request(filter).waits()).isTrue();
    }

    @Test
    void keysBeyondTheTableAreAskedAboutAgain() {
        LoopStore store = new LoopStore(client, true);
        RequestLimit limit = new RequestLimit(tables, new Rate(Unit.REQUESTS, 9, Duration.ofSeconds(1), 9));
        int keys = 3 * LoopStore.PLACES;
        for (int i = 0; i < keys; i++) {
            asked.clear();
            assertThat(store.take(limit, ((long) i << 32) + 1, new Waiter(), i)).isEqualTo(LoopStore.WAITING);
            answer(0, 0, 9);
        }
        int known = 0;
        for (int i = 0; i < keys; i++) {
            known += store.refuse(limit, ((long) i << 32) + 1, keys) == LoopStore.UNDECIDED ? 0 : 1;
        }
        assertThat(known).isEqualTo(LoopStore.PLACES);
        assertThat(store.waiting()).isZero();
    }

    @Test
    void aRequestThatGoesBecauseOfWhatAnotherIsToldHearsNothing() {
        LoopStore store = new LoopStore(client, true);
        RequestLimit limit = new RequestLimit(tables, new Rate(Unit.REQUESTS, 9, Duration.ofSeconds(1), 9));
        Waiter second = new Waiter();
        Waiter first = new Waiter();
        first.then = () -> second.gone = true;
        store.take(limit, 1, first, 0);
        store.take(limit, 1, second, 0);
        asked.get(0).answer.onFailure();
        assertThat(first.heard).isTrue();
        assertThat(second.heard).isFalse();
    }

    /** It keeps nothing of its exchange that could answer. */
    @Test
    void aRequestThatIsGoneIsAskedNothing() {
        LoopStore store = new LoopStore(client, true);
        RequestLimit limit = new RequestLimit(tables, new Rate(Unit.REQUESTS, 9, Duration.ofSeconds(1), 9));
        Waiter first = new Waiter();
        Waiter second = new Waiter();
        store.take(limit, 1, first, 0);
        store.take(limit, 1, second, 0);
        first.gone = true;
        asked.get(0).answer.onTaken(2, 0);
        assertThat(first.heard).isFalse();
        assertThat(second.heard).isTrue();
    }

    /** A request that waits, without a filter. */
    private static final class Waiter implements LoopStore.Waiter {
        Runnable then = () -> {};
        boolean gone;
        boolean heard;

        @Override
        public String storeKey() {
            return "";
        }

        @Override
        public boolean isGone() {
            return gone;
        }

        @Override
        public void onDecided(long result) {
            heard = true;
            then.run();
        }

        @Override
        public long nanoTime() {
            assertThat(gone).isFalse();
            return 0;
        }
    }
}
