package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.dial.AddressPolicy;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which address of a host is connected to. The clock stands still unless a test moves it. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // fields that JUnit sets
class HappyEyeballsTest {
    private static final String HOST = "origin.test";

    private final AtomicLong clock = new AtomicLong();
    private final Transport transport = Transport.start(TransportKind.EPOLL, 1);
    private final EventLoop loop = transport.loops().get(0);
    private final List<AutoCloseable> open = new ArrayList<>();
    private FakeDns dns;
    private Resolver resolver;
    private LoopResources resources;

    @BeforeEach
    void start() throws IOException {
        dns = new FakeDns();
        resolver = new Resolver(transport, List.of(dns.address()), Duration.ofMinutes(1));
        resources = new LoopResources(
                transport,
                resolver,
                loop,
                new TimerWheel(loop, clock::get),
                LoopResources.RANDOM,
                Account.UNLIMITED,
                () -> false);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        resolver.close();
        dns.close();
        transport.stop().sync();
    }

    /** DNS may take seconds, and what waits for it has the request of a client. */
    @Test
    void whatIsCancelledIsNotKeptByItsLookup() throws Exception {
        dns.withhold(FakeDns.TYPE_A);
        for (boolean requested : new boolean[] {true, false}) {
            int turn = 0;
            while (!isFreeBeforeTheAnswer(requested, turn + "." + requested + "." + HOST)) {
                turn++; // the lookup has ended meanwhile; the test's timeout ends this
            }
        }
    }

    private boolean isFreeBeforeTheAnswer(boolean requested, String host) throws Exception {
        WeakReference<Object> cancelled = beginAndCancel(requested, host);
        Future<?> lookup = loop.submit(() -> requested
                        ? resolver.resolveExactly(loop, host, Account.UNLIMITED)
                        : resolver.resolve(loop, host))
                .get()
                .ipv4();
        boolean free = false;
        while (!free && !lookup.isDone()) {
            System.gc();
            free = cancelled.get() == null && !lookup.isDone();
        }
        dns.release();
        return free;
    }

    private WeakReference<Object> beginAndCancel(boolean requested, String host) throws Exception {
        Outcome outcome = new Outcome(null);
        HappyEyeballs begun = new HappyEyeballs(
                resources,
                new HappyEyeballs.ConnectTarget(host, 80, requested, null, 0, 0, Account.UNLIMITED),
                outcome);
        loop.submit(begun::start).get();
        dns.awaitWithheld();
        loop.submit(begun::cancel).get();
        return new WeakReference<>(begun);
    }

    @Test
    void ipv6IsPreferred() throws Exception {
        int port = listen("127.77.0.1", listen("::1", 0));
        dns.answers(HOST, "127.77.0.1", "::1");
        assertThat(run(port).address()).isEqualTo("0:0:0:0:0:0:0:1");
    }

    @Test
    void connectionsTakeTurnsAtTheAddressesOfAFamily() throws Exception {
        int port = listen("127.77.0.2", listen("127.77.0.1", 0));
        dns.answers(HOST, "127.77.0.1", "127.77.0.2");
        for (int turn = 0; turn < 4; turn++) {
            Outcome outcome = new Outcome(null);
            start(outcome, HOST, port, 0, turn);
            assertThat(outcome.address()).isEqualTo(turn % 2 == 0 ? "127.77.0.1" : "127.77.0.2");
        }
    }

    @Test
    void anIpv4AnswerWaitsAMomentForTheIpv6Answer() throws Exception {
        int port = listen("127.77.0.1", listen("::1", 0));
        dns.answers(HOST, "127.77.0.1", "::1");
        dns.withhold(FakeDns.TYPE_AAAA);
        Outcome outcome = run(port);
        awaitIpv4Answer();
        dns.release();
        assertThat(outcome.address()).isEqualTo("0:0:0:0:0:0:0:1");
    }

    @Test
    void anIpv6AnswerThatStaysAwayIsNotWaitedForLonger() throws Exception {
        int port = listen("127.77.0.1", listen("::1", 0));
        dns.answers(HOST, "127.77.0.1", "::1");
        dns.withhold(FakeDns.TYPE_AAAA);
        Outcome outcome = run(port);
        awaitIpv4Answer();
        pass(70);
        assertThat(outcome.address()).isEqualTo("127.77.0.1");
        dns.release();
    }

