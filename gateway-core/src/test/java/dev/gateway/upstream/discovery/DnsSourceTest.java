package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import dev.gateway.upstream.discovery.DnsSource.Use;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which endpoints the addresses of a name are, and when DNS is asked. */
class DnsSourceTest {
    private static final String NAME = "app.test";
    private static final EndpointSpec WHOLE = new EndpointSpec(NAME, 80, 1, NAME, null, "dns:" + NAME);

    private final FakeDns dns = new FakeDns();
    private final List<List<EndpointSpec>> told = new ArrayList<>();
    private final List<Boolean> known = new ArrayList<>();
    private int renewals;

    @AfterEach
    void close() {
        dns.channel.finishAndReleaseAll();
    }

    private static List<InetAddress> addresses(String... literals) throws UnknownHostException {
        List<InetAddress> addresses = new ArrayList<>();
        for (String literal : literals) {
            addresses.add(InetAddress.getByName(literal));
        }
        return addresses;
    }

    private DnsSource start(Use use) {
        DnsSource source = new DnsSource(WHOLE, use, dns, dns.channel.eventLoop(), () -> renewals++);
        source.start((endpoints, provisional) -> {
            told.add(endpoints);
            known.add(!provisional);
        });
        return source;
    }

    private List<EndpointSpec> last() {
        return told.get(told.size() - 1);
    }

    private List<String> hosts() {
        return last().stream().map(EndpointSpec::host).toList();
    }

    @Test
    void aMachineWithBothFamiliesCountsOnce() throws Exception {
        List<InetAddress> two = addresses("192.0.2.2", "192.0.2.1");
        assertThat(DnsSource.hosts(addresses("2001:db8::1", "2001:db8::2"), two, false, NAME))
                .containsExactly("192.0.2.1", "192.0.2.2");
        assertThat(DnsSource.hosts(addresses("2001:db8::2", "2001:db8::1"), List.of(), false, NAME))
                .containsExactly("2001:db8::1", "2001:db8::2");
    }

    @Test
    void aMachineWithoutIpv4UsesIpv6() throws Exception {
        List<InetAddress> ipv4 = addresses("192.0.2.2", "192.0.2.1");
        assertThat(DnsSource.hosts(addresses("2001:db8::1"), ipv4, true, NAME)).containsExactly("2001:db8::1");
        assertThat(DnsSource.hosts(List.of(), ipv4, true, NAME)).containsExactly("192.0.2.1", "192.0.2.2");
    }

    @Test
    void oneAddressOfEachFamilyIsTheNameItself() throws Exception {
        assertThat(DnsSource.hosts(addresses("::1"), addresses("127.0.0.1"), false, NAME))
                .containsExactly(NAME);
    }

    @Test
    void noAddressIsNoHost() {
        assertThat(DnsSource.hosts(List.of(), List.of(), false, NAME)).isEmpty();
    }

    @Test
    void aNameIsOneEndpointUntilItsAddressesAreKnown() throws Exception {
        dns.has(NAME, "192.0.2.1");
        start(Use.HOSTS);
        assertThat(told).containsExactly(List.of(WHOLE));
        dns.run();
        assertThat(last()).containsExactly(new EndpointSpec("192.0.2.1", 80, 1, NAME, null, "dns:" + NAME));
        assertThat(known).containsExactly(false, true);
    }

    @Test
    void aHostWithOneAddressIsCalledByItsName() throws Exception {
        dns.has(NAME, "192.0.2.1");
        start(Use.HOST);
        dns.run();
        assertThat(told).containsExactly(List.of(WHOLE), List.of(WHOLE));
        assertThat(known).as("it has not changed, but is known now").containsExactly(false, true);
        dns.has(NAME, "192.0.2.1", "192.0.2.2");
        dns.pass(33_000);
        assertThat(hosts()).containsExactly("192.0.2.1", "192.0.2.2");
        dns.has(NAME, "192.0.2.2");
        dns.pass(33_000);
        assertThat(last()).containsExactly(WHOLE);
    }

