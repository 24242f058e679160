package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.dns.NameCache.Answer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which answer is given when name servers answer, fail, or take long. */
class LookupTest {
    private static final String HOST = "app.test";
    private static final long MAX_TTL = 120;
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);
    private final UnknownHostException no = new UnknownHostException("no such name");

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final NameCache cache = new NameCache(10, 10);
    private final Asked ipv6 = new Asked();
    private final Asked ipv4 = new Asked();

    /** A name server that answers when a test says so. */
    private final class Asked extends InetNameResolver {
        private final TimesToLive times = new TimesToLive();
        private @Nullable String name;
        private @Nullable Promise<List<InetAddress>> promise;

        Asked() {
            super(channel.eventLoop());
        }

        @Override
        protected void doResolve(String host, Promise<InetAddress> answer) {
            throw new AssertionError("all addresses are asked for");
        }

        @Override
        protected void doResolveAll(String host, Promise<List<InetAddress>> answer) {
            name = host;
            promise = answer;
        }

        Lookup.Source source() {
            return new Lookup.Source(this, times);
        }

        private Promise<List<InetAddress>> asked() {
            return Objects.requireNonNull(promise, "a question");
        }

        void answer(long seconds, InetAddress... addresses) {
            for (InetAddress address : addresses) {
                times.cache(HOST, new DnsRecord[0], address, seconds, channel.eventLoop());
            }
            asked().setSuccess(List.of(addresses));
            channel.runPendingTasks();
        }

        void fail() {
            fail(no);
        }

        void fail(Throwable why) {
            asked().setFailure(why);
            channel.runPendingTasks();
        }
    }

    @BeforeEach
    void freezeTime() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private static InetAddress address(int... bytes) {
        byte[] all = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            all[i] = (byte) bytes[i];
        }
        try {
            return InetAddress.getByAddress(all);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static InetAddress v4(int last) {
        return address(192, 0, 2, last);
    }

    private static InetAddress v6(int last) {
        return address(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last);
    }

    private Resolver.Answers ask(long maxStaleNanos) {
        return ask(ipv6.source(), maxStaleNanos);
    }

    private Resolver.Answers ask(Lookup.@Nullable Source forIpv6, long maxStaleNanos) {
        return ask(forIpv6, new Lookup.Use(MAX_TTL, maxStaleNanos, false));
    }

    private Resolver.Answers renew() {
        return ask(ipv6.source(), new Lookup.Use(MAX_TTL, HOUR, true));
    }

    private Resolver.Answers ask(Lookup.@Nullable Source forIpv6, Lookup.Use use) {
        Lookup lookup = new Lookup(channel.eventLoop(), new Lookup.Name(HOST, HOST), cache, use);
        lookup.start(forIpv6, ipv4.source(), () -> {});
        return new Resolver.Answers(lookup.ipv6(), lookup.ipv4());
    }

    /** What DNS said a while ago, and no longer holds. */
    private void known(Family family, InetAddress address) {
        cache.put(
                HOST, family, new Answer(List.of(address), null, System.nanoTime() - 1, System.nanoTime() - HOUR / 2));
    }

    private Answer kept(Family family) {
        return Objects.requireNonNull(cache.get(HOST, family));
    }

    private static List<InetAddress> now(Future<List<InetAddress>> answer) {
        assertThat(answer.isSuccess()).as("answered").isTrue();
        return answer.getNow();
    }

    @Test
    void givesTheAnswerOfEachFamilyAndKeepsItForAsLongAsItSays() {
        Resolver.Answers answers = ask(0);
        ipv4.answer(60, v4(1), v4(2));
        assertThat(now(answers.ipv4())).containsExactly(v4(1), v4(2));
        assertThat(answers.ipv6().isDone()).isFalse();
        ipv6.answer(60, v6(1));
        assertThat(now(answers.ipv6())).containsExactly(v6(1));
        Answer kept = kept(Family.IPV4);
        assertThat(kept.isGood()).isTrue();
        assertThat(kept.untilNanos() - System.nanoTime())
                .isBetween(TimeUnit.SECONDS.toNanos(30), TimeUnit.SECONDS.toNanos(60));

        ipv4.promise = null;
        assertThat(now(ask(0).ipv4())).containsExactly(v4(1), v4(2));
        assertThat(ipv4.promise).as("nobody is asked again").isNull();
    }

    @Test
    void asksInTheFormThatItIsToldAndKeepsTheNameAsItIsCalled() {
        new Lookup(channel.eventLoop(), new Lookup.Name(HOST, HOST + "."), cache, new Lookup.Use(MAX_TTL, 0, false))
                .start(null, ipv4.source(), () -> {});
        assertThat(ipv4.name).isEqualTo(HOST + ".");
        ipv4.answer(60, v4(1));
        assertThat(cache.get(HOST, Family.IPV4)).isNotNull();
    }

    @Test
    void aFamilyThatNobodyIsAskedForHasNoAddress() {
        Resolver.Answers answers = ask(null, 0);
        assertThat(now(answers.ipv6())).isEmpty();
        ipv4.fail();
        assertThat(answers.ipv4().cause()).isSameAs(no);
    }

    @Test
    void anAnswerHoldsForASecondAtLeastAndForTheLongestTtlAtMost() {
        ask(0);
        ipv4.answer(0, v4(1));
        ipv6.answer(100_000, v6(1));
        long now = System.nanoTime();
        Answer shortest = kept(Family.IPV4);
        Answer longest = kept(Family.IPV6);
        assertThat(shortest.untilNanos() - shortest.goodNanos()).isBetween(0L, TimeUnit.SECONDS.toNanos(2));
        assertThat(longest.untilNanos() - now)
                .isBetween(TimeUnit.SECONDS.toNanos(60), TimeUnit.SECONDS.toNanos(MAX_TTL));
    }

    @Test
    void aRenewalAsksAlthoughTheAnswerHoldsAndReplacesIt() {
        ask(0);
        ipv4.answer(60, v4(1));
        ipv6.fail();
        ipv4.promise = ipv6.promise = null;
        Resolver.Answers renewed = renew();
        channel.advanceTimeBy(1, TimeUnit.SECONDS); // nobody is content with the answer in doubt
        channel.runScheduledPendingTasks();
        assertThat(renewed.ipv4().isDone()).isFalse();
        ipv4.answer(60, v4(2));
        ipv6.fail();
        assertThat(now(renewed.ipv4())).containsExactly(v4(2));
        assertThat(kept(Family.IPV4).addresses()).containsExactly(v4(2));
    }

    @Test
    void aRenewalThatNobodyAnswersLeavesTheAnswerThatHolds() {
        ask(0);
        ipv4.answer(60, v4(1));
        ipv6.answer(60, v6(1));
        Answer before = kept(Family.IPV4);
        Resolver.Answers renewed = renew();
        ipv4.fail(DnsFailures.timeout());
        ipv6.fail(DnsFailures.timeout());
        assertThat(now(renewed.ipv4())).containsExactly(v4(1));
        assertThat(kept(Family.IPV4)).isEqualTo(before);
        assertThat(cache.stale(name -> true)).isZero();
    }

    @Test
    void aNameThatDoesNotExistIsNotAskedForAgainAtOnce() {
        ask(HOUR);
        ipv6.fail();
        ipv4.fail();
        ipv4.promise = ipv6.promise = null;
        Resolver.Answers again = ask(HOUR);
        assertThat(again.ipv4().cause()).isSameAs(no);
        assertThat(ipv4.promise).isNull();
    }

    @Test
    void theLastAnswerServesWhileDnsFails() {
        known(Family.IPV4, v4(7));
        Resolver.Answers answers = ask(HOUR);
        ipv4.fail();
        assertThat(answers.ipv4().isDone())
                .as("the other family may be answered")
                .isFalse();
        ipv6.fail();
        assertThat(now(answers.ipv4())).containsExactly(v4(7));
        assertThat(cache.stale(name -> true)).isOne();
        assertThat(answers.ipv6().cause()).isSameAs(no);
    }

    @Test
    void theLastAnswerDoesNotServeWhereTheOtherFamilyIsAnswered() {
        known(Family.IPV6, v6(7));
        Resolver.Answers answers = ask(HOUR);
        ipv6.fail();
        ipv4.answer(60, v4(1));
        assertThat(answers.ipv6().cause())
                .as("the name has no such address any more")
                .isSameAs(no);
        assertThat(cache.stale(name -> true)).isZero();
    }

    @Test
    void theLastAnswerServesInAnOutageAlthoughTheOtherFamilyIsAnswered() {
        for (boolean cached : new boolean[] {true, false}) {
            known(Family.IPV4, v4(7));
            if (cached) {
                long now = System.nanoTime();
                cache.put(HOST, Family.IPV6, new Answer(List.of(v6(1)), null, now + HOUR, now));
            } else {
                known(Family.IPV6, v6(1));
            }
            Resolver.Answers answers = ask(HOUR);
            if (!cached) {
                ipv6.answer(60, v6(1));
            }
            ipv4.fail(DnsFailures.timeout());
            assertThat(now(answers.ipv6())).containsExactly(v6(1));
            assertThat(now(answers.ipv4())).containsExactly(v4(7));
            assertThat(kept(Family.IPV4).addresses()).containsExactly(v4(7));
        }
    }

    @Test
    void anAnswerThatIsTooOldDoesNotServe() {
        known(Family.IPV4, v4(7));
        Resolver.Answers answers = ask(HOUR / 4);
        ipv4.fail();
        assertThat(answers.ipv4().cause()).isSameAs(no);
    }

    @Test
    void theLastAnswerServesWhereANewOneTakesLong() {
        known(Family.IPV4, v4(7));
        Resolver.Answers answers = ask(HOUR);
        channel.advanceTimeBy(400, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertThat(answers.ipv4().isDone()).isFalse();
        channel.advanceTimeBy(200, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertThat(now(answers.ipv4())).containsExactly(v4(7));
        ipv4.answer(60, v4(8));
        ipv4.promise = null;
        assertThat(now(ask(HOUR).ipv4())).as("the next one has the new one").containsExactly(v4(8));
    }
}
