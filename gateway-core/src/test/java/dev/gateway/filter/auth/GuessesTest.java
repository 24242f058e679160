package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.auth.Guesses.Entry;
import dev.gateway.stream.ClientNetwork;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GuessesTest {
    private long now;
    private final Queue<Runnable> due = new ArrayDeque<>();
    private final Queue<Long> dueAt = new ArrayDeque<>();
    private final List<String> turns = new ArrayList<>();
    private final Guesses guesses = new Guesses(() -> now, (task, nanos) -> {
        due.add(task);
        dueAt.add(now + nanos);
    });

    private static ClientNetwork client(String address) {
        try {
            return ClientNetwork.of(InetAddress.getByName(address));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private Entry enter(String address, boolean suspected) {
        return guesses.enter("eve", client(address), suspected, may -> turns.add(address + (may ? "" : " too late")));
    }

    private void passes(long millis) {
        long until = now + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!due.isEmpty() && Objects.requireNonNull(dueAt.peek()) <= until) {
            now = dueAt.remove();
            due.remove().run();
        }
        now = until;
    }

    private void useUp() {
        for (int i = 0; i < Guesses.BURST; i++) {
            assertThat(enter("2001:db8:0:" + i + "::1", false)).isEqualTo(Entry.NOW);
        }
    }

    @Test
    void inAnyMinuteAtMost100AreChecked() {
        int checked = 0;
        int mostInAMinute = 0;
        for (int second = 0; second < 300; second++) {
            int before = turns.size();
            for (int i = 0; i < 50; i++) {
                checked += enter("203.0." + second % 250 + "." + i, i % 2 == 0) == Entry.NOW ? 1 : 0;
            }
            passes(1000);
            checked += (int) turns.subList(before, turns.size()).stream()
                    .filter(turn -> !turn.endsWith("late"))
                    .count();
            if (second % 60 == 59) {
                mostInAMinute = Math.max(mostInAMinute, checked);
                checked = 0;
            }
        }
        assertThat(mostInAMinute).isLessThanOrEqualTo(100).isGreaterThan(70);
        passes(10_000);
        assertThat(due).as("nothing is left to be done").isEmpty();
    }

    @Test
    void aNewClientOfAnotherNetworkIsNext() {
        useUp();
        for (int i = 0; i < 30; i++) {
            Entry entry = enter("2001:db8:1:" + i + "::1", false);
            assertThat(entry).isEqualTo(i < Guesses.WAITING_PER_NETWORK ? Entry.LATER : Entry.NEVER);
        }
        assertThat(enter("192.0.2.7", false)).isEqualTo(Entry.LATER);
        passes(1600);
        assertThat(turns).containsExactly("192.0.2.7", "2001:db8:1:0::1");
        passes(60_000);
        assertThat(turns).hasSize(9).filteredOn(turn -> turn.endsWith("late")).hasSize(3);
    }

    /** Seven turns take longer than anybody waits. */
    @Test
    void aNewClientIsNextHoweverManyOtherNetworksHaveGuessed() {
        useUp();
        guessFrom(12, 15_000);
        for (int i = 0; i < 3; i++) {
            turns.clear();
            assertThat(enter("200.7." + i + ".9", false)).isEqualTo(Entry.LATER);
            guessFrom(12, 800);
            assertThat(turns).filteredOn(turn -> !turn.endsWith("late")).startsWith("200.7." + i + ".9");
            guesses.giveBack("eve", client("200.7." + i + ".9")); // it was right
        }
    }

    /** No address guesses twice, so none of them has failed before. */
    private void guessFrom(int networks, long millis) {
        for (int i = 0; i < millis / 100; i++) {
            for (int network = 0; network < networks; network++) {
                enter(30 + network + ".1." + now % 251 + "." + i % 256, false);
            }
            passes(100);
        }
    }

    /** Such as those whose password was found to be wrong while they waited. */
    @Test
    void whatIsNotCheckedDoesNotMakeANetworkNew() {
        useUp();
        enter("30.0.0.1", false);
        enter("30.0.0.2", false);
        passes(1600);
        assertThat(turns).containsExactly("30.0.0.1", "30.0.0.2");
        assertThat(enter("30.0.0.3", false)).isEqualTo(Entry.LATER);
        assertThat(enter("31.0.0.1", false)).isEqualTo(Entry.LATER);
        guesses.giveBack("eve", client("30.0.0.2"));
        assertThat(turns).endsWith("31.0.0.1");
    }

    @Test
    void suspectsComeLast() {
        useUp();
        for (int i = 1; i < 5; i++) {
            assertThat(enter(i + ".0.2.7", true)).isEqualTo(Entry.LATER);
        }
        assertThat(enter("192.0.2.8", false)).isEqualTo(Entry.LATER);
        passes(800);
        assertThat(turns).containsExactly("192.0.2.8");
    }

    @Test
    void aRightPasswordLetsTheNextOneIn() {
        useUp();
        assertThat(enter("192.0.2.7", false)).isEqualTo(Entry.LATER);
        guesses.giveBack("eve", client("2001:db8::1"));
        assertThat(turns).containsExactly("192.0.2.7");
        guesses.giveBack("eve", client("192.0.2.7"));
        assertThat(enter("192.0.2.7", false)).isEqualTo(Entry.NOW);
        assertThat(enter("192.0.2.7", false)).isEqualTo(Entry.LATER);
    }

    @Test
    void whoLeavesHasNoTurn() {
        useUp();
        Guesses.Guesser gone = may -> turns.add("gone");
        assertThat(guesses.enter("eve", client("192.0.2.7"), false, gone)).isEqualTo(Entry.LATER);
        assertThat(enter("192.0.2.8", false)).isEqualTo(Entry.LATER);
        guesses.leave("eve", gone);
        passes(2000);
        assertThat(turns).containsExactly("192.0.2.8");
    }

    @Test
    void usersAreForgotten() {
        for (int i = 0; i < 30_000; i++) {
            assertThat(guesses.enter("user" + i, client("192.0.2.7"), false, may -> {}))
                    .isEqualTo(Entry.NOW);
        }
        assertThat(guesses.size()).isLessThanOrEqualTo(10_000);
    }

    /** Else a guesser would only have to name many others. */
    @Test
    void usersOfWhomManyWereCheckedAreForgottenLast() {
        useUp();
        for (int i = 0; i < 30_000; i++) {
            guesses.enter("user" + i, client("192.0.2.7"), false, may -> {});
        }
        assertThat(enter("192.0.2.7", false)).isEqualTo(Entry.LATER);
    }
}