    @Test
    void dnsIsAskedAgainWhenItsAnswerEndsOrATenthLater() throws Exception {
        dns.has(NAME, "192.0.2.1");
        start(Use.HOSTS);
        dns.run();
        assertThat(dns.questions(NAME)).isOne();
        dns.pass(29_999);
        assertThat(dns.questions(NAME)).isOne();
        dns.pass(3_001);
        assertThat(dns.questions(NAME)).isEqualTo(2);
        assertThat(told).as("nothing new is not told").hasSize(2);
    }

    @Test
    void whileDnsFailsTheLastAddressesStayAndItIsAskedEachTwoSeconds() throws Exception {
        dns.has(NAME, "192.0.2.1", "192.0.2.2");
        DnsSource source = start(Use.HOSTS);
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.WAITING);
        dns.run();
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.FRESH);
        dns.beOut(true);
        dns.pass(33_000);
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.STALE);
        assertThat(source.status().problem()).contains("no answer for app.test");
        assertThat(source.status().ageNanos()).isNotNegative();
        int asked = dns.questions(NAME);
        dns.pass(2_200);
        assertThat(dns.questions(NAME)).isEqualTo(asked + 1);
        assertThat(told).hasSize(2);
        dns.beOut(false);
        dns.has(NAME, "192.0.2.3");
        dns.pass(2_200);
        assertThat(hosts()).containsExactly("192.0.2.3");
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.FRESH);
    }

    @Test
    void aNameWithoutAddressesKeepsThoseThatItHad() throws Exception {
        dns.has(NAME, "192.0.2.1");
        DnsSource source = start(Use.HOSTS);
        dns.run();
        dns.has(NAME);
        dns.pass(33_000);
        assertThat(hosts()).containsExactly("192.0.2.1");
        assertThat(source.status().isStale()).isTrue();
    }

    @Test
    void addressesThatTheResolverKeepsWhileDnsFailsAreStale() throws Exception {
        dns.has(NAME, "192.0.2.1").stands(NAME, new UnknownHostException("no answer"));
        DnsSource source = start(Use.HOSTS);
        dns.run();
        assertThat(hosts()).containsExactly("192.0.2.1");
        assertThat(source.status().problem()).contains("no answer");
        dns.stands(NAME, null);
        dns.pass(33_000);
        assertThat(source.status().isStale()).isFalse();
    }

    @Test
    void aTargetIsOfNoUseUntilItsAddressesAreKnown() throws Exception {
        start(Use.TARGET);
        assertThat(told).isEmpty();
        dns.run();
        assertThat(told).as("the first question has failed").containsExactly(List.of());
        dns.has(NAME, "192.0.2.1");
        dns.pass(2_200);
        assertThat(hosts()).containsExactly("192.0.2.1");
    }

    @Test
    void asksNoMoreOnceItIsStopped() throws Exception {
        dns.has(NAME, "192.0.2.1");
        DnsSource source = start(Use.HOSTS);
        dns.run();
        assertThat(dns.isKept(NAME)).isTrue();
        source.stop();
        dns.run();
        dns.pass(400_000);
        assertThat(dns.questions(NAME)).isOne();
        assertThat(dns.isKept(NAME)).isFalse();
    }

    @Test
    void anAnswerBeforeItsTimeCountsAtOnceAndTheNextTimeBeginsThen() throws Exception {
        dns.has(NAME, "192.0.2.1");
        dns.holdFor(600);
        DnsSource source = start(Use.HOSTS);
        dns.run();
        dns.has(NAME, "192.0.2.2");
        dns.pass(400_000);
        dns.renew(NAME);
        assertThat(hosts()).containsExactly("192.0.2.2");
        assertThat(renewals).isOne();
        int questions = dns.questions(NAME);
        dns.pass(599_000);
        assertThat(dns.questions(NAME)).isEqualTo(questions);
        source.stop();
        dns.run();
        assertThat(dns.isFollowed(NAME)).isFalse();
    }
}
