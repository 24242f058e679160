package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.dns.NameCache.Answer;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lookups of one event loop, with a name server that answers when a test says so. */
class RunningLookupsTest {
    private static final long CAPACITY = 64L * 1024 * 1024;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final NameCache cache = new NameCache(10_000, 10);
    private final LoopBudget budget = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final ClientShares clients = new ClientShares();
    private final List<Promise<List<InetAddress>>> asked = new ArrayList<>();
    private final InetNameResolver server = new InetNameResolver(channel.eventLoop()) {
        @Override
        protected void doResolve(String host, Promise<InetAddress> answer) {
            throw new AssertionError("all addresses are asked for");
        }

        @Override
        protected void doResolveAll(String host, Promise<List<InetAddress>> answer) {
            asked.add(answer);
        }
    };
    private final Lookup.Source ipv4 = new Lookup.Source(server, new TimesToLive());
    private RunningLookups running = new RunningLookups(channel.eventLoop(), Integer.MAX_VALUE);

    @BeforeEach
    void freezeTime() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private Account account(String client) {
        Account account = new Account(budget);
        account.countFor(clients, client);
        return account;
    }

    private Lookup lookup(Lookup.Name name, boolean renews) {
        return new Lookup(channel.eventLoop(), name, cache, new Lookup.Use(60, 0, renews));
    }

    private Resolver.Answers ask(Account account, String host) {
        Lookup.Name name = new Lookup.Name(host, host + ".");
        Lookup lookup = running.find(name);
        LookupLimitException refused = null;
        if (lookup == null) {
            lookup = lookup(name, false);
            refused = running.startFor(account, name, lookup, null, ipv4);
        }
        return refused == null
                ? new Resolver.Answers(lookup.ipv6(), lookup.ipv4())
                : new Resolver.Answers(
                        channel.eventLoop().newFailedFuture(refused),
                        channel.eventLoop().newFailedFuture(refused));
    }

    private void end(int from) {
        asked.subList(from, asked.size()).forEach(each -> each.tryFailure(new UnknownHostException("no such name")));
        channel.runPendingTasks();
    }

    private static String refusal(Resolver.Answers answers) {
        assertThat(answers.ipv6().cause()).isInstanceOf(LookupLimitException.class);
        return String.valueOf(answers.ipv4().cause().getMessage());
    }

    @Test
    void aLookupIsChargedUntilItEndsAlsoIfItsClientHasLeft() {
        Account account = account("a");
        ask(account, "slow.test");
        account.leave();
        assertThat(account.held()).isEqualTo(Cost.LOOKUP);
        assertThat(clients.size()).as("known while it is charged").isEqualTo(1);
        end(0);
        assertThat(account.held()).isZero();
        assertThat(clients.size()).isZero();
        assertThat(budget.held()).isZero();
    }

