package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.sun.management.ThreadMXBean;
import dev.gateway.config.ConnectConfig.Limits;
import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.format.PortRange;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.dial.AddressPolicy;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectRulesTest {
    private static final AddressPolicy ANY = (host, address, port) -> null;

    private final ConnectTally tally = new ConnectTally();

    private static RequestHead connect(String authority) {
        return Heads.request("CONNECT", authority, "");
    }

    private Verdict ask(ConnectPolicy policy, String authority) {
        return new ConnectRules(Rules.only(policy), each -> ANY, tally, false)
                .onRequest(connect(authority), FakeContext.from("192.0.2.9"));
    }

    private static Failure failure(Verdict verdict) {
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        return ((Verdict.Refuse) verdict).failure();
    }

    private List<String> denials() {
        List<String> all = new ArrayList<>();
        tally.forEachDenial((labels, count) -> all.add(labels.listener() + " " + labels.rule() + " " + count));
        all.sort(null);
        return all;
    }

    @ParameterizedTest
    @CsvSource({
        "api.example:443,,",
        "api.example:8443, POLICY_PORT, allowedPorts",
        "other.test:443, POLICY_HOST, allow",
        "secret.example:443, POLICY_HOST, deny[0]",
        "a.secret.example:443, POLICY_HOST, deny[1]",
        "secret.example:80, POLICY_PORT, allowedPorts",
        "127.1:443, POLICY_HOST, literal",
        "0x7f000001:80, POLICY_HOST, literal",
        "192.0.2.200:443,,",
        "192.0.2.1:443, POLICY_HOST, deny[2]",
    })
    void whatMayBeReachedIsDecidedInOneOrder(String authority, String cause, String rule) {
        ConnectPolicy policy = Rules.policy(
                Rules.allow(".example", "192.0.2.0/24"), Rules.deny("secret.example", ".secret.example", "192.0.2.1"));

        Verdict verdict = ask(policy, authority);

        if (cause == null) {
            assertThat(verdict).isSameAs(Verdict.PROCEED);
            assertThat(denials()).isEmpty();
        } else {
            assertThat(failure(verdict).cause()).isEqualTo(Cause.valueOf(cause));
            assertThat(failure(verdict).status()).isEqualTo(403);
            assertThat(failure(verdict).detail()).contains(authority).endsWith("(" + rule + ")");
            assertThat(denials()).containsExactly("egress " + rule + " 1");
        }
    }

    @Test
    void anEmptyAllowListAllowsNothing() {
        assertThat(failure(ask(Rules.policy(List.of(), List.of()), "a.example:443"))
                        .cause())
                .isEqualTo(Cause.POLICY_HOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"example.com", "example.com:", "a..b:443", "[::1%25lo]:443", "x@y:443"})
    void whatIsNoTargetIsABadRequest(String authority) {
        Failure failure = failure(ask(Rules.policy(Rules.allow("*"), List.of()), authority));

        assertThat(failure.cause()).isEqualTo(Cause.CLIENT_PROTOCOL_ERROR);
        assertThat(failure.status()).isEqualTo(400);
    }

    @Test
    void theHeadIsBroughtIntoTheFormThatWasJudged() {
        ConnectRules rules =
                new ConnectRules(Rules.only(Rules.policy(Rules.allow("*"), List.of())), each -> ANY, tally, false);
        RequestHead mapped = connect("[::ffff:192.0.2.1]:443");
        RequestHead name = connect("Example.COM.:443");
        RequestHead plain = connect("example.com:443");
        Object before = plain.authority();

        rules.onRequest(mapped, FakeContext.from("192.0.2.9"));
        rules.onRequest(name, FakeContext.from("192.0.2.9"));
        rules.onRequest(plain, FakeContext.from("192.0.2.9"));

        assertThatObject(mapped.authority()).hasToString("192.0.2.1:443");
        assertThatObject(name.authority()).hasToString("example.com:443");
        assertThatObject(plain.authority()).isSameAs(before);
    }

    @Test
    void aForwardedRequestIsJudgedLikeATunnelToItsPort() {
        ConnectPolicy policy = new ConnectPolicy(new ConnectPolicy.Settings(
                "egress",
                List.of(new PortRange(80, 80), new PortRange(8000, 8010)),
                Rules.allow("*"),
                List.of(),
                Sni.OFF,
                0));
        ConnectRules rules = new ConnectRules(Rules.only(policy), each -> ANY, tally, false);
        RequestHead head = Heads.get("A.example", "/x", "Host: A.example");

        assertThat(rules.onRequest(head, FakeContext.from("192.0.2.9"))).isSameAs(Verdict.PROCEED);
        assertThatObject(head.authority()).hasToString("a.example");
        assertThat(head.fields().size()).isZero();
        assertThat(rules.onRequest(Heads.get("a:8010", "/"), FakeContext.from("192.0.2.9")))
                .isSameAs(Verdict.PROCEED);
        assertThat(failure(rules.onRequest(Heads.get("a:443", "/"), FakeContext.from("192.0.2.9")))
                        .cause())
                .isEqualTo(Cause.POLICY_PORT);
    }

    @Test
    void theFirstPolicyThatNamesAnIdentityOrItsGroupIsTheOne() {
        Policies policies = new Policies(
                Rules.policy(Rules.allow("everybody.example"), List.of()),
                List.of(
                        Rules.forIdentity("ci", Rules.policy(Rules.allow("ci.example"), List.of())),
                        Rules.forGroup("builders", Rules.policy(Rules.allow("builders.example"), List.of()))));
        ConnectRules rules = new ConnectRules(policies, each -> ANY, tally, false);

        assertThat(passes(rules, "everybody.example", FakeContext.from("192.0.2.9")))
                .isTrue();
        assertThat(passes(
                        rules,
                        "everybody.example",
                        FakeContext.from("192.0.2.9").as("ann")))
                .isTrue();
        assertThat(passes(rules, "ci.example", FakeContext.from("192.0.2.9").as("ann")))
                .isFalse();
        assertThat(passes(rules, "ci.example", FakeContext.from("192.0.2.9").as("ci", "builders")))
                .isTrue();
        assertThat(passes(
                        rules, "builders.example", FakeContext.from("192.0.2.9").as("ci", "builders")))
                .isFalse();
        assertThat(passes(
                        rules, "builders.example", FakeContext.from("192.0.2.9").as("bob", "x", "builders")))
                .isTrue();
        assertThat(passes(
                        rules,
                        "everybody.example",
                        FakeContext.from("192.0.2.9").as("bob", "builders")))
                .isFalse();
    }

    private static boolean passes(ConnectRules rules, String host, FakeContext context) {
        return rules.onRequest(connect(host + ":443"), context) == Verdict.PROCEED;
    }

    @Test
    void aDecisionIsExplainedWithTheRuleThatMadeIt() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("a.example", ".b.example"), Rules.deny("x.b.example")));

        assertThat(policies.explain("y.b.example:443", null))
                .extracting(Decision::isAllowed, Decision::rule)
                .containsExactly(true, "allow[1]");
        assertThat(policies.explain("x.b.example:443", null))
                .extracting(Decision::isAllowed, Decision::rule)
                .containsExactly(false, "deny[0]");
        assertThat(policies.explain("y.b.example", null)).isNull();
    }

    @Test
    void anAddressIsJudgedAtOnceAndANameOnceItIsResolved() {
        AddressPolicy none = (host, address, port) -> host + " on " + port + " is not for you";
        ConnectRules rules =
                new ConnectRules(Rules.only(Rules.policy(Rules.allow("*"), List.of())), each -> none, tally, false);

        Failure failure = failure(rules.onRequest(connect("[::ffff:10.0.0.1]:443"), FakeContext.from("192.0.2.9")));

        assertThat(failure.cause()).isEqualTo(Cause.POLICY_ADDRESS);
        assertThat(failure.detail()).isEqualTo("10.0.0.1:443: 10.0.0.1 on 443 is not for you");
        assertThat(passes(rules, "a.example", FakeContext.from("192.0.2.9"))).isTrue();
    }

    /** A target, its host, a decision, and what counts it: some hundred bytes, whatever the lists are like. */
    @Test
    void aTunnelThatIsAllowedCostsLittleMemory() {
        String[] names =
                IntStream.range(0, 1000).mapToObj(i -> ".n" + i + ".example").toArray(String[]::new);
        Policies policies = Rules.only(Rules.policy(Rules.allow(names), Rules.deny(names[1], "10.0.0.0/8")));
        ConnectRules rules = new ConnectRules(policies, each -> ANY, tally, false);
        TunnelLimits limits = new TunnelLimits(new Limits(Position.NOWHERE, 10, 10, 10), policies, tally.tunnels());
        RequestHead head = connect("some.host.n7.example:443");
        FakeContext context = FakeContext.from("192.0.2.9");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int tunnels = 10_000;
        long before = 0;
        for (int i = -1000; i < tunnels; i++) {
            if (i == 0) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            assertSame(Verdict.PROCEED, rules.onRequest(head, context));
            assertSame(Verdict.PROCEED, limits.onRequest(head, context));
            limits.onEnd(context);
        }

        assertThat((threads.getCurrentThreadAllocatedBytes() - before) / tunnels)
                .isLessThan(400);
    }

    @Test
    void auditModeLetsThroughAndCountsWhatItWouldRefuse() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("a.example"), List.of()));
        ConnectRules rules = new ConnectRules(policies, each -> ANY, tally, true);

        assertThat(passes(rules, "a.example", FakeContext.from("192.0.2.9"))).isTrue();
        assertThat(passes(rules, "b.example", FakeContext.from("192.0.2.9"))).isTrue();
        assertThat(passes(rules, "b.example", FakeContext.from("192.0.2.9"))).isTrue();
        assertThat(passes(rules, "127.1", FakeContext.from("192.0.2.9"))).isFalse();

        assertThat(denials()).containsExactly("egress allow 2", "egress literal 1");
        assertThat(tally.audit().observed())
                .extracting(seen -> seen.target() + " " + seen.times() + " "
                        + seen.decision().isAllowed())
                .containsExactly("b.example:443 2 false", "a.example:443 1 true");
    }

    /** Through a parent proxy nobody else would look at it. */
    @Test
    void auditModeRefusesAddressesThatAreNotPublic() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), List.of()));
        ConnectRules rules = new ConnectRules(policies, each -> (host, address, port) -> "not public", tally, true);

        assertThat(passes(rules, "10.1.2.3", FakeContext.from("192.0.2.9"))).isFalse();
        assertThat(passes(rules, "a.example", FakeContext.from("192.0.2.9")))
                .isTrue(); // who dials looks at its addresses
    }
}
