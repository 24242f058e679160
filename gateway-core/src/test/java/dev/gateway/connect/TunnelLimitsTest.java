package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Limits;
import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Heads;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Race;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TunnelLimitsTest {
    private final TunnelCounts counts = new TunnelCounts();

    private TunnelLimits limits(int all, int perClient, int perIdentity) {
        Policies policies = new Policies(
                Rules.policy("egress", Rules.allow("*"), List.of(), Sni.OFF, 0),
                List.of(Rules.forGroup("builders", Rules.policy("builders", Rules.allow("*"), List.of(), Sni.OFF, 2))));
        return new TunnelLimits(new Limits(Position.NOWHERE, all, perClient, perIdentity), policies, counts);
    }

    private static boolean open(TunnelLimits limits, FakeContext context) {
        return limits.onRequest(Heads.request("CONNECT", "a.example:443", ""), context) == Verdict.PROCEED;
    }

    private static Failure refusal(TunnelLimits limits, FakeContext context) {
        Verdict verdict = limits.onRequest(Heads.request("CONNECT", "a.example:443", ""), context);
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        return ((Verdict.Refuse) verdict).failure();
    }

    private void assertCounts(int open, int clients, int identities) {
        assertThat(counts.open()).isEqualTo(open);
        assertThat(counts.openClients()).isEqualTo(clients);
        assertThat(counts.openIdentities()).isEqualTo(identities);
    }

    @Test
    void aNetworkOfIpv6IsOneClient() {
        TunnelLimits limits = limits(0, 2, 0);

        assertThat(open(limits, FakeContext.from("2001:db8:0:1::1"))).isTrue();
        assertThat(open(limits, FakeContext.from("2001:db8:0:1:ffff::2"))).isTrue();
        assertThat(refusal(limits, FakeContext.from("2001:db8:0:1::3")).cause()).isEqualTo(Cause.RATE_LIMITED);
        assertThat(open(limits, FakeContext.from("2001:db8:0:2::1"))).isTrue();
        assertCounts(3, 2, 0);

        limits.onEnd(FakeContext.from("2001:db8:0:1:ffff::2"));
        assertThat(open(limits, FakeContext.from("2001:db8:0:1::3"))).isTrue();
    }

    @Test
    void tunnelsAreLimitedInAll() {
        TunnelLimits limits = limits(2, 0, 0);

        assertThat(open(limits, FakeContext.from("192.0.2.1"))).isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.2"))).isTrue();
        assertThat(refusal(limits, FakeContext.from("192.0.2.3")).cause()).isEqualTo(Cause.OVERLOAD);
        assertCounts(2, 2, 0);

        limits.onEnd(FakeContext.from("192.0.2.1"));
        assertThat(open(limits, FakeContext.from("192.0.2.3"))).isTrue();
        assertCounts(2, 2, 0);
    }

    @Test
    void tunnelsAreLimitedByClientAddress() {
        TunnelLimits limits = limits(0, 2, 0);

        assertThat(open(limits, FakeContext.from("192.0.2.1"))).isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann"))).isTrue();
        assertThat(refusal(limits, FakeContext.from("192.0.2.1").as("bob")).cause())
                .isEqualTo(Cause.RATE_LIMITED);
        assertThat(open(limits, FakeContext.from("2001:db8::1"))).isTrue();
        assertCounts(3, 2, 1);
    }

    @Test
    void tunnelsAreLimitedByIdentity() {
        TunnelLimits limits = limits(0, 0, 1);

        assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann"))).isTrue();
        assertThat(refusal(limits, FakeContext.from("192.0.2.2").as("ann")).cause())
                .isEqualTo(Cause.RATE_LIMITED);
        assertThat(open(limits, FakeContext.from("192.0.2.2").as("bob"))).isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.2"))).isTrue();
        assertCounts(3, 2, 2);
        limits.onEnd(FakeContext.from("192.0.2.1").as("ann"));
        assertThat(open(limits, FakeContext.from("192.0.2.2").as("ann"))).isTrue();
    }

    @Test
    void aClientRefusedForItsIdentityUsesUpNothing() {
        TunnelLimits limits = limits(3, 2, 1);
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann"))).isTrue();
        for (int i = 0; i < 5; i++) {
            assertThat(refusal(limits, FakeContext.from("192.0.2.1").as("ann")).detail())
                    .contains("this identity");
        }
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("bob"))).isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.2").as("eve"))).isTrue();
        assertCounts(3, 2, 3);
        limits.onEnd(FakeContext.from("192.0.2.1").as("ann"));
        limits.onEnd(FakeContext.from("192.0.2.1").as("bob"));
        limits.onEnd(FakeContext.from("192.0.2.2").as("eve"));
        assertCounts(0, 0, 0);
        assertThat(counts.policies().size()).isZero();
    }

    @Test
    void aClientRefusedForAPolicyUsesUpNothing() {
        TunnelLimits limits = limits(5, 3, 0);
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann", "builders")))
                .isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.2").as("bob", "builders")))
                .isTrue();
        for (int i = 0; i < 5; i++) {
            assertThat(refusal(limits, FakeContext.from("192.0.2.1").as("eve", "builders"))
                            .detail())
                    .contains("policy builders");
        }
        assertCounts(2, 2, 2);
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("eve"))).isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("eve"))).isTrue();
        assertThat(refusal(limits, FakeContext.from("192.0.2.1").as("eve")).detail())
                .contains("this client's address");
    }

    @Test
    void aClientRefusedForItsAddressUsesUpNothing() {
        TunnelLimits limits = limits(2, 1, 0);
        assertThat(open(limits, FakeContext.from("192.0.2.1"))).isTrue();
        for (int i = 0; i < 5; i++) {
            assertThat(refusal(limits, FakeContext.from("192.0.2.1")).detail()).contains("this client's address");
        }
        assertThat(open(limits, FakeContext.from("192.0.2.2"))).isTrue();
    }

    @Test
    void anIdentityRefusedLeavesItsPolicysRoomToOthers() {
        TunnelLimits limits = limits(0, 0, 1);
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann", "builders")))
                .isTrue();
        for (int i = 0; i < 5; i++) {
            assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann", "builders")))
                    .isFalse();
        }
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("bob", "builders")))
                .isTrue();
    }

    @Test
    void aPolicyLimitsAllItIsFor() {
        TunnelLimits limits = limits(0, 0, 0);

        assertThat(open(limits, FakeContext.from("192.0.2.1").as("ann", "builders")))
                .isTrue();
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("bob", "builders")))
                .isTrue();
        assertThat(refusal(limits, FakeContext.from("192.0.2.1").as("eve", "builders"))
                        .detail())
                .contains("policy builders");
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("eve"))).isTrue();
        assertCounts(3, 1, 3);
        limits.onEnd(FakeContext.from("192.0.2.1").as("ann", "builders"));
        assertThat(open(limits, FakeContext.from("192.0.2.1").as("eve", "builders")))
                .isTrue();
    }

    @Test
    void whoHasNoTunnelLeavesNoTrace() {
        TunnelLimits limits = limits(0, 1, 0);
        List<FakeContext> contexts = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            FakeContext context = FakeContext.from("192.0.2." + i).as("user" + i);
            contexts.add(context);
            assertThat(open(limits, context)).isTrue();
            assertThat(open(limits, context)).isFalse();
        }
        assertCounts(100, 100, 100);
        contexts.forEach(limits::onEnd);

        assertCounts(0, 0, 0);
        assertThat(counts.policies().size()).isZero();
    }

    @Test
    void countsStayWhenLimitsChange() {
        FakeContext context = FakeContext.from("192.0.2.1");
        TunnelLimits before = limits(0, 0, 0);
        open(before, context);
        open(before, context);
        TunnelLimits after = limits(2, 0, 0);

        assertThat(open(after, context)).isFalse();
        before.onEnd(context);
        assertThat(open(after, context)).isTrue();
    }

    /** The last tunnel that may be open goes to one of two event loops, whatever limit it is that it reaches. */
    @ParameterizedTest
    @CsvSource({"1, 0, 0", "0, 1, 0", "0, 0, 1"})
    void noMoreThanMayOpenWhateverTheLoopsDo(int all, int perClient, int perIdentity) throws Exception {
        TunnelLimits limits = limits(all, perClient, perIdentity);
        FakeContext context = FakeContext.from("192.0.2.1").as("ann");
        Race.assertOneWinner(() -> open(limits, context), () -> open(limits, context), () -> limits.onEnd(context));
        assertCounts(0, 0, 0);
    }

    @Test
    void noMoreThanAPolicyAllowsOpenWhateverTheLoopsDo() throws Exception {
        TunnelLimits limits = limits(0, 0, 0);
        FakeContext context = FakeContext.from("192.0.2.1").as("ann", "builders");
        assertThat(open(limits, context)).isTrue(); // the first of two
        Race.assertOneWinner(() -> open(limits, context), () -> open(limits, context), () -> limits.onEnd(context));
        limits.onEnd(context);
        assertCounts(0, 0, 0);
        assertThat(counts.policies().size()).isZero();
    }
}
