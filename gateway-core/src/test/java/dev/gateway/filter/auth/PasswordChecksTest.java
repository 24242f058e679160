package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Auth;
import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.AccountFiles.State;
import dev.gateway.message.Heads;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Identity;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two entries whose passwords wait in one queue. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PasswordChecksTest {
    private static final String SUSPECT = "192.0.2.66";

    private volatile List<Thread> loops = List.of(); // that meet where the queue is found full
    private final AtomicInteger inside = new AtomicInteger();
    private final AuthWork work = new AuthWork(task -> meet(), Runnable::run, () -> 0);

    /** Takes what it is given, until there are two loops: then there is no room, and neither is told before both know. */
    private void meet() {
        if (loops.isEmpty()) {
            return;
        }
        inside.incrementAndGet();
        while (inside.get() < 2 && loops.stream().noneMatch(PasswordChecksTest::waitsForALock)) {
            Thread.onSpinWait();
        }
        throw new RejectedExecutionException();
    }

    private static boolean waitsForALock(Thread loop) {
        return loop.getState() == Thread.State.BLOCKED;
    }

    private static Verdict ask(ProxyAuthentication entry, String user, String password, String client) {
        String shown = Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
        return entry.onRequest(
                Heads.request("CONNECT", "a.example:443", "", "Proxy-Authorization: Basic " + shown),
                FakeContext.from(client));
    }

    /** Each of them pushes a check out of the queue that may be the other's, whose logins are told under the other's lock. */
    @Test
    void theirLoopsNeverWaitForEachOther(@TempDir Path directory) throws Exception {
        Path users = Files.writeString(directory.resolve("users"), "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
        Auth settings = new Auth(Position.NOWHERE, "r", users, null, null, false);
        work.failed(FakeContext.from(SUSPECT).client().network(), "somebody");
        for (int round = 0; round < 20; round++) {
            List<ProxyAuthentication> entries = List.of(
                    new ProxyAuthentication(settings, work, CacheMemory.UNLIMITED, () -> 0),
                    new ProxyAuthentication(settings, work, CacheMemory.UNLIMITED, () -> 0));
            for (ProxyAuthentication entry : round % 2 == 0 ? entries : List.of(entries.get(1), entries.get(0))) {
                assertThat(ask(entry, "ann" + round, "wrong", SUSPECT)).isInstanceOf(Verdict.Wait.class);
            }
            inside.set(0);
            String user = "ann" + round; // guesses at one user would have to wait
            List<Thread> threads = List.of(
                    new Thread(() -> ask(entries.get(0), user, "one", "192.0.2.1")),
                    new Thread(() -> ask(entries.get(1), user, "two", "192.0.2.2")));
            loops = threads;
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            loops = List.of();
        }
    }

    /** Who shows a password, and what became of it. */
    private static final class Shower implements PasswordChecks.Requester {
        private PasswordChecks.@Nullable Check check;
        private int asked;
        private int told;

        @Override
        public ClientNetwork client() {
            return FakeContext.from(SUSPECT).client().network();
        }

        @Override
        public Object user() {
            return "ann";
        }

        @Override
        public @Nullable Identity check(State state) {
            asked++;
            return null;
        }

        @Override
        public void waitsFor(PasswordChecks.Check made) {
            check = made;
        }

        @Override
        public void onChecked(@Nullable Identity identity) {
            told++;
        }

        @Override
        public void onEvicted() {
            throw new AssertionError("there is room for all");
        }
    }

    /** A request that has ended must not be held until others have had their turn. */
    @Test
    void whoHasLeftIsNotAskedForThePasswordThatOthersShowToo() {
        List<Runnable> waiting = new ArrayList<>();
        AuthWork queue = new AuthWork(waiting::add, Runnable::run, () -> 0);
        VerifiedCredentials<Identity> known = new VerifiedCredentials<>(() -> 0, CacheMemory.UNLIMITED);
        PasswordChecks checks =
                new PasswordChecks(queue, known, new VerifiedCredentials<>(() -> 0, CacheMemory.UNLIMITED));
        State state = new State(Accounts.Users.NONE, Accounts.Groups.NONE, Accounts.Tokens.NONE);
        Shower first = new Shower();
        Shower second = new Shower();
        Digest digest = known.digest(new byte[] {1});
        checks.add(first, digest, state);
        checks.add(second, digest, state);
        Objects.requireNonNull(first.check).leave(first);
        waiting.forEach(Runnable::run);
        assertThat(List.of(first.asked, first.told)).containsExactly(0, 0);
        assertThat(List.of(second.asked, second.told)).containsExactly(1, 1);
    }
}
