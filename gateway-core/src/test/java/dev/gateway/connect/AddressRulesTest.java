package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.config.Destination;
import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.format.PortRange;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.upstream.BalancedRequest;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.balancer.NamedByRequest;
import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRulesTest {
    private final ConnectTally tally = new ConnectTally();
    private final LocalAddresses local =
            new LocalAddresses(() -> Set.of(address("8.8.4.4"), address("2600::5")), () -> 0, Runnable::run);
    private final OwnListeners own = new OwnListeners(local);

    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static AddressRules.Settings settings(boolean denyPrivate, List<HostRule> trusted, List<HostRule> deny) {
        return new AddressRules.Settings("egress", denyPrivate, trusted, List.of(), deny, false);
    }

    private AddressRules rules(String... trusted) {
        return new AddressRules(settings(true, Rules.list("trusted", trusted), List.of()), own, tally);
    }

    private static boolean mayDial(AddressRules rules, String host, String address, int port) {
        return rules.refuse(host, address(address), port) == null;
    }

    // ---- the whole way of a target: rules, then the name, then the address

    /** What stands in for DNS: a name that is not in it does not exist. */
    private static final Map<String, List<String>> DNS = Map.ofEntries(
            Map.entry("localhost", List.of("127.0.0.1", "::1")),
            Map.entry("ip6-localhost", List.of("::1")),
            Map.entry("metadata.google.internal", List.of("169.254.169.254")),
            Map.entry("metadata", List.of("169.254.169.254")),
            Map.entry("instance-data", List.of("169.254.169.254")),
            Map.entry("127.0.0.1.nip.io", List.of("127.0.0.1")),
            Map.entry("10.0.0.1.sslip.io", List.of("10.0.0.1")),
            Map.entry("intranet.corp.example", List.of("192.168.7.7")),
            Map.entry("nat64.attacker.example", List.of("64:ff9b::a00:1")),
            Map.entry("mixed.attacker.example", List.of("93.184.216.34", "10.0.0.1")),
            Map.entry("ula.attacker.example", List.of("fd00:ec2::254")),
            Map.entry("gateway.example", List.of("8.8.4.4")),
            Map.entry("public.example", List.of("93.184.216.34", "2606:2800:220:1::1")));

    /** Returns the addresses that would be dialed for a CONNECT; none if it is refused before. */
    private List<InetAddress> dialed(
            String authority, AddressRules rules, Function<String, List<InetAddress>> resolver) {
        ConnectPolicy everything = new ConnectPolicy(new ConnectPolicy.Settings(
                "all", List.of(new PortRange(1, 65535)), Rules.allow("*"), List.of(), Sni.OFF, 0));
        RequestHead head = Heads.request("CONNECT", authority, "");
        Verdict verdict = new ConnectRules(Rules.only(everything), each -> rules, tally, false)
                .onRequest(head, FakeContext.from("192.0.2.9"));
        if (verdict != Verdict.PROCEED) {
            return List.of();
        }
        Endpoint endpoint = Objects.requireNonNull(new NamedByRequest().choose(BalancedRequest.of(head)));
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(endpoint.host());
        List<InetAddress> found = new ArrayList<>();
        try {
            for (InetAddress each :
                    literal == null ? resolver.apply(endpoint.host()) : List.of(InetAddress.getByAddress(literal))) {
                if (rules.refuse(endpoint.host(), each, endpoint.port()) == null) {
                    found.add(each);
                }
            }
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
        return found;
    }

    private static List<InetAddress> resolve(String name) {
        return DNS.getOrDefault(name, List.of()).stream()
                .map(AddressRulesTest::address)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // this machine
                "127.0.0.1:443",
                "127.0.0.1:22",
                "127.1.2.3:443",
                "127.255.255.254:443",
                "0.0.0.0:443",
                "0.1.2.3:443",
                "[::1]:443",
                "[::]:443",
                "[0:0:0:0:0:0:0:1]:443",
                "[0000::0001]:443",
                "localhost:443",
                "LOCALHOST.:443",
                "ip6-localhost:443",
                "127.0.0.1.nip.io:443",
                // this network
                "10.0.0.1:443",
                "10.255.255.255:443",
                "172.16.0.1:443",
                "172.31.255.255:443",
                "192.168.0.1:443",
                "100.64.0.1:443",
                "100.127.255.255:443",
                "169.254.0.1:443",
                "[fe80::1]:443",
                "[febf::1]:443",
                "[fc00::1]:443",
                "[fdff:ffff::1]:443",
                "[fec0::1]:443",
                "10.0.0.1.sslip.io:443",
                "intranet.corp.example:443",
                // what clouds tell their machines
                "169.254.169.254:80",
                "169.254.170.2:80",
                "[fd00:ec2::254]:80",
                "[fd20:ce::254]:80",
                "168.63.129.16:80",
                "100.100.100.200:80",
                "192.0.0.192:80",
                "metadata.google.internal:80",
                "metadata:80",
                "instance-data:80",
                "ula.attacker.example:80",
                // many machines, none, or examples
                "224.0.0.1:443",
                "239.255.255.250:1900",
                "255.255.255.255:443",
                "240.0.0.1:443",
                "[ff02::1]:443",
                "[ff0e::1]:443",
                "192.0.2.1:443",
                "198.51.100.1:443",
                "203.0.113.1:443",
                "198.18.0.1:443",
                "198.19.255.255:443",
                "192.88.99.1:443",
                "[2001:db8::1]:443",
                "[3fff::1]:443",
                "[2001:2::1]:443",
                "[2001:20::1]:443",
                "[100::1]:443",
                "[4000::1]:443",
                "[5f00::1]:443",
                // IPv4 addresses in IPv6 ones
                "[::ffff:127.0.0.1]:443",
                "[::ffff:7f00:1]:443",
                "[::ffff:10.0.0.1]:443",
                "[::ffff:a9fe:a9fe]:80",
                "[::127.0.0.1]:443",
                "[::7f00:1]:443",
                "[::8.8.8.8]:443",
                "[64:ff9b::7f00:1]:443",
                "[64:ff9b::a9fe:a9fe]:80",
                "[64:ff9b:1::1]:443",
                "[64:ff9b:1:ffff::808:808]:443",
                "[2002:7f00:1::]:443",
                "[2002:a00:1::1]:443",
                "[2002:c0a8:101::1]:443",
                "[2001:0:a00:1::]:443",
                "[2001:0:808:808::f5ff:fffe]:443",
                "[::ffff:0:7f00:1]:443",
                "[::ffff:0:808:808]:443",
                "[2600::5efe:a00:1]:443",
                "[2600::200:5efe:7f00:1]:443",
                "nat64.attacker.example:443",
                // addresses in odd forms
                "2130706433:443",
                "017700000001:443",
                "0x7f000001:443",
                "0x7F000001:443",
                "0177.0.0.1:443",
                "0x7f.0.0.1:443",
                "0x7f.1:443",
                "127.1:443",
                "127.0.1:443",
                "127.0.0.1.:443",
                "127.0.0.01:443",
                "0:443",
                "010.0.0.1:443",
                "3232235521:443",
                "10.1:443",
                "169.254.43518:80",
                "0xa9fea9fe:80",
                "2852039166:80",
                "0251.0376.0251.0376:80",
                "127.0.0.1.1:443",
                // no targets at all
                "[fe80::1%25eth0]:443",
                "[::1%lo]:443",
                "%31%32%37.0.0.1:443",
                "127.0.0.1%00.example.com:443",
                "user@127.0.0.1:443",
                "\u2460\u2461\u2466.0.0.1:443",
                "127\u30020.0.1:443",
                "[::ffff:127.1]:443",
                "[::ffff:0x7f.0.0.1]:443",
                "127.0.0.1",
                "[::1]",
                // this gateway
                "8.8.4.4:3128",
                "gateway.example:3128",
                "[2600::5]:3128",
                "[64:ff9b::808:404]:3128",
                "9.9.9.9:9901",
            })
    void noTargetThatIsNotPublicGetsThrough(String authority) {
        own.set(List.of(new InetSocketAddress("0.0.0.0", 3128), new InetSocketAddress("9.9.9.9", 9901)));

        assertThat(dialed(authority, rules(), AddressRulesTest::resolve)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "93.184.216.34:443",
                "public.example:443",
                "8.8.4.4:443",
                "[2606:2800:220:1::1]:443",
                "1.1.1.1:443",
                "100.63.255.255:443",
                "100.128.0.0:443",
                "172.15.255.255:443",
                "172.32.0.0:443",
                "169.253.255.255:443",
                "192.0.1.0:443",
                "198.17.255.255:443",
                "198.20.0.0:443",
                "223.255.255.255:443",
                "[2002:808:808::1]:443",
                "[64:ff9b::808:808]:443",
                "[::ffff:8.8.8.8]:443",
                "[2001:4860:4860::8888]:443",
                "[2000::1]:443",
                "[3ffe::1]:443",
                "[2001:200::1]:443",
                "9.9.9.9:443",
                "[2600::5efe:808:808]:443"
            })
    void publicTargetsGetThrough(String authority) {
        own.set(List.of(new InetSocketAddress("0.0.0.0", 3128), new InetSocketAddress("9.9.9.9", 9901)));

        assertThat(dialed(authority, rules(), AddressRulesTest::resolve)).isNotEmpty();
    }

    @Test
    void ofSeveralAddressesOnlyThePublicOnesAreDialed() {
        assertThat(dialed("mixed.attacker.example:443", rules(), AddressRulesTest::resolve))
                .containsExactly(address("93.184.216.34"));
    }

    /** A name that means something harmless when it is first asked for, and this machine from then on. */
    @Test
    void aNameThatIsMadeToMeanSomethingElseIsJudgedByWhatIsDialed() {
        Iterator<String> answers = List.of("93.184.216.34", "127.0.0.1", "10.0.0.1", "169.254.169.254")
                .iterator();
        Function<String, List<InetAddress>> rebinding = name -> List.of(address(answers.next()));
        AddressRules rules = rules();

        assertThat(dialed("rebinding.example:443", rules, rebinding)).containsExactly(address("93.184.216.34"));
        assertThat(dialed("rebinding.example:443", rules, rebinding)).isEmpty();
        assertThat(dialed("rebinding.example:443", rules, rebinding)).isEmpty();
        assertThat(dialed("rebinding.example:443", rules, rebinding)).isEmpty();
    }

    // ---- names that another proxy would resolve

    @ParameterizedTest
    @CsvSource({
        "localhost, loopback",
        "a.localhost, loopback",
        "localhost.localdomain, loopback",
        "localhost4, loopback",
        "localhost6.localdomain6, loopback",
        "localhost.example.org, loopback",
        "ip6-localhost, loopback",
        "ip6-loopback, loopback",
        "this.localdomain, loopback",
        "metadata, without a dot",
        "instance-data, without a dot",
        "db, without a dot",
        "metadata.google.internal, metadata",
        "metadata.goog, metadata",
        "metadata.azure.internal, metadata",
        "instance-data.ec2.internal, metadata",
        "host.docker.internal, containers",
        "host.containers.internal, containers"
    })
    void noParentIsAskedForANameThatNoPublicHostHas(String name, String kind) {
        assertThat(rules().refuseName(name, 443)).contains(kind);
        assertThat(new AddressRules(settings(false, List.of(), List.of()), own, tally).refuseName(name, 443))
                .as("without denyPrivate")
                .isNull();
        assertThat(rules(name).refuseName(name, 443)).as("trusted").isNull();
        assertThat(naming(true, name, 443).refuseName(name, 443))
                .as("trusted with its port")
                .isNull();
        assertThat(naming(true, name, 443).refuseName(name, 80)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "notlocalhost.example",
                "metadata.example.org",
                "wiki.corp.internal",
                "internal.example",
                "xn--a.b"
            })
    void aParentIsAskedForOtherNames(String name) {
        assertThat(rules().refuseName(name, 443)).isNull();
    }

    @Test
    void noParentIsAskedForAListenerOfThisMachine() {
        own.set(List.of(new InetSocketAddress("127.0.0.1", 9901)));
        AddressRules open = new AddressRules(settings(false, List.of(), List.of()), own, tally);
        assertThat(open.refuseName("localhost", 9901)).contains("this gateway itself");
        assertThat(open.refuseName("localhost", 9902)).isNull();
    }

    // ---- exemptions

    /** Packets for a Teredo address go to its server, and come to its client. */
    @Test
    void anAddressWithTwoInsideIsTrustedIfBothAre() {
        String both = "2001:0:a01:203::f5fe:fdfd"; // 10.1.2.3 and 10.1.2.2
        String one = "2001:0:a01:203::5601:5601"; // 10.1.2.3 and 169.254.169.254
        AddressRules rules = rules("10.1.2.0/24");
        assertThat(mayDial(rules, "a.example", both, 443)).isTrue();
        assertThat(mayDial(rules, "a.example", one, 443)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "registry.internal, 10.9.9.9, true",
        "REGISTRY.internal, 10.9.9.9, false", // names come here as they were judged
        "a.trusted.internal, 10.9.9.9, true",
        "other.internal, 10.9.9.9, false",
        "other.internal, 10.1.2.3, true",
        "10.1.2.3, 10.1.2.3, true",
        "other.internal, 64:ff9b::a01:203, true",
        "other.internal, fd00::1, true",
        "other.internal, fd01::1, false",
        "other.internal, 10.1.3.3, false",
    })
    void whatIsTrustedMayBeDialed(String host, String address, boolean may) {
        AddressRules rules = rules("registry.internal", ".trusted.internal", "10.1.2.0/24", "fd00::/16");

        assertThat(mayDial(rules, host, address, 443)).isEqualTo(may);
    }

    private AddressRules naming(boolean denyPrivate, String host, int port) {
        return new AddressRules(
                new AddressRules.Settings(
                        "egress",
                        denyPrivate,
                        List.of(),
                        List.of(new Destination.HostAndPort(
                                Position.NOWHERE, new Destination.Name(Position.NOWHERE, host), port)),
                        List.of(),
                        false),
                own,
                tally);
    }

    @Test
    void ourOwnListenersAreReachedOnlyIfTheyAreNamedWithTheirPorts() {
        own.set(List.of(new InetSocketAddress("127.0.0.1", 9901), new InetSocketAddress("::", 443)));
        AddressRules trusting = rules("127.0.0.0/8", "127.0.0.1", "8.8.4.4", ".example", "2600::5/128");

        assertThat(mayDial(trusting, "127.0.0.1", "127.0.0.1", 9901)).isFalse();
        assertThat(mayDial(trusting, "127.0.0.1", "127.0.0.1", 9902)).isTrue();
        assertThat(mayDial(trusting, "8.8.4.4", "8.8.4.4", 443)).isFalse();
        assertThat(mayDial(trusting, "shop.example", "8.8.4.4", 443)).isFalse();
        assertThat(mayDial(trusting, "2600::5", "2600::5", 443)).isFalse();
        for (boolean denyPrivate : new boolean[] {true, false}) {
            AddressRules byAddress = naming(denyPrivate, "127.0.0.1", 9901);
            AddressRules byName = naming(denyPrivate, "shop.example", 443);
            assertThat(mayDial(byAddress, "localhost", "127.0.0.1", 9901)).isTrue();
            assertThat(mayDial(byAddress, "localhost", "127.0.0.1", 443)).isFalse();
            assertThat(mayDial(byAddress, "localhost", "127.0.0.1", 9902)).isEqualTo(!denyPrivate);
            assertThat(mayDial(byName, "shop.example", "8.8.4.4", 443)).isTrue();
            assertThat(mayDial(byName, "shop.example", "127.0.0.1", 9901)).isFalse();
            assertThat(mayDial(byName, "other.example", "8.8.4.4", 443)).isFalse();
        }
    }

    @Test
    void whereWeListenIsKnownFromWhenItIsSaid() {
        AddressRules rules = rules();

        assertThat(mayDial(rules, "a.example", "8.8.4.4", 3128)).isTrue();
        own.set(List.of(new InetSocketAddress("8.8.4.4", 3128)));
        assertThat(mayDial(rules, "a.example", "8.8.4.4", 3128)).isFalse();
        assertThat(mayDial(rules, "a.example", "8.8.4.4", 3129)).isTrue();
        assertThat(mayDial(rules, "a.example", "2600::5", 3128)).isTrue();
    }

    @Test
    void aWildcardIsDialedAsLoopback() {
        own.set(List.of(new InetSocketAddress("127.0.0.1", 9901)));
        AddressRules rules = rules("0.0.0.0/8", "::");

        assertThat(mayDial(rules, "0.0.0.0", "0.0.0.0", 9901)).isFalse();
        assertThat(mayDial(rules, "::", "::", 9901)).isFalse();
        assertThat(mayDial(rules, "0.0.0.0", "0.0.0.0", 9902)).isTrue();
    }

    @Test
    void addressesAreReadAnewOnceTheyAreOld() {
        long[] now = {0};
        List<Runnable> tasks = new ArrayList<>();
        List<Set<InetAddress>> answers =
                new ArrayList<>(List.of(Set.of(address("8.8.8.8")), Set.of(address("9.9.9.9")), Set.of()));
        LocalAddresses addresses = new LocalAddresses(() -> answers.remove(0), () -> now[0], tasks::add);

        assertThat(addresses.contains(address("8.8.8.8"))).isTrue();
        now[0] = 11_000_000_000L;
        assertThat(addresses.contains(address("8.8.8.8"))).isTrue();
        assertThat(addresses.contains(address("8.8.8.8"))).isTrue();
        assertThat(tasks).hasSize(1);
        tasks.get(0).run();
        assertThat(addresses.contains(address("8.8.8.8"))).isFalse();
        assertThat(addresses.contains(address("9.9.9.9"))).isTrue();
        assertThat(tasks).hasSize(1);
        now[0] += 10_000_000_000L; // just fresh
        assertThat(addresses.contains(address("9.9.9.9"))).isTrue();
        assertThat(tasks).hasSize(1);
        now[0]++;
        assertThat(addresses.contains(address("9.9.9.9"))).isTrue();
        assertThat(tasks).as("the second time").hasSize(2);
        tasks.get(1).run();
        assertThat(addresses.contains(address("9.9.9.9"))).isFalse();
    }

    @Test
    void addressesThatCouldNotBeReadAnewAreReadAtTheNextQuestion() {
        long[] now = {0};
        List<Set<InetAddress>> answers = new ArrayList<>(List.of(Set.of(), Set.of(address("9.9.9.9"))));
        boolean[] busy = {true};
        LocalAddresses addresses = new LocalAddresses(() -> answers.remove(0), () -> now[0], task -> {
            if (busy[0]) {
                throw new RejectedExecutionException("made by the test");
            }
            task.run();
        });
        now[0] = 11_000_000_000L;
        assertThat(addresses.contains(address("9.9.9.9"))).isFalse();
        busy[0] = false;
        addresses.contains(address("9.9.9.9"));
        assertThat(addresses.contains(address("9.9.9.9"))).isTrue();
    }

    // ---- what else is judged

    @Test
    void aDeniedBlockIsDeniedWhateverNameLeadsThere() {
        AddressRules rules = new AddressRules(
                settings(false, Rules.list("trusted", "93.184.216.34"), Rules.deny("93.184.216.0/24", "x.example")),
                own,
                tally);

        assertThat(mayDial(rules, "public.example", "93.184.216.34", 443)).isFalse();
        assertThat(mayDial(rules, "public.example", "64:ff9b::5db8:d822", 443)).isFalse();
        assertThat(mayDial(rules, "x.example", "93.184.217.1", 443)).isTrue();
        assertThat(mayDial(rules, "localhost", "127.0.0.1", 443)).isTrue();
        assertThat(rules.refuse("public.example", address("93.184.216.34"), 443))
                .isEqualTo("93.184.216.34 is in a block that is denied");
    }

    @Test
    void withoutDenyPrivateEverythingButThisGatewayMayBeDialed() {
        own.set(List.of(new InetSocketAddress("127.0.0.1", 9901)));
        AddressRules rules = new AddressRules(settings(false, List.of(), List.of()), own, tally);

        assertThat(rules.refuse("localhost", address("127.0.0.1"), 9901)).isEqualTo("127.0.0.1 is this gateway itself");
        assertThat(mayDial(rules, "localhost", "127.0.0.1", 9902)).isTrue();
        assertThat(mayDial(rules, "metadata", "169.254.169.254", 80)).isTrue();
    }

    @Test
    void whatIsRefusedIsExplainedAndCounted() {
        String reason = rules().refuse("a.example", address("64:ff9b::a9fe:a9fe"), 80);

        assertThat(reason)
                .contains("64:ff9b:0:0:0:0:a9fe:a9fe")
                .contains("169.254.169.254")
                .contains("link-local");
        List<String> denials = new ArrayList<>();
        tally.forEachDenial((labels, count) -> denials.add(labels.rule() + " " + count));
        assertThat(denials).containsExactly("address 1");
    }

    @Test
    void auditModeRefusesWhatIsNotPublicAndNotesWhatIsDenied() {
        own.set(List.of(new InetSocketAddress("127.0.0.1", 9901)));
        AddressRules rules = new AddressRules(
                new AddressRules.Settings("egress", true, List.of(), List.of(), Rules.deny("93.184.216.0/24"), true),
                own,
                tally);

        assertThat(mayDial(rules, "registry.internal", "10.0.0.7", 443)).isFalse();
        assertThat(mayDial(rules, "169.254.169.254", "169.254.169.254", 80)).isFalse();
        assertThat(mayDial(rules, "public.example", "93.184.216.34", 443)).isTrue();
        assertThat(mayDial(rules, "localhost", "127.0.0.1", 9901)).isFalse();
        assertThat(tally.audit().notPublic()).containsExactly("169.254.169.254", "registry.internal");
    }

    /** An IPv4-mapped address in a form that the platform usually does away with. */
    @Test
    void aMappedAddressIsJudgedByWhatIsInside() throws UnknownHostException {
        byte[] bytes = new byte[16];
        bytes[10] = bytes[11] = -1;
        bytes[12] = 127;
        bytes[15] = 1;
        InetAddress mapped = Inet6Address.getByAddress("x", bytes, -1);

        assertThat(mapped.getAddress()).hasSize(16);
        assertThat(rules().refuse("x.example", mapped, 443)).isNotNull();
    }

    private static @Nullable String kind(String address) {
        return SpecialAddresses.kind(address(address));
    }

    @Test
    void kindsAreNamed() {
        assertThat(kind("127.0.0.1")).isEqualTo("loopback");
        assertThat(kind("::1")).isEqualTo("loopback");
        assertThat(kind("::")).isEqualTo("unspecified");
        assertThat(kind("fe80::1")).isEqualTo("link-local");
        assertThat(kind("fd00::1")).isEqualTo("unique local");
        assertThat(kind("8.8.8.8")).isNull();
    }
}
