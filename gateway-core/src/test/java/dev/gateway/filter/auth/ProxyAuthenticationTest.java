package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.gateway.config.ConnectConfig.Auth;
import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProxyAuthenticationTest {
    /** "secret" and "sch\u00f6n:1". */
    private static final String ANN = "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";

    private static final String JURGEN = "j\u00fcrgen:$2b$04$zSQcyG/mH.UWlwUFo5sr2uaEkRJeWZE1Oo5RTPcnQSQLKf0rNbg0K\n";

    private Path users;
    private Path groups;
    private Path tokens;
    private final Queue<Runnable> hashing = new ArrayDeque<>();
    private final Queue<Runnable> files = new ArrayDeque<>();
    private int most = Integer.MAX_VALUE;
    private long now;

    @BeforeEach
    void makeFiles(@TempDir Path directory) throws IOException {
        users = Files.writeString(directory.resolve("users"), ANN + JURGEN);
        groups = Files.writeString(directory.resolve("groups"), "builders: ann ci\n");
        tokens = Files.writeString(directory.resolve("tokens"), "ci:tok-1\n");
    }

    private ProxyAuthentication filter() throws AuthFileException {
        return filter(new Auth(Position.NOWHERE, "gate \"way\"", users, tokens, groups, true));
    }

    private ProxyAuthentication filter(Auth settings) throws AuthFileException {
        return new ProxyAuthentication(
                settings, new AuthWork(queue(hashing), queue(files), () -> now), CacheMemory.UNLIMITED, () -> now);
    }

    private Executor queue(Queue<Runnable> tasks) {
        return task -> {
            if (tasks.size() >= most) {
                throw new RejectedExecutionException();
            }
            tasks.add(task);
        };
    }

    private static int run(Queue<Runnable> tasks) {
        int count = 0;
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
            count++;
        }
        return count;
    }

    private static RequestHead connect(String... fields) {
        return Heads.request("CONNECT", "a.example:443", "", fields);
    }

    private static String basic(String user, String password) {
        return "Proxy-Authorization: Basic "
                + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    /** Asks, and does all the work that the answer takes. */
    private Verdict ask(ProxyAuthentication filter, FakeContext context, String... fields) {
        Verdict verdict = filter.onRequest(connect(fields), context);
        if (!(verdict instanceof Verdict.Wait)) {
            return verdict;
        }
        run(files);
        context.runLoop();
        run(hashing);
        context.runLoop();
        assertThat(context.resumed).hasSize(1);
        return context.resumed.get(0);
    }

    private static Failure failure(Verdict verdict) {
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        return ((Verdict.Refuse) verdict).failure();
    }

    private static List<String> challenges(Verdict verdict) {
        List<String> challenges = new ArrayList<>();
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        var fields = ((Verdict.Refuse) verdict).fields();
        for (int i = fields.find(FieldName.PROXY_AUTHENTICATE, 0);
                i >= 0;
                i = fields.find(FieldName.PROXY_AUTHENTICATE, i + 1)) {
            challenges.add(fields.value(i).toString());
        }
        return challenges;
    }

    @Test
    void whoShowsNothingIsAskedForEveryKindThatIsAccepted() throws Exception {
        Verdict verdict = ask(filter(), FakeContext.from("192.0.2.9"));

        assertThat(failure(verdict).cause()).isEqualTo(Cause.PROXY_AUTH);
        assertThat(failure(verdict).status()).isEqualTo(407);
        assertThat(challenges(verdict))
                .containsExactly(
                        "Basic realm=\"gate \\\"way\\\"\", charset=\"UTF-8\"", "Bearer realm=\"gate \\\"way\\\"\"");
    }

    @Test
    void onlyWhatIsAcceptedIsAskedFor() throws Exception {
        ProxyAuthentication onlyBasic = filter(new Auth(Position.NOWHERE, "r", users, null, null, false));
        ProxyAuthentication onlyBearer = filter(new Auth(Position.NOWHERE, "r", null, tokens, null, false));

        assertThat(challenges(ask(onlyBasic, FakeContext.from("192.0.2.9"))))
                .containsExactly("Basic realm=\"r\", charset=\"UTF-8\"");
        assertThat(challenges(ask(onlyBearer, FakeContext.from("192.0.2.9")))).containsExactly("Bearer realm=\"r\"");
        assertThat(ask(onlyBasic, FakeContext.from("192.0.2.9"), "Proxy-Authorization: Bearer tok-1"))
                .isInstanceOf(Verdict.Refuse.class);
        assertThat(ask(onlyBearer, FakeContext.from("192.0.2.9"), basic("ann", "secret")))
                .isInstanceOf(Verdict.Refuse.class);
    }

    @Test
    void aRightPasswordTellsWhoItIs() throws Exception {
        ProxyAuthentication filter = filter();
        FakeContext ann = FakeContext.from("192.0.2.9");
        FakeContext jurgen = FakeContext.from("192.0.2.9");

        assertThat(ask(filter, ann, basic("ann", "secret"))).isSameAs(Verdict.PROCEED);
        assertThat(ask(filter, jurgen, basic("j\u00fcrgen", "sch\u00f6n:1"))).isSameAs(Verdict.PROCEED);

        assertThat(ann.identity()).isEqualTo(new Identity("ann", Set.of("builders")));
        assertThat(jurgen.identity()).isEqualTo(new Identity("j\u00fcrgen", Set.of()));
    }

    @Test
    void wrongCredentialsAreRefusedWithoutBeingShown() throws Exception {
        ProxyAuthentication filter = filter();
        for (String field : List.of(
                basic("ann", "Secret"),
                basic("ann", ""),
                basic("Ann", "secret"),
                basic("eve", "secret"),
                basic("", "secret"),
                basic("ann\u0000", "secret"),
                "Proxy-Authorization: Bearer secret",
                "Proxy-Authorization: Basic secret",
                "Proxy-Authorization: Negotiate secret",
                "Proxy-Authorization: Basic /zpz",
                "Proxy-Authorization: Basic " + "YTpi".repeat(5000))) {
            FakeContext context = FakeContext.from("192.0.2.9");
            Verdict verdict = ask(filter, context, field);

            assertThat(failure(verdict).status()).as(field).isEqualTo(407);
            assertThat(failure(verdict).detail())
                    .doesNotContainIgnoringCase("secret")
                    .doesNotContain("eve");
            assertThat(challenges(verdict)).hasSize(2);
            assertThat(context.identity()).isNull();
        }
    }

    @Test
    void credentialsAreTakenOutOfTheHeadRightOrWrong() throws Exception {
        ProxyAuthentication filter = filter();
        for (String field : List.of(basic("ann", "secret"), basic("ann", "wrong"), "Proxy-Authorization: x y")) {
            RequestHead head = connect("User-Agent: x", field, "Via: y");
            filter.onRequest(head, FakeContext.from("192.0.2.9"));

            assertThat(head.fields()).hasToString("User-Agent: x\nVia: y\n");
        }
    }

    @Test
    void severalCredentialsAreNone() throws Exception {
        assertThat(ask(filter(), FakeContext.from("192.0.2.9"), basic("ann", "secret"), basic("ann", "secret")))
                .isInstanceOf(Verdict.Refuse.class);
    }

    @Test
    void aPasswordIsHashedOnceAndThenRemembered() throws Exception {
        ProxyAuthentication filter = filter();
        ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret"));
        FakeContext again = FakeContext.from("192.0.2.9");

        assertThat(filter.onRequest(connect(basic("ann", "secret")), again)).isSameAs(Verdict.PROCEED);
        assertThat(again.identity()).isEqualTo(new Identity("ann", Set.of("builders")));

        now += TimeUnit.MINUTES.toNanos(6);
        run(files);
        assertThat(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret")))
                .isSameAs(Verdict.PROCEED);
    }

    @Test
    void aWrongPasswordIsHashedOnceWhileTheFileIsTheSame() throws Exception {
        ProxyAuthentication filter = filter();
        ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "wrong"));

        assertThat(failure(filter.onRequest(connect(basic("ann", "wrong")), FakeContext.from("192.0.2.9")))
                        .status())
                .isEqualTo(407);
        assertThat(filter.verified().size()).isZero();
        now += TimeUnit.MINUTES.toNanos(6);
        filter.refresh();
        assertThat(filter.onRequest(connect(basic("ann", "wrong")), FakeContext.from("192.0.2.9")))
                .isInstanceOf(Verdict.Wait.class);
    }

    /** A browser opens many connections at once, all with the same password. */
    @Test
    void aPasswordThatManyShowAtOnceIsHashedOnce() throws Exception {
        ProxyAuthentication filter = filter();
        List<FakeContext> contexts = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            FakeContext context = FakeContext.from("192.0.2.9");
            contexts.add(context);
            assertThat(filter.onRequest(connect(basic("ann", "secret")), context))
                    .isInstanceOf(Verdict.Wait.class);
        }

        assertThat(run(hashing)).isEqualTo(1);
        assertThat(filter.verified().size()).isEqualTo(1);
        for (FakeContext context : contexts) {
            context.runLoop();
            assertThat(context.resumed).containsExactly(Verdict.PROCEED);
        }
    }

    /** Tells by memory, which is what this hash takes and other work does not. */
    @Test
    void aUserWhoDoesNotExistCostsWhatOneDoesWhoDoes() throws Exception {
        Files.writeString(
                users,
                ANN + "slow:$argon2id$v=19$m=16384,t=1,p=1$c29tZXNhbHQ$OCmYzATW28cZmpG0OzNl7yCC8yCdB8dlYHpHS4d56bo\n");
        ProxyAuthentication filter = filter();

        assertThat(allocated(filter, "slow")).isGreaterThan(16 << 20);
        int costly = 0;
        for (int i = 0; i < 40; i++) {
            boolean first = allocated(filter, "nobody" + i) > 16 << 20;
            assertThat(allocated(filter, "nobody" + i) > 16 << 20)
                    .as("once more")
                    .isEqualTo(first);
            costly += first ? 1 : 0;
        }
        assertThat(costly).as("as costly as the one user or as the other").isBetween(1, 39);
    }

    private int asked;

    private long allocated(ProxyAuthentication filter, String user) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        String password = "x" + ++asked; // which is not known to be wrong yet
        filter.onRequest(connect(basic(user, password)), FakeContext.from("192.0.2." + asked));
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThat(run(hashing)).isEqualTo(1);
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void whenTooManyPasswordsWaitOthersAreToldSo() throws Exception {
        ProxyAuthentication filter = filter();
        most = 1;
        filter.onRequest(connect(basic("ann", "wrong")), FakeContext.from("192.0.2.9"));

        Verdict verdict = filter.onRequest(connect(basic("ann", "secret")), FakeContext.from("192.0.2.9"));

        assertThat(failure(verdict).cause()).isEqualTo(Cause.OVERLOAD);
        assertThat(failure(verdict).status()).isEqualTo(503);
    }

    @Test
    void whoTriesManyPasswordsAtOnceIsToldToSlowDownAndOthersAreNot() throws Exception {
        ProxyAuthentication filter = filter();
        for (int i = 0; i < 16; i++) {
            assertThat(filter.onRequest(connect(basic("ann", "guess" + i)), FakeContext.from("2001:db8::" + i)))
                    .isInstanceOf(Verdict.Wait.class);
        }

        Verdict verdict = filter.onRequest(connect(basic("ann", "guess16")), FakeContext.from("2001:db8::16"));
        assertThat(failure(verdict).cause()).isEqualTo(Cause.RATE_LIMITED);
        assertThat(failure(verdict).status()).isEqualTo(429);
        FakeContext other = FakeContext.from("2001:db8:0:1::1");
        assertThat(filter.onRequest(connect(basic("ann", "secret")), other)).isInstanceOf(Verdict.Wait.class);

        assertThat(run(hashing)).isEqualTo(17);
        other.runLoop();
        assertThat(other.resumed).containsExactly(Verdict.PROCEED);
        assertThat(failure(filter.onRequest(connect(basic("ann", "guess16")), FakeContext.from("2001:db8::16")))
                        .status())
                .as("sixteen have failed")
                .isEqualTo(429);
    }

    @Test
    void aPasswordWhoseClientsHaveAllGoneIsNotHashed() throws Exception {
        ProxyAuthentication filter = filter();
        FakeContext gone = FakeContext.from("192.0.2.9");
        ((Verdict.Wait) filter.onRequest(connect(basic("ann", "secret")), gone))
                .cancel()
                .run();

        run(hashing);
        assertThat(filter.verified().size()).isZero();
        FakeContext next = FakeContext.from("192.0.2.9");
        assertThat(filter.onRequest(connect(basic("ann", "secret")), next)).isInstanceOf(Verdict.Wait.class);
        run(hashing);
        next.runLoop();
        assertThat(next.resumed).containsExactly(Verdict.PROCEED);
    }

    @Test
    void nothingIsAnsweredToWhoHasGone() throws Exception {
        ProxyAuthentication filter = filter();
        FakeContext before = FakeContext.from("192.0.2.9");
        FakeContext after = FakeContext.from("192.0.2.9");
        Verdict.Wait waitBefore = (Verdict.Wait) filter.onRequest(connect(basic("ann", "secret")), before);
        Verdict.Wait waitAfter = (Verdict.Wait) filter.onRequest(connect(basic("ann", "secret")), after);

        waitBefore.cancel().run();
        run(hashing);
        waitAfter.cancel().run();
        before.runLoop();
        after.runLoop();

        assertThat(before.resumed).isEmpty();
        assertThat(after.resumed).isEmpty();
    }

    @Test
    void aTokenTellsWhoseItIs() throws Exception {
        ProxyAuthentication filter = filter();
        FakeContext context = FakeContext.from("192.0.2.9");

        assertThat(filter.onRequest(connect("Proxy-Authorization: Bearer tok-1"), context))
                .isSameAs(Verdict.PROCEED);
        assertThat(context.identity()).isEqualTo(new Identity("ci", Set.of("builders")));
        assertThat(failure(filter.onRequest(
                                connect("Proxy-Authorization: Bearer tok-2"), FakeContext.from("192.0.2.9")))
                        .status())
                .isEqualTo(407);
    }

    @ParameterizedTest
    @ValueSource(strings = {"CN=ann,O=Example", "O=Example,CN=ann", "CN=ann,OU=x,CN=outer", "cn=ann"})
    void aCertificateTellsWhoItIs(String subject) throws Exception {
        FakeContext context = FakeContext.withCertificate(subject);

        assertThat(filter().onRequest(connect(), context)).isSameAs(Verdict.PROCEED);
        assertThat(context.identity()).isNotNull().extracting(Identity::groups).isEqualTo(Set.of("builders"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"O=Example", "", "CN=", "not a name", "CN=a\\0Ab", "CN=ann\\ ", "CN=\\ ann"})
    void aCertificateWithoutAUsableNameTellsNothing(String subject) throws Exception {
        assertThat(failure(filter().onRequest(connect(), FakeContext.withCertificate(subject)))
                        .status())
                .isEqualTo(407);
    }

    @Test
    void credentialsThatAreShownDecideWhateverTheCertificateSays() throws Exception {
        ProxyAuthentication filter = filter();
        FakeContext right = FakeContext.withCertificate("CN=eve");
        FakeContext wrong = FakeContext.withCertificate("CN=ann");

        assertThat(ask(filter, right, basic("ann", "secret"))).isSameAs(Verdict.PROCEED);
        assertThat(right.identity()).isNotNull().extracting(Identity::name).isEqualTo("ann");
        assertThat(failure(ask(filter, wrong, basic("ann", "wrong"))).status()).isEqualTo(407);
    }

    @Test
    void whereOnlyCertificatesCountNothingElseIsAskedFor() throws Exception {
        ProxyAuthentication filter = filter(new Auth(Position.NOWHERE, "r", null, null, null, true));
        Verdict verdict = filter.onRequest(connect(), FakeContext.withCertificate(null));

        assertThat(failure(verdict).cause()).isEqualTo(Cause.PROXY_AUTH);
        assertThat(failure(verdict).status()).isEqualTo(403);
        assertThat(challenges(verdict)).isEmpty();
    }

    // ---- files that change

    @Test
    void aChangeHoldsAfterASecond() throws Exception {
        ProxyAuthentication filter = filter();
        assertThat(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret")))
                .isSameAs(Verdict.PROCEED);
        Files.writeString(users, JURGEN);
        Files.writeString(tokens, "cd:tok-9\n");
        Files.writeString(groups, "others: cd\n");

        now += TimeUnit.MILLISECONDS.toNanos(999);
        assertThat(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret")))
                .isSameAs(Verdict.PROCEED);
        now += TimeUnit.MILLISECONDS.toNanos(1);
        assertThat(failure(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret")))
                        .status())
                .isEqualTo(407);
        FakeContext context = FakeContext.from("192.0.2.9");
        assertThat(ask(filter, context, "Proxy-Authorization: Bearer tok-9")).isSameAs(Verdict.PROCEED);
        assertThat(context.identity()).isEqualTo(new Identity("cd", Set.of("others")));
    }

    @Test
    void whatIsRememberedHoldsWhileFilesStayAsTheyAre() throws Exception {
        ProxyAuthentication filter = filter();
        ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret"));
        now += TimeUnit.SECONDS.toNanos(2);
        FakeContext context = FakeContext.from("192.0.2.9");

        assertThat(filter.onRequest(connect(basic("ann", "secret")), context)).isInstanceOf(Verdict.Wait.class);
        assertThat(run(files)).isEqualTo(1);
        context.runLoop();

        assertThat(context.resumed).containsExactly(Verdict.PROCEED);
        assertThat(hashing).isEmpty();
    }

    @Test
    void usersOfAFileThatCannotBeReadAnyMoreStayUsers() throws Exception {
        ProxyAuthentication filter = filter();
        Files.delete(users);
        now += TimeUnit.SECONDS.toNanos(2);

        assertThat(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret")))
                .isSameAs(Verdict.PROCEED);
    }

    @Test
    void aLookAtFilesThatCannotBeTakenNowIsLeftOut() throws Exception {
        ProxyAuthentication filter = filter();
        now += TimeUnit.SECONDS.toNanos(2);
        most = 0;

        assertThat(filter.onRequest(connect("Proxy-Authorization: Bearer tok-1"), FakeContext.from("192.0.2.9")))
                .isSameAs(Verdict.PROCEED);
    }

    @Test
    void aFileThatIsMissingFromTheStartIsAnError() throws Exception {
        Files.delete(users);

        assertThatThrownBy(this::filter)
                .isInstanceOf(AuthFileException.class)
                .hasMessageStartingWith("there is no file " + users);
    }

    @Test
    void aUserWhoseLineHasBecomeWrongIsLockedOut() throws Exception {
        ProxyAuthentication filter = filter();
        Files.writeString(users, "ann:secret\n");
        now += TimeUnit.SECONDS.toNanos(2);

        Verdict verdict = ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "secret"));
        assertThat(failure(verdict).status()).isEqualTo(407);
        assertThat(filter.problems())
                .singleElement()
                .asString()
                .contains(users + ":1:1: ")
                .doesNotContain("secret");
    }

    @Test
    void aClientThatHasShownTenWrongPasswordsWaitsForAMinute() throws Exception {
        ProxyAuthentication filter = filter();
        for (int i = 0; i < FailureCounts.MOST_PER_MINUTE; i++) {
            assertThat(failure(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "wrong" + i)))
                            .status())
                    .isEqualTo(407);
        }
        assertThat(failure(ask(filter, FakeContext.from("192.0.2.9"), basic("ann", "wrong0")))
                        .status())
                .as("once more what is known to be wrong")
                .isEqualTo(407);
        assertThat(failure(ask(filter, FakeContext.from("192.0.2.9"), basic("bob", "other")))
                        .status())
                .isEqualTo(429);
        assertThat(ask(filter, FakeContext.from("192.0.2.10"), basic("ann", "secret")))
                .as("from elsewhere")
                .isSameAs(Verdict.PROCEED);
        now += TimeUnit.SECONDS.toNanos(61);
        assertThat(failure(ask(filter, FakeContext.from("192.0.2.9"), basic("bob", "other")))
                        .status())
                .isEqualTo(407);
    }

    @Test
    void aUsersFailuresCountForClientsThatHaveFailed() throws Exception {
        ProxyAuthentication filter = filter();
        for (int i = 0; i < FailureCounts.MOST_PER_MINUTE; i++) {
            ask(filter, FakeContext.from("192.0.2." + (20 + i)), basic("ann", "wrong" + i));
        }
        assertThat(failure(ask(filter, FakeContext.from("192.0.2.20"), basic("ann", "another")))
                        .status())
                .isEqualTo(429);
        assertThat(ask(filter, FakeContext.from("192.0.2.99"), basic("ann", "secret")))
                .isSameAs(Verdict.PROCEED);
    }

    @Test
    void whoHasShownWrongPasswordsComesAfterAllOthersAndMakesRoomForThem() throws Exception {
        List<Runnable> threads = new ArrayList<>();
        AuthWork work = new AuthWork(
                task -> {
                    if (threads.size() == 4) {
                        throw new RejectedExecutionException();
                    }
                    threads.add(task);
                },
                Runnable::run,
                () -> now);
        List<String> done = new ArrayList<>();
        work.failed("stranger", "any");
        for (int i = 0; i < 3; i++) {
            work.hash("stranger", new Noted("stranger" + i, done));
        }
        work.hash("a", new Noted("a0", done));
        work.hash("a", new Noted("a1", done));
        work.hash("b", new Noted("b0", done));
        assertThat(done).containsExactly("stranger2 evicted", "stranger1 evicted");
        assertThatThrownBy(() -> work.hash("stranger", new Noted("x", done)))
                .isInstanceOf(RejectedExecutionException.class);
        threads.forEach(Runnable::run);
        assertThat(done.subList(2, done.size())).containsExactly("a0", "b0", "a1", "stranger0");
    }

    private record Noted(String name, List<String> done) implements HashingTask {
        @Override
        public void run() {
            done.add(name);
        }

        @Override
        public void evicted() {
            done.add(name + " evicted");
        }
    }

    @Test
    void workIsDoneOnThreadsOfItsOwn() throws Exception {
        AuthWork work = new AuthWork(1);
        CountDownLatch done = new CountDownLatch(2);
        List<String> names = new ArrayList<>();
        List<Executor> executors = List.of(task -> work.hash("a client", task::run), work.files());
        for (Executor executor : executors) {
            executor.execute(() -> {
                synchronized (names) {
                    names.add(Thread.currentThread().getName() + " "
                            + Thread.currentThread().isDaemon());
                }
                done.countDown();
            });
        }

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(names).containsExactlyInAnyOrder("auth-hash-1 true", "auth-file-1 true");
    }

    @Test
    void moreWorkThanMayWaitIsRejected() throws Exception {
        AuthWork work = new AuthWork(1);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        work.hash("a client", () -> {
            begun.countDown();
            try {
                finish.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        try {
            assertThatThrownBy(() -> {
                        for (int i = 0; i <= 64; i++) {
                            work.hash(i, () -> {});
                        }
                    })
                    .isInstanceOf(RejectedExecutionException.class);
        } finally {
            finish.countDown();
        }
    }
}