    @Test
    void aLookupThatWasNotAnsweredIsChargedUntilItsQueriesAreForgotten() {
        running = new RunningLookups(channel.eventLoop(), 0);
        Account account = account("a");
        ask(account, "slow.test");
        end(0);
        channel.advanceTimeBy(9, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(account.held()).isEqualTo(Cost.LOOKUP);
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(account.held()).isZero();
    }

    @Test
    void allThatAskForANameShareItsLookup() throws Exception {
        Account first = account("a");
        Account second = account("b");
        Resolver.Answers answers = ask(first, "slow.test");
        assertThat(ask(second, "slow.test").ipv4()).isSameAs(answers.ipv4());
        assertThat(asked).hasSize(1);
        assertThat(second.held()).isZero();
        asked.get(0).setSuccess(List.of(InetAddress.getByName("192.0.2.1")));
        channel.runPendingTasks();
        assertThat(answers.ipv4().getNow()).hasSize(1);
        cache.forget("slow.test");
        ask(second, "slow.test");
        assertThat(asked).as("the first lookup is over").hasSize(2);
    }

    @Test
    void aLookupIsNotSharedIfTheCacheHasAnAnswerMeanwhile() throws Exception {
        ask(account("a"), "slow.test");
        long later = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
        cache.put(
                "slow.test",
                Family.IPV4,
                new Answer(List.of(InetAddress.getByName("192.0.2.1")), null, later, System.nanoTime()));
        assertThat(running.find(new Lookup.Name("slow.test", "slow.test."))).isNull();
    }

    @Test
    void aLookupEndsAlsoIfItsAnswerCannotBeRead() {
        Account account = account("a");
        ask(account, "odd.test");
        asked.get(0).setSuccess(new AbstractList<>() {
            @Override
            public InetAddress get(int index) {
                throw new IllegalStateException("not readable");
            }

            @Override
            public int size() {
                return 1;
            }
        });
        channel.runPendingTasks();
        assertThat(account.held()).isZero();
        ask(account, "odd.test");
        assertThat(asked).as("asked again").hasSize(2);
    }

    @Test
    void aLookupIsSharedAlsoIfTheAnswerOfOneFamilyIsKnown() throws Exception {
        Lookup.Source ipv6 = new Lookup.Source(server, new TimesToLive());
        long now = System.nanoTime();
        Answer kept =
                new Answer(List.of(InetAddress.getByName("2001:db8::1")), null, now + TimeUnit.HOURS.toNanos(1), now);
        cache.put("kept.test", Family.IPV6, kept);
        for (String host : List.of("none.test", "late.test", "kept.test")) {
            asked.clear();
            Lookup.Name name = new Lookup.Name(host, host + ".");
            Lookup lookup = lookup(name, false);
            running.startFor(account("a"), name, lookup, ipv6, ipv4);
            assertThat(running.find(name)).as(host).isSameAs(lookup);
            switch (host) {
                case "none.test" -> asked.get(0).setFailure(new UnknownHostException("no IPv6 address"));
                case "late.test" -> asked.get(0).setFailure(DnsFailures.timeout());
                default -> assertThat(asked).as("that of the other family").hasSize(1);
            }
            channel.runPendingTasks();
            assertThat(running.find(name))
                    .as("%s; another one would ask again for what has failed", host)
                    .isSameAs(host.equals("late.test") ? null : lookup);
        }
    }

    @Test
    void aRenewalIsNotShared() {
        Lookup.Name name = new Lookup.Name("app.test", "app.test.");
        running.startFor(Account.UNLIMITED, name, lookup(name, true), null, ipv4);
        assertThat(asked).hasSize(1);
        assertThat(running.find(name)).isNull();
    }

    @Test
    void aRenewalHidesNoLookupThatIsShared() {
        Resolver.Answers answers = ask(account("a"), "app.test");
        Lookup.Name name = new Lookup.Name("app.test", "app.test.");
        running.startFor(Account.UNLIMITED, name, lookup(name, true), null, ipv4);
        running.start(name, lookup(name, true), null, ipv4);
        assertThat(asked).hasSize(3);
        assertThat(ask(account("b"), "app.test").ipv4()).isSameAs(answers.ipv4());
        assertThat(asked).hasSize(3);
    }

    @Test
    void noClientHasMoreLookupsThanAreLeftForOthers() {
        Account greedy = account("a");
        int begun = fill(greedy);
        assertThat(begun).isEqualTo(RunningLookups.MOST / 2);
        assertThat(refusal(ask(account("a"), "more.test"))).contains("of this client");
        assertThat(ask(account("b"), "other.test").ipv4().isDone())
                .as("another client's")
                .isFalse();
        end(0);
        assertThat(greedy.held()).isZero();
        assertThat(ask(greedy, "again.test").ipv4().isDone()).isFalse();
    }

    private int fill(Account account) {
        int begun = 0;
        while (!ask(account, begun + ".test").ipv4().isDone()) {
            begun++;
        }
        return begun;
    }

    @Test
    void fewLookupsAreOfNobody() {
        assertThat(fill(Account.UNLIMITED)).isEqualTo(RunningLookups.MOST_UNCHARGED);
        assertThat(refusal(ask(Account.UNLIMITED, "more.test"))).isEqualTo("too many DNS lookups are running");
        assertThat(ask(account("a"), "other.test").ipv4().isDone()).isFalse();
    }

    @Test
    void aLookupNeedsMemory() {
        Account account = account("a");
        account.charge(CAPACITY);
        assertThat(refusal(ask(account, "slow.test"))).contains("no memory");
        assertThat(asked).isEmpty();
        account.release(CAPACITY);
        assertThat(ask(account, "slow.test").ipv4().isDone()).isFalse();
    }
}
