package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which endpoints SRV records and the addresses of their targets make. */
class SrvSourceTest {
    private static final String NAME = "_http._tcp.app.test";

    private final FakeDns dns = new FakeDns();
    private final List<List<EndpointSpec>> told = new ArrayList<>();
    private final SrvSource source = new SrvSource(NAME, "srv:" + NAME, dns, dns.channel.eventLoop());

    @AfterEach
    void close() {
        dns.channel.finishAndReleaseAll();
    }

    private void start() {
        source.start((endpoints, provisional) -> told.add(endpoints));
        dns.run();
    }

    /** Returns the weights that were told last, by the endpoints. */
    private Map<String, Double> last() {
        Map<String, Double> weights = new TreeMap<>();
        told.get(told.size() - 1).forEach(each -> weights.put(each.host() + ":" + each.port(), each.weight()));
        return weights;
    }

    @Test
    void anAddressHasThePortOfItsRecordAndItsPartOfTheWeight() throws Exception {
        dns.serves(NAME, "1 60 8080 a.test.", "1 40 8081 b.test.", "2 9 8082 c.test.")
                .has("a.test.", "192.0.2.1", "192.0.2.2", "192.0.2.3")
                .has("b.test.", "192.0.2.4")
                .has("c.test.", "192.0.2.5");
        start();
        assertThat(told).hasSize(1);
        assertThat(last())
                .containsOnly(
                        Map.entry("192.0.2.1:8080", 20.0),
                        Map.entry("192.0.2.2:8080", 20.0),
                        Map.entry("192.0.2.3:8080", 20.0),
                        Map.entry("192.0.2.4:8081", 40.0));
        assertThat(told.get(0)).allSatisfy(each -> {
            assertThat(each.name()).isEqualTo("app.test");
            assertThat(each.source()).isEqualTo("srv:" + NAME);
        });
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.FRESH);
    }

    @Test
    void theLowestPriorityWithAddressesIsUsed() throws Exception {
        dns.serves(NAME, "1 0 80 a.test.", "2 0 80 b.test.").has("b.test.", "192.0.2.2");
        start();
        assertThat(last()).containsOnlyKeys("192.0.2.2:80");
        assertThat(source.status().isStale()).as("the part in use is fresh").isFalse();
        dns.has("a.test.", "192.0.2.1");
        dns.pass(2_200);
        assertThat(last()).containsOnlyKeys("192.0.2.1:80");
    }

    @Test
    void recordsOfWeightZeroAreSeldomChosenUnlessAllAre() throws Exception {
        dns.serves(NAME, "1 9 80 a.test.", "1 0 80 b.test.", "1 0 80 c.test.")
                .has("a.test.", "192.0.2.1")
                .has("b.test.", "192.0.2.2")
                .has("c.test.", "192.0.2.3");
        start();
        assertThat(last())
                .containsOnly(
                        Map.entry("192.0.2.1:80", 9.0), Map.entry("192.0.2.2:80", 0.5), Map.entry("192.0.2.3:80", 0.5));
        dns.serves(NAME, "1 0 80 a.test.", "1 0 80 b.test.");
        dns.pass(33_000);
        assertThat(last()).containsOnly(Map.entry("192.0.2.1:80", 1.0), Map.entry("192.0.2.2:80", 1.0));
    }

    @Test
    void newTargetsReplaceTheFormerOnesWhenTheirAddressesAreKnown() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        start();
        dns.serves(NAME, "1 1 80 b.test.", "1 1 80 c.test.").has("c.test.", "192.0.2.3");
        dns.beSilent("b.test.", true);
        dns.pass(33_000);
        assertThat(last()).as("one new target is silent").containsOnlyKeys("192.0.2.1:80");
        assertThat(dns.isKept("a.test.")).isTrue();
        dns.pass(SrvSource.PATIENCE_MILLIS);
        assertThat(last()).as("but not for long").containsOnlyKeys("192.0.2.3:80");
        assertThat(dns.isKept("a.test.")).isFalse();
    }

    @Test
    void formerEndpointsStayWhileNoTargetHasAnAddress() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        start();
        dns.serves(NAME, "1 1 80 b.test.");
        dns.pass(33_000);
        dns.pass(SrvSource.PATIENCE_MILLIS);
        assertThat(last()).containsOnlyKeys("192.0.2.1:80");
        assertThat(source.status().problem()).isEqualTo("no target of the SRV records has an address");
        dns.has("b.test.", "192.0.2.2");
        dns.pass(2_200);
        assertThat(last()).containsOnlyKeys("192.0.2.2:80");
        assertThat(source.status().isStale()).isFalse();
    }

    @Test
    void whileDnsFailsOrHasNoRecordsTheLastEndpointsStay() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        start();
        dns.beOut(true);
        dns.pass(33_000);
        assertThat(told).hasSize(1);
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.STALE);
        assertThat(source.status().problem()).contains("no answer for " + NAME);
        int asked = dns.questions(NAME);
        dns.pass(2_200);
        assertThat(dns.questions(NAME)).isEqualTo(asked + 1);
        dns.beOut(false);
        dns.pass(2_200);
        assertThat(source.status().state()).isEqualTo(SourceStatus.State.FRESH);
        assertThat(told).hasSize(1);
    }

    @Test
    void aTargetThatFailsMakesTheSourceStale() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        start();
        dns.has("a.test.");
        dns.pass(33_000);
        assertThat(last()).containsOnlyKeys("192.0.2.1:80");
        assertThat(source.status().problem()).startsWith("a.test.: ");
    }

    @Test
    void ifTheFirstQuestionFailsThereIsNoEndpoint() throws Exception {
        start();
        assertThat(told).containsExactly(List.of());
        assertThat(source.status().ageNanos()).isNegative();
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        dns.pass(2_200);
        assertThat(last()).containsOnlyKeys("192.0.2.1:80");
    }

    @Test
    void aServiceThatIsDecidedlyNotAvailableHasNoEndpoints() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        start();
        dns.hasNoService(NAME);
        dns.pass(33_000);
        assertThat(last()).isEmpty();
        assertThat(source.status().isStale()).isFalse();
        assertThat(dns.isKept("a.test.")).isFalse();
    }

    @Test
    void moreThanAThousandAddressesAreLeftOut() throws Exception {
        String[] many = IntStream.range(0, 1200)
                .mapToObj(i -> "10.0." + i / 250 + "." + i % 250)
                .toArray(String[]::new);
        dns.serves(NAME, "1 1 80 a.test.", "1 1 81 a.test.").has("a.test.", many);
        start();
        assertThat(told.get(0)).hasSize(1000);
    }

    @Test
    void dnsIsAskedAgainWhenTheRecordsEndOrATenthLater() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        dns.holdFor(60);
        start();
        dns.pass(59_999);
        assertThat(dns.questions(NAME)).isOne();
        dns.pass(6_001);
        assertThat(dns.questions(NAME)).isEqualTo(2);
    }

    @Test
    void asksNoMoreOnceItIsStopped() throws Exception {
        dns.serves(NAME, "1 1 80 a.test.").has("a.test.", "192.0.2.1");
        start();
        source.stop();
        dns.run();
        dns.pass(400_000);
        assertThat(dns.questions(NAME)).isOne();
        assertThat(dns.questions("a.test.")).isOne();
        assertThat(dns.isKept("a.test.")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "_http._tcp.app.test, app.test",
        "_https._tcp.www.shop.test, www.shop.test",
        "app.service.test, app.service.test",
        "_http._tcp, _http._tcp"
    })
    void tlsVerifiesTheNameOfTheService(String name, String service) {
        assertThat(SrvSource.service(name)).isEqualTo(service);
    }

    @Test
    void recordsAreInDoubtWithTheAddressesOfTheirTargets() throws Exception {
        dns.serves(NAME, "1 0 80 a.test.").has("a.test.", "192.0.2.1").has("b.test.", "192.0.2.2");
        dns.holdFor(600);
        start();
        dns.serves(NAME, "1 0 80 b.test.");
        dns.renew("a.test.");
        assertThat(last()).containsOnlyKeys("192.0.2.2:80");
        assertThat(dns.isFollowed("a.test.")).isFalse();
        dns.serves(NAME, "1 0 81 b.test.");
        dns.renew("b.test.");
        assertThat(dns.questions(NAME)).as("not that soon").isEqualTo(2);
        dns.pass(2_000);
        assertThat(last()).containsOnlyKeys("192.0.2.2:81");
        dns.pass(4_000);
        assertThat(dns.questions(NAME)).isEqualTo(3);
    }
}
