package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.route.HedgeDelay;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Seeds;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Both attempts of hedged requests, whose events come in any order: the client gets one response, and each stream and each
 * opening ends once.
 */
class HedgeModelTest extends ExchangeRig {
    private static final int EXCHANGES = 4000;
    private static final int MOST_EVENTS = 60;

    private final IdentityHashMap<FakeOpening, Side> sides = new IdentityHashMap<>();

    /** How far an upstream's side of an attempt is. */
    private enum Side {
        OPENING,
        OPEN,
        /** The head was sent, and there is more. */
        ANSWERING,
        /** It has failed, or all of the response was sent. */
        ENDED
    }

    @ParameterizedTest
    @Seeds(3)
    void whateverTheOrderEveryAttemptEndsOnce(long seed) {
        endpoints =
                List.of(FIRST, SECOND, new Endpoint(2, "app3.test", 9000, 1), new Endpoint(3, "app4.test", 9000, 1));
        balancer = new RoundRobin(new Upstream("turns", endpoints, RoundRobin::new, policy()).hosts());
        settings.hedging = new Route.Hedging(HedgeDelay.fixed(50), 100, Set.of(Method.GET));
        retry = RetryValues.of(
                2, RetryValues.ALL, Set.of(503), "GET", RetryValues.waiting(20, true, 200, 0), Budget.UNLIMITED);
        timeouts = new Route.Timeouts(800, 300, 0, TunnelTimeouts.NONE);
        responseHeadersMillis = 250;
        route();
        Random random = new Random(seed);
        Map<ExchangeRecord.HedgeResult, Integer> results = new EnumMap<>(ExchangeRecord.HedgeResult.class);
        for (int i = 0; i < EXCHANGES; i++) {
            opener.openings.clear();
            sides.clear();
            run(new Random(random.nextLong()), "seed " + seed + ", exchange " + i);
            ExchangeRecord record = records.completed.get(records.completed.size() - 1);
            if (record.hedge() != null) {
                results.merge(record.hedge(), 1, Integer::sum);
            }
        }
        assertThat(results).as("all that can become of one").hasSize(3);
        assertThat(results.values()).allMatch(count -> count > EXCHANGES / 50);
    }

    private void run(Random random, String name) {
        FakeServerStream downstream = new FakeServerStream();
        int completed = records.completed.size();
        StreamEvents events = handler().onRequest(downstream, head("GET", "/"), true);
        events.onReadComplete();
        boolean gone = false;
        for (int i = 0; handler().active() > 0; i++) {
            if (i > MOST_EVENTS || random.nextInt(60) == 0) {
                gone = true;
                events.onReset(GONE);
            } else if (random.nextInt(3) == 0) {
                pass(10L * (1 + random.nextInt(6)));
            } else {
                happen(random);
            }
        }
        assertThat(records.completed).as(name).hasSize(completed + 1);
        ExchangeRecord record = records.completed.get(completed);
        assertThat(record.attempts).as(name).isEqualTo(opener.openings.size());
        long heads =
                downstream.heads.stream().filter(head -> head.status() >= 200).count();
        assertThat(heads).as(name).isLessThanOrEqualTo(1);
        assertThat(gone || (heads == 1 && (downstream.ended || downstream.reset != null)))
                .as(name)
                .isTrue();
        for (FakeOpening each : opener.openings) {
            Side side = side(each);
            boolean given = each.cancelled || each.stream.reset != null;
            assertThat(given || side == Side.ENDED)
                    .as("%s: %s ends", name, side)
                    .isTrue();
            assertThat(each.cancelled && side != Side.OPENING)
                    .as("%s: only what is not answered is cancelled", name)
                    .isFalse();
        }
        assertThat(records.meters).as(name).allMatch(each -> each.active() == 0);
        records.meters.clear();
        assertThat(records.attempts).as(name).hasSize(records.attemptsBegun);
    }

    private Side side(FakeOpening opening) {
        return sides.getOrDefault(opening, Side.OPENING);
    }

    /** An upstream does something, unless nobody listens any more. */
    private void happen(Random random) {
        List<FakeOpening> live = new ArrayList<>();
        for (FakeOpening each : opener.openings) {
            if (!each.cancelled && each.stream.reset == null && side(each) != Side.ENDED) {
                live.add(each);
            }
        }
        if (live.isEmpty()) {
            pass(10);
            return;
        }
        FakeOpening opening = live.get(random.nextInt(live.size()));
        switch (side(opening)) {
            case OPENING -> open(opening, random);
            case OPEN -> answer(opening, random);
            case ANSWERING -> goOn(opening, random);
            case ENDED -> throw new IllegalStateException();
        }
    }

    private void open(FakeOpening opening, Random random) {
        int choice = random.nextInt(10);
        if (choice == 0) {
            opening.callback.onMoved(endpoints.get(random.nextInt(endpoints.size())));
        } else if (choice == 1) {
            sides.put(opening, Side.ENDED);
            opening.fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        } else if (choice == 2) {
            opening.callback.onDialed(1000);
        } else {
            sides.put(opening, Side.OPEN);
            opening.succeed();
        }
    }

    private void answer(FakeOpening opening, Random random) {
        int[] statuses = {200, 200, 200, 404, 500, 503, 503, 101};
        int choice = random.nextInt(14);
        if (choice == 0) {
            opening.events.onHead(response(103), false);
        } else if (choice == 1) {
            sides.put(opening, Side.ENDED);
            opening.events.onReset(broken(random));
        } else if (choice < 5) {
            int status = statuses[random.nextInt(statuses.length)];
            boolean last = status != 101 && random.nextBoolean();
            sides.put(opening, last ? Side.ENDED : Side.ANSWERING);
            opening.events.onHead(response(status), last);
        }
    }

    private void goOn(FakeOpening opening, Random random) {
        int choice = random.nextInt(6);
        if (choice == 0) {
            sides.put(opening, Side.ENDED);
            opening.events.onReset(broken(random));
        } else if (choice == 1) {
            sides.put(opening, Side.ENDED);
            opening.events.onTrailers(new Fields());
        } else if (choice == 2) {
            opening.events.onWritable();
        } else {
            boolean last = choice == 3;
            if (last) {
                sides.put(opening, Side.ENDED);
            }
            opening.events.onData(bytes("x"), last);
            opening.events.onReadComplete();
        }
    }

    private static Failure broken(Random random) {
        RetrySafety[] safeties = RetrySafety.values();
        return failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, safeties[random.nextInt(safeties.length)]);
    }
}
