package dev.gateway.filter.ipaccess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IpAccessTest {
    private static Supplier<CidrSet> list(String... blocks) {
        CidrSet set = CidrSet.of(Stream.of(blocks)
                .map(block -> Objects.requireNonNull(Cidr.parse(block), block))
                .toList());
        return () -> set;
    }

    private static Verdict ask(IpAccess filter, SourceAddress client) {
        RequestHead head = new RequestHead(
                Method.GET, new AsciiString("http"), new AsciiString("a.test"), new AsciiString("/"), new Fields(), 0);
        return filter.onRequest(head, FakeContext.of(client));
    }

    private static boolean lets(IpAccess filter, String client) {
        return ask(filter, Objects.requireNonNull(SourceAddress.parse(client))) == Verdict.PROCEED;
    }

    @Test
    void withoutAnAllowListAllMayThatAreNotDenied() {
        IpAccess filter =
                new IpAccess(new AccessList(List.of(list("203.0.113.0/24"), list("2001:db8:bad::/48")), null));
        assertThat(lets(filter, "203.0.112.255")).isTrue();
        assertThat(lets(filter, "203.0.113.9")).isFalse();
        assertThat(lets(filter, "2001:db8:bad::1")).isFalse();
        assertThat(lets(filter, "2001:db8::1")).isTrue();
        assertThat(ask(filter, SourceAddress.UNIX)).isEqualTo(Verdict.PROCEED);
    }

    @Test
    void denyComesBeforeAllow() {
        IpAccess filter = new IpAccess(
                new AccessList(List.of(list("10.9.0.0/16")), List.of(list("10.0.0.0/8"), list("192.0.2.7"))));
        assertThat(lets(filter, "10.1.2.3")).isTrue();
        assertThat(lets(filter, "192.0.2.7")).isTrue();
        assertThat(lets(filter, "10.9.2.3")).isFalse();
        assertThat(lets(filter, "192.0.2.8")).isFalse();
        assertThat(lets(filter, "::1")).isFalse();
        assertThat(ask(filter, SourceAddress.UNIX)).isInstanceOf(Verdict.Refuse.class);
    }

    @Test
    void anIpv4BlockHoldsMappedAddresses() throws Exception {
        byte[] mapped = new byte[16];
        mapped[10] = mapped[11] = -1;
        System.arraycopy(new byte[] {10, 1, 2, 3}, 0, mapped, 12, 4);
        InetAddress client = Inet6Address.getByAddress(null, mapped, -1); // stays IPv6, as a raw socket tells it
        IpAccess filter = new IpAccess(new AccessList(List.of(), List.of(list("10.0.0.0/8"))));
        assertThat(ask(filter, new SourceAddress(client, 1))).isEqualTo(Verdict.PROCEED);
        assertThat(lets(filter, "::ffff:10.1.2.3")).isTrue();
        assertThat(lets(filter, "::ffff:11.1.2.3")).isFalse();
    }

    @Test
    void aRefusalHasACauseAndNamesTheClientInTheLogAlone() {
        Verdict verdict = ask(
                new IpAccess(new AccessList(List.of(), List.of())),
                Objects.requireNonNull(SourceAddress.parse("192.0.2.1")));
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_DENIED);
            assertThat(refuse.failure().status()).isEqualTo(403);
            assertThat(refuse.failure().detail()).isEqualTo("client address 192.0.2.1 is not among those allowed");
            assertThat(refuse.fields().size()).isZero();
        });
    }

    @Test
    void aChangedListHoldsFromTheNextRequestOn() {
        AtomicReference<CidrSet> file = new AtomicReference<>(CidrSet.EMPTY);
        IpAccess filter = new IpAccess(new AccessList(List.of(file::get), null));
        assertThat(lets(filter, "192.0.2.1")).isTrue();
        file.set(list("192.0.2.1").get());
        assertThat(lets(filter, "192.0.2.1")).isFalse();
    }

    /** Against the obvious way to do it. */
    @Test
    void manyBlocksAreJudgedAsOneByOne() {
        Random random = new Random(28);
        List<Cidr> blocks = IntStream.range(0, 2_000)
                .mapToObj(i -> Cidr.parseMasked(random.nextInt(4) + "." + random.nextInt(256) + "."
                        + random.nextInt(256) + ".0/" + (10 + random.nextInt(23))))
                .map(Objects::requireNonNull)
                .toList();
        CidrSet set = CidrSet.of(blocks);
        IpAccess filter = new IpAccess(new AccessList(List.of(() -> set), null));
        int denied = 0;
        for (int i = 0; i < 2_000; i++) {
            String client = random.nextInt(5) + "." + random.nextInt(256) + "." + random.nextInt(256) + "."
                    + random.nextInt(256);
            @Nullable
            InetAddress ip = Objects.requireNonNull(SourceAddress.parse(client)).ip();
            boolean expected = blocks.stream().anyMatch(block -> block.contains(Objects.requireNonNull(ip)));
            assertThat(lets(filter, client)).as(client).isEqualTo(!expected);
            denied += expected ? 1 : 0;
        }
        assertThat(denied).isBetween(200, 1_900);
    }
}
