package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.dns.NameCache.Answer;
import dev.gateway.net.dns.NameCache.Turn;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NameCacheTest {
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final NameCache cache = new NameCache(3, 2);

    private static List<InetAddress> addresses(int count) {
        return IntStream.range(0, count).mapToObj(NameCacheTest::address).toList();
    }

    private static InetAddress address(int i) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) i});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static Answer good(int addresses) {
        return new Answer(addresses(addresses), null, 100, 50);
    }

    private static Answer stale() {
        return new Answer(addresses(1), new UnknownHostException("a"), 100, 50);
    }

    /** Four event loops that ask for both families of a name are one piece of news. */
    @Test
    void aNameBecomesStaleOnceAndFreshOnce() {
        assertThat(cache.put("a", Family.IPV4, good(1))).isEqualTo(Turn.NONE);
        assertThat(cache.put("a", Family.IPV4, stale())).isEqualTo(Turn.STALE);
        assertThat(cache.put("a", Family.IPV4, stale())).isEqualTo(Turn.NONE);
        assertThat(cache.put("a", Family.IPV6, stale())).isEqualTo(Turn.NONE);
        assertThat(cache.put("a", Family.IPV6, good(1))).isEqualTo(Turn.NONE);
        assertThat(cache.put("a", Family.IPV4, good(1))).isEqualTo(Turn.FRESH);
        assertThat(cache.put("a", Family.IPV6, good(1))).isEqualTo(Turn.NONE);
    }

    @Test
    void knowsEachFamilyByItself() {
        cache.put("a", Family.IPV4, good(1));
        assertThat(cache.get("a", Family.IPV4)).isEqualTo(good(1));
        assertThat(cache.get("a", Family.IPV6)).isNull();
        assertThat(cache.get("b", Family.IPV4)).isNull();
    }

    @Test
    void keepsTheNamesThatWereAskedForLast() {
        for (String name : List.of("a", "b", "c")) {
            cache.put(name, Family.IPV4, good(1));
        }
        cache.get("a", Family.IPV4);
        cache.put("d", Family.IPV6, good(1));
        assertThat(cache.get("b", Family.IPV4)).isNull();
        assertThat(cache.get("a", Family.IPV4)).isNotNull();
        assertThat(cache.get("c", Family.IPV4)).isNotNull();
        assertThat(cache.get("d", Family.IPV6)).isNotNull();
    }

    @Test
    void keepsTheFirstAddressesOfMany() {
        cache.put("a", Family.IPV4, good(5));
        Answer kept = Objects.requireNonNull(cache.get("a", Family.IPV4));
        assertThat(kept.addresses()).isEqualTo(addresses(2));
        assertThat(kept.untilNanos()).isEqualTo(100);
        assertThat(kept.goodNanos()).isEqualTo(50);
    }

    @Test
    void forgetsNamesThatNobodyWantsAnyMore() {
        cache.put("a", Family.IPV4, good(1));
        cache.put("b", Family.IPV4, good(1));
        cache.forget("a");
        cache.forget("c");
        assertThat(cache.get("a", Family.IPV4)).isNull();
        assertThat(cache.get("b", Family.IPV4)).isNotNull();
    }

    @Test
    void tellsWhichAnswersAreGoodAndWhichAreOld() {
        UnknownHostException failure = new UnknownHostException("no answer");
        Answer stale = new Answer(addresses(1), failure, 100, 50);
        Answer none = new Answer(List.of(), failure, 100, 0);
        assertThat(good(1).isGood()).isTrue();
        assertThat(good(0).isGood()).isFalse();
        assertThat(stale.isGood()).isFalse();
        assertThat(stale.isStale()).isTrue();
        assertThat(none.isStale()).isFalse();
        cache.put("a", Family.IPV4, stale);
        cache.put("a", Family.IPV6, stale);
        cache.put("b", Family.IPV4, none);
        cache.put("c", Family.IPV4, good(1));
        assertThat(cache.stale(name -> true)).as("names, not answers").isOne();
        assertThat(cache.stale(name -> !name.equals("a"))).isZero();
    }

    @Test
    void aNameStandsAsTheAnswerDoesThatIsStale() {
        UnknownHostException failure = new UnknownHostException("no answer");
        assertThat(cache.standing("a")).isNull();
        cache.put("a", Family.IPV6, new Answer(List.of(), failure, 100, 0));
        assertThat(cache.standing("a")).as("no addresses").isNull();
        cache.put("a", Family.IPV4, good(1));
        assertThat(cache.standing("a")).isEqualTo(good(1));
        Answer stale = new Answer(List.of(v6()), failure, 100, 40);
        cache.put("a", Family.IPV6, stale);
        assertThat(cache.standing("a")).isEqualTo(stale);
    }

    @Test
    void anAddressIsFormerOnceAGoodAnswerLacksIt() {
        assertThat(cache.isFormer("a", address(0))).as("nothing is known").isFalse();
        cache.put("a", Family.IPV4, good(1));
        assertThat(cache.isFormer("a", address(0))).isFalse();
        assertThat(cache.isFormer("a", address(1))).isTrue();
        cache.put("a", Family.IPV6, good(0));
        assertThat(cache.isFormer("a", v6())).as("no addresses of its family").isFalse();
    }

    @Test
    void noAddressIsFormerBecauseDnsFailsOrGivesManyAddresses() {
        UnknownHostException failure = new UnknownHostException("no answer");
        cache.put("a", Family.IPV4, new Answer(addresses(1), failure, 100, 50));
        assertThat(cache.isFormer("a", address(1))).as("an old answer").isFalse();
        cache.put("a", Family.IPV4, new Answer(List.of(), failure, 100, 0));
        assertThat(cache.isFormer("a", address(1))).as("no answer").isFalse();
        cache.put("a", Family.IPV4, good(2));
        assertThat(cache.isFormer("a", address(1))).isFalse();
        assertThat(cache.isFormer("a", address(2)))
                .as("maybe beyond what is kept")
                .isFalse();
    }

    @Test
    void tellsWhenAGoodAnswerEnds() {
        assertThat(cache.goodUntilNanos("a", 7)).isEqualTo(7);
        cache.put("a", Family.IPV4, good(1));
        cache.put("a", Family.IPV6, new Answer(List.of(v6()), null, 90, 50));
        assertThat(cache.goodUntilNanos("a", 7)).isEqualTo(90);
        cache.put("a", Family.IPV6, new Answer(List.of(), new UnknownHostException("none"), 60, 0));
        assertThat(cache.goodUntilNanos("a", 7))
                .as("that of the family that has one")
                .isEqualTo(100);
    }

    private static InetAddress v6() {
        try {
            return InetAddress.getByName("2001:db8::1");
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void knowsWhichNamesHaveAnAddress() {
        cache.put("a", Family.IPV4, good(1));
        cache.put("b", Family.IPV4, good(2));
        assertThat(cache.namesOf(address(0))).containsExactlyInAnyOrder("a", "b");
        cache.put("b", Family.IPV4, new Answer(List.of(address(1)), null, 100, 50));
        assertThat(cache.namesOf(address(0))).containsExactly("a");
        assertThat(cache.namesOf(address(1))).containsExactly("b");
        cache.forget("b");
        assertThat(cache.namesOf(address(1))).isEmpty();
        for (String other : List.of("c", "d", "e")) { // more than it holds
            cache.put(other, Family.IPV4, good(0));
        }
        assertThat(cache.namesOf(address(0))).isEmpty();
    }

    @Test
    void anAnswerThatHasExpiredIsKeptForATimeWhenDnsFails() {
        Answer answer = new Answer(addresses(1), null, System.nanoTime() + HOUR, 50);
        cache.put("a", Family.IPV4, answer);
        cache.put("b", Family.IPV4, answer);
        cache.expire("b"::equals);
        Answer expired = Objects.requireNonNull(cache.get("a", Family.IPV4));
        assertThat(expired.isValid()).isFalse();
        assertThat(expired.addresses()).isEqualTo(addresses(1));
        assertThat(expired.goodNanos()).isEqualTo(50);
        assertThat(cache.get("b", Family.IPV4)).isEqualTo(answer);
    }
}