    @Test
    void anIpv6AnswerNeedsNoIpv4Answer() throws Exception {
        int port = listen("::1", 0);
        dns.answers(HOST, "127.77.0.1", "::1");
        dns.withhold(FakeDns.TYPE_A);
        assertThat(run(port).address()).isEqualTo("0:0:0:0:0:0:0:1");
        dns.release();
    }

    @Test
    void anAnswerThatComesLateIsUsedIfTheFirstLedNowhere() throws Exception {
        int port = listen("127.77.0.1", 0);
        dns.answers(HOST, "127.77.0.1", "::1");
        dns.withhold(FakeDns.TYPE_A);
        Outcome outcome = run(port); // refused at ::1
        dns.release();
        assertThat(outcome.address()).isEqualTo("127.77.0.1");
    }

    @Test
    void aNameWithoutIpv6AddressesIsDialedAtOnce() throws Exception {
        int port = listen("127.77.0.1", 0);
        dns.answers(HOST, "127.77.0.1");
        assertThat(run(port).address()).isEqualTo("127.77.0.1");
    }

    @Test
    void theNextAddressIsTriedAtOnceWhenOneRefuses() throws Exception {
        int port = listen("127.77.0.3", 0);
        dns.answers(HOST, "127.77.0.1", "127.77.0.2", "127.77.0.3", "::1");
        assertThat(run(port).address()).isEqualTo("127.77.0.3");
    }

    @Test
    void theNextAddressIsTriedSoonWhenOneDoesNotAnswer() throws Exception {
        int port = listen("127.77.0.1", deaf("::1"));
        dns.answers(HOST, "127.77.0.1", "::1");
        Outcome outcome = run(port);
        awaitDialed(outcome, 1);
        pass(270);
        assertThat(outcome.address()).isEqualTo("127.77.0.1");
    }

    @Test
    void theFamiliesTakeTurns() throws Exception {
        dns.answers(HOST, "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8::3");
        dns.withhold(FakeDns.TYPE_AAAA);
        Outcome outcome = run(443, 0, (host, address, port) -> "no");
        awaitIpv4Answer();
        dns.release();
        assertThat(outcome.failure()).isEqualTo("POLICY_ADDRESS no");
        assertThat(outcome.judged)
                .containsExactly(
                        HOST + " 2001:db8:0:0:0:0:0:1 443",
                        HOST + " 192.0.2.1 443",
                        HOST + " 2001:db8:0:0:0:0:0:2 443",
                        HOST + " 192.0.2.2 443",
                        HOST + " 2001:db8:0:0:0:0:0:3 443");
    }

    @Test
    void anAddressThatPolicyRefusesIsPassedOver() throws Exception {
        int port = listen("127.77.0.2", listen("127.77.0.1", listen("::1", 0)));
        dns.answers(HOST, "127.77.0.1", "127.77.0.2", "::1");
        Outcome outcome = run(
                port, 0, (host, address, number) -> address.getHostAddress().equals("127.77.0.2") ? null : "private");
        assertThat(outcome.address()).isEqualTo("127.77.0.2");
    }

    @Test
    void anIpLiteralIsJudgedToo() throws Exception {
        Outcome outcome = new Outcome((host, address, port) -> "private");
        start(outcome, "127.77.0.1", 80, 0);
        assertThat(outcome.failure()).isEqualTo("POLICY_ADDRESS private");
        assertThat(outcome.judged).containsExactly("127.77.0.1 127.77.0.1 80");
    }

    @Test
    void aNameThatDoesNotExistIsTold() throws Exception {
        assertThat(run(80).failure())
                .startsWith("DNS_FAILED Failed to resolve '")
                .endsWith("answered that there is no such name (NXDOMAIN)");
    }

    @Test
    void everyAddressThatFailedIsTold() throws Exception {
        int port = refusing("127.77.0.1", 0);
        refusing("::1", port);
        dns.answers(HOST, "127.77.0.1", "::1");
        assertThat(run(port).failure())
                .startsWith("CONNECT_FAILED ")
                .contains("127.77.0.1: ")
                .contains("::1: ")
                .contains("refused");
    }

    @Test
    void theTimeIsLimitedForAllAddressesTogether() throws Exception {
        int port = deaf("127.77.0.1");
        dns.answers(HOST, "127.77.0.1");
        Outcome outcome = run(port, 10_000, null);
        awaitDialed(outcome, 1);
        pass(10_020);
        assertThat(outcome.failure()).startsWith("CONNECT_TIMEOUT 127.77.0.1: no answer");
    }

