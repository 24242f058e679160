package dev.gateway.upstream.balancer.hash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.BalancedRequest;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsistentHashTest {
    private static final int KEYS = 20_000;
    private static final List<HashKey> BY_PATH = List.of(new HashKey(HashKey.Source.PATH, "", false));

    private static List<Host> hosts(int count) {
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            hosts.add(host(i, i));
        }
        return hosts;
    }

    private static Host host(int index, int address) {
        return new Host(new Endpoint(index, "10.1." + address / 256 + "." + address % 256, 8080, 1));
    }

    private static Endpoint chosen(Balancer balancer, BalancerContext request) {
        Endpoint chosen = balancer.choose(request);
        if (chosen == null) {
            throw new AssertionError("nothing was chosen");
        }
        return chosen;
    }

    private static Map<Integer, String> owners(List<Host> hosts) {
        Balancer balancer = new ConsistentHash(hosts, BY_PATH, 0);
        Map<Integer, String> owners = new HashMap<>();
        for (int key = 0; key < KEYS; key++) {
            owners.put(key, chosen(balancer, BalancedRequest.to("/item/" + key)).toString());
        }
        return owners;
    }

    private static double moved(Map<Integer, String> before, Map<Integer, String> after) {
        return before.keySet().stream()
                        .filter(key -> !Objects.equals(before.get(key), after.get(key)))
                        .count()
                / (double) before.size();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5, 10, 30, 100, 1000})
    void whenAnEndpointGoesOrComesFewKeysMove(int count) {
        List<Host> hosts = hosts(count);
        Map<Integer, String> before = owners(hosts);
        for (int gone : new int[] {0, count / 2, count - 1}) {
            List<Host> fewer = new ArrayList<>(hosts);
            fewer.remove(gone);
            double moved = moved(before, owners(fewer));
            assertThat(moved).isLessThanOrEqualTo(1.0 / count + 0.05);
        }
        List<Host> more = new ArrayList<>(hosts);
        more.add(host(count, count));
        assertThat(moved(before, owners(more))).isLessThanOrEqualTo(1.0 / (count + 1) + 0.05);
    }

    @Test
    void theOrderOfEndpointsHardlyMatters() {
        List<Host> turned = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            turned.add(host(i, 9 - i));
        }
        assertThat(moved(owners(hosts(10)), owners(turned))).isLessThan(0.05);
    }

    private static RequestHead head(String path, @Nullable String name, String... values) {
        Fields fields = new Fields();
        for (String value : values) {
            fields.add(FieldName.of(name == null ? "x" : name), value);
        }
        return new RequestHead(
                Method.GET, new AsciiString("http"), new AsciiString("a.test"), new AsciiString(path), fields, 0);
    }

    private static Endpoint chosen(Balancer balancer, RequestHead head) {
        return chosen(balancer, BalancedRequest.of(head));
    }

    /** Whether requests are told apart: of many that differ in a part only, not all go to the same endpoint. */
    private static void assertHashes(HashKey key, IntFunction<RequestHead> request) {
        Balancer balancer = new ConsistentHash(hosts(5), List.of(key), 0);
        Set<Endpoint> seen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            Endpoint first = chosen(balancer, request.apply(i));
            for (int again = 0; again < 5; again++) {
                assertThat(chosen(balancer, request.apply(i))).isEqualTo(first);
            }
            seen.add(first);
        }
        assertThat(seen).hasSize(5);
    }

    @Test
    void eachPartOfARequestCanBeTheKey() {
        assertHashes(new HashKey(HashKey.Source.HEADER, "X-User", false), i -> head("/", "x-user", "u" + i));
        assertHashes(
                new HashKey(HashKey.Source.COOKIE, "id", false), i -> head("/", "cookie", "a=1; id=" + i + "; b=" + i));
        assertHashes(new HashKey(HashKey.Source.COOKIE, "id", false), i -> head("/", "cookie", "xid=7", "id=" + i));
        assertHashes(
                new HashKey(HashKey.Source.QUERY_PARAMETER, "q", false), i -> head("/s?page=" + 0 + "&q=" + i, null));
        assertHashes(new HashKey(HashKey.Source.PATH, "", false), i -> head("/" + i, null));
    }

    @Test
    void partsThatAreNotTheKeyDoNotMatter() {
        Balancer byCookie = new ConsistentHash(hosts(5), List.of(new HashKey(HashKey.Source.COOKIE, "id", false)), 0);
        Balancer byPath = new ConsistentHash(hosts(5), BY_PATH, 0);
        Endpoint cookie = chosen(byCookie, head("/", "cookie", "id=7"));
        Endpoint path = chosen(byPath, head("/a", null));
        for (int i = 0; i < 50; i++) {
            assertThat(chosen(byCookie, head("/" + i, "cookie", "other=" + i + "; id=7; more=" + i)))
                    .isEqualTo(cookie);
            assertThat(chosen(byPath, head("/a?x=" + i, "x-user", "u" + i))).isEqualTo(path);
        }
    }

    @Test
    void theClientsAddressCountsWithoutItsPort() {
        Balancer balancer = new ConsistentHash(hosts(5), List.of(new HashKey(HashKey.Source.CLIENT, "", false)), 0);
        Set<Endpoint> seen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            SourceAddress one = Objects.requireNonNull(SourceAddress.parse("192.0.2." + i + ":1234"));
            SourceAddress other = Objects.requireNonNull(SourceAddress.parse("192.0.2." + i + ":999"));
            Endpoint chosen = chosen(balancer, new BalancedRequest(head("/", null), one, List.of()));
            assertThat(chosen(balancer, new BalancedRequest(head("/x", null), other, List.of())))
                    .isEqualTo(chosen);
            seen.add(chosen);
        }
        assertThat(seen).hasSize(5);
    }

    @Test
    void keysAreJoinedUnlessOneIsTerminal() {
        HashKey user = new HashKey(HashKey.Source.HEADER, "x-user", true);
        HashKey path = new HashKey(HashKey.Source.PATH, "", false);
        Balancer terminal = new ConsistentHash(hosts(5), List.of(user, path), 0);
        Balancer joined =
                new ConsistentHash(hosts(5), List.of(new HashKey(HashKey.Source.HEADER, "x-user", false), path), 0);
        Set<Endpoint> ofUser = new HashSet<>();
        Set<Endpoint> ofBoth = new HashSet<>();
        Set<Endpoint> without = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            ofUser.add(chosen(terminal, head("/" + i, "x-user", "me")));
            ofBoth.add(chosen(joined, head("/" + i, "x-user", "me")));
            without.add(chosen(terminal, head("/" + i, null)));
        }
        assertThat(ofUser).hasSize(1);
        assertThat(ofBoth).hasSize(5);
        assertThat(without).hasSize(5);
    }

    @Test
    void requestsWithoutAKeyGoToWhereThereAreFew() {
        List<Host> hosts = hosts(2);
        Balancer balancer =
                new ConsistentHash(hosts, List.of(new HashKey(HashKey.Source.HEADER, "x-user", false)), 150);
        hosts.get(0).requests().acquireBeyond();
        for (int i = 0; i < 100; i++) {
            assertThat(chosen(balancer, head("/", null)).index()).isEqualTo(1);
        }
    }

    @Test
    void aKeyThatManyAskForOverflowsToItsNextEndpoint() {
        List<Host> hosts = hosts(4);
        Balancer balancer = new ConsistentHash(hosts, BY_PATH, 150);
        for (int i = 0; i < 4000; i++) {
            hosts.get(chosen(balancer, BalancedRequest.to("/hot")).index())
                    .requests()
                    .acquireBeyond();
        }
        for (Host host : hosts) {
            assertThat(host.requests().taken()).isLessThanOrEqualTo(1000 * 150 / 100 + 4);
        }
        Balancer unbounded = new ConsistentHash(hosts, BY_PATH, 0);
        Endpoint first = chosen(unbounded, BalancedRequest.to("/hot"));
        for (int i = 0; i < 4000; i++) {
            hosts.get(first.index()).requests().acquireBeyond();
        }
        assertThat(chosen(unbounded, BalancedRequest.to("/hot"))).isEqualTo(first);
    }

    @Test
    void fewRequestsOfOneKeyStayTogether() {
        List<Host> hosts = hosts(4);
        Balancer balancer = new ConsistentHash(hosts, BY_PATH, 150);
        Set<Endpoint> seen = new HashSet<>();
        for (int i = 0; i < ConsistentHash.ALWAYS_TAKES; i++) {
            Endpoint chosen = chosen(balancer, BalancedRequest.to("/page"));
            hosts.get(chosen.index()).requests().acquireBeyond();
            seen.add(chosen);
        }
        assertThat(seen).hasSize(1);
    }
}