    @Test
    void evenAShortTimeIsEnoughForEveryAddress() throws Exception {
        int port = listen("127.77.0.1", deaf("::1"));
        dns.answers(HOST, "127.77.0.1", "::1");
        Outcome outcome = run(port, 100, null);
        awaitDialed(outcome, 1);
        pass(80);
        assertThat(outcome.address()).isEqualTo("127.77.0.1");
    }

    // Addresses that are out of date

    /** Has the name resolved, so that the next race gets the answer from the cache. */
    private void resolved(String... addresses) throws Exception {
        dns.answers(HOST, addresses);
        Resolver.Answers answers =
                loop.submit(() -> resolver.resolve(loop, HOST)).get();
        assertThat(answers.ipv6().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(answers.ipv4().await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void dnsIsAskedAgainWhenTheKnownAddressRefuses() throws Exception {
        int port = listen("127.77.0.2", refusing("127.77.0.1", 0));
        resolved("127.77.0.1");
        dns.answers(HOST, "127.77.0.2");
        assertThat(run(port).address()).isEqualTo("127.77.0.2");
    }

    @Test
    void whatIsAskedAgainAndIsTheSameFails() throws Exception {
        int port = refusing("127.77.0.1", 0);
        resolved("127.77.0.1");
        int before = dns.questions();
        assertThat(run(port).failure()).startsWith("CONNECT_FAILED 127.77.0.1: ");
        assertThat(dns.questions()).isGreaterThan(before);
    }

    @Test
    void aFailureDoesNotWaitLongForDns() throws Exception {
        int port = refusing("127.77.0.1", 0);
        resolved("127.77.0.1");
        dns.withhold(FakeDns.TYPE_A);
        Outcome outcome = run(port);
        dns.awaitWithheld();
        loop.submit(() -> {}).sync();
        assertThat(outcome.result.isDone()).isFalse();
        pass(520);
        assertThat(outcome.failure()).startsWith("CONNECT_FAILED 127.77.0.1: ");
        dns.release();
    }

    @Test
    void dnsIsAskedAgainWhileTheKnownAddressDoesNotAnswer() throws Exception {
        int port = listen("127.77.0.2", deaf("127.77.0.1"));
        resolved("127.77.0.1");
        dns.answers(HOST, "127.77.0.2");
        Outcome outcome = run(port, 6_000, null);
        awaitDialed(outcome, 1);
        pass(1_020);
        assertThat(outcome.address()).isEqualTo("127.77.0.2");
        assertThat(outcome.judged).hasSize(2);
    }

    @Test
    void policyDecidesAboutTheAddressesOfEachAnswer() throws Exception {
        int port = listen("127.77.0.2", refusing("127.77.0.1", 0));
        resolved("127.77.0.1");
        dns.answers(HOST, "127.77.0.2");
        assertThat(run(
                                port,
                                0,
                                (host, address, number) ->
                                        address.getHostAddress().equals("127.77.0.1") ? null : "no")
                        .failure())
                .startsWith("CONNECT_FAILED ")
                .endsWith("; no");
    }

    @Test
    void whoeverCannotUseTheConnectionIsToldSo() throws Exception {
        int port = listen("127.77.0.1", 0);
        CompletableFuture<String> failed = new CompletableFuture<>();
        HappyEyeballs.Callback clumsy = new HappyEyeballs.Callback() {
            @Override
            public void onConnected(Channel channel, long begunNanos) {
                throw new IllegalStateException("no room for TLS");
            }

            @Override
            public void onFailed(Cause cause, String detail) {
                failed.complete(cause + " " + detail);
            }
        };
        loop.submit(() -> new HappyEyeballs(
                                resources,
                                new HappyEyeballs.ConnectTarget(
                                        "127.77.0.1", port, false, null, 0, 0, Account.UNLIMITED),
                                clumsy)
                        .start())
                .sync();
        assertThat(failed.get(20, TimeUnit.SECONDS)).isEqualTo("CONNECT_FAILED no room for TLS");
    }

    @Test
    void whatIsGivenUpIsNotAnswered() throws Exception {
        int port = listen("127.77.0.1", 0);
        dns.answers(HOST, "127.77.0.1");
        Outcome outcome = new Outcome(null);
        loop.submit(() -> {
                    HappyEyeballs race = outcome.race(HOST, port, 0, 0);
                    race.start();
                    race.cancel();
                })
                .sync();
        awaitIpv4Answer();
        assertThat(run(port).address()).isEqualTo("127.77.0.1"); // by now the other would have been answered, too
        assertThat(outcome.result.isDone()).isFalse();
    }

    // What happens at addresses

    private int listen(String address, int port) throws IOException {
        ServerSocket server = new ServerSocket(port, 64, InetAddress.getByName(address));
        open.add(server);
        return server.getLocalPort();
    }

    /** Has the kernel refuse connections: the port is taken, and nobody listens. */
    private int refusing(String address, int port) throws IOException {
        SocketChannel taken = SocketChannel.open();
        open.add(taken);
        taken.bind(new InetSocketAddress(InetAddress.getByName(address), port));
        return taken.socket().getLocalPort();
    }

    /** Lets nobody connect, by having more who wait than the kernel keeps for one who does not accept. */
    private int deaf(String address) throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(address));
        open.add(server);
        for (int i = 0; i < 4; i++) {
            SocketChannel filler = SocketChannel.open();
            open.add(filler);
            filler.configureBlocking(false);
            filler.connect(server.getLocalSocketAddress());
        }
        return server.getLocalPort();
    }

    // Races

    private Outcome run(int port) throws Exception {
        return run(port, 0, null);
    }

    private Outcome run(int port, long connectMillis, @Nullable AddressPolicy policy) throws Exception {
        Outcome outcome = new Outcome(policy);
        start(outcome, HOST, port, connectMillis);
        return outcome;
    }

    private void start(Outcome outcome, String host, int port, long connectMillis) throws Exception {
        start(outcome, host, port, connectMillis, 0);
    }

    private void start(Outcome outcome, String host, int port, long connectMillis, int turn) throws Exception {
        loop.submit(() -> outcome.race(host, port, connectMillis, turn).start()).sync();
    }

    private void pass(long millis) {
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** The same question, or its answer, is shared, so that the race has heard of it too. */
    private void awaitIpv4Answer() throws Exception {
        Future<List<InetAddress>> answer =
                loop.submit(() -> resolver.resolve(loop, HOST).ipv4()).get();
        assertThat(answer.await(20, TimeUnit.SECONDS)).isTrue();
        loop.submit(() -> {}).sync();
    }

    /** Waits until so many addresses have been dialed: policy is asked right before, on the same stack. */
    private void awaitDialed(Outcome outcome, int count) throws Exception {
        assertThat(outcome.firstJudged.get(20, TimeUnit.SECONDS)).isNotNull();
        loop.submit(() -> {}).sync();
        assertThat(outcome.judged).hasSize(count);
    }

    private final class Outcome implements HappyEyeballs.Callback, AddressPolicy {
        final CompletableFuture<Object> result = new CompletableFuture<>();
        final ConcurrentLinkedQueue<String> judged = new ConcurrentLinkedQueue<>();
        final CompletableFuture<String> firstJudged = new CompletableFuture<>();
        private final @Nullable AddressPolicy policy;

        Outcome(@Nullable AddressPolicy policy) {
            this.policy = policy;
        }

        HappyEyeballs race(String host, int port, long connectMillis, int turn) {
            return new HappyEyeballs(
                    resources,
                    new HappyEyeballs.ConnectTarget(host, port, false, this, turn, connectMillis, Account.UNLIMITED),
                    this);
        }

        @Override
        public @Nullable String refuse(String host, InetAddress address, int port) {
            String question = host + " " + address.getHostAddress() + " " + port;
            judged.add(question);
            firstJudged.complete(question);
            return policy == null ? null : policy.refuse(host, address, port);
        }

        @Override
        public void onConnected(Channel channel, long begunNanos) {
            InetSocketAddress remote = (InetSocketAddress) channel.remoteAddress();
            channel.close();
            result.complete(remote.getAddress());
        }

        @Override
        public void onFailed(Cause cause, String detail) {
            result.complete(cause + " " + detail);
        }

        String address() throws Exception {
            Object outcome = result.get(20, TimeUnit.SECONDS);
            assertThat(outcome).isInstanceOf(InetAddress.class);
            return ((InetAddress) outcome).getHostAddress();
        }

        String failure() throws Exception {
            Object outcome = result.get(20, TimeUnit.SECONDS);
            assertThat(outcome).isInstanceOf(String.class);
            return (String) outcome;
        }
    }
}
