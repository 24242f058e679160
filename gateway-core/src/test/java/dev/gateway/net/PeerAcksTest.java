package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gateway.net.transport.TransportKind;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kernel knows of a connection, of made-up ones and of real ones over the loopback interface. */
@Timeout(60)
class PeerAcksTest {
    private static final byte[] REQUEST = new byte[100];
    private static final byte[] MORE_THAN_FITS = new byte[16 << 20]; // into the buffers of both kernels

    private static DeafPeer connect(TransportKind kind) throws Exception {
        assumeTrue(TransportKind.EPOLL.unavailabilityCause() == null, "no epoll here");
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        return DeafPeer.connect(kind);
    }

    @Test
    void whoAcknowledgesLatelyButNotAllIsBeingSentTo() {
        assertThat(new PeerAcks(true, false, 4_999).isDelivering(0, 5_000)).isTrue();
        assertThat(new PeerAcks(false, false, 4_999).isDelivering(1, 5_000))
                .as("by a closed window")
                .isTrue();
        assertThat(new PeerAcks(false, false, 0).isDelivering(0, 5_000))
                .as("it has got all")
                .isFalse();
        assertThat(new PeerAcks(true, false, 5_000).isDelivering(1, 5_000))
                .as("it is gone")
                .isFalse();
    }

    /** Its process may be stopped: its kernel acknowledges all the same. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "IO_URING"})
    void aRequestWithoutAnAnswerIsAcknowledged(TransportKind kind) throws Exception {
        try (DeafPeer peer = connect(kind)) {
            peer.goAway();
            peer.send(REQUEST);
            peer.await(PeerAcks::unacked);
            peer.comeBack();
            PeerAcks acks = peer.await(each -> !each.unacked());
            assertThat(acks.unackedProbes()).isFalse();
            assertThat(acks.isDelivering(0, Long.MAX_VALUE)).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "IO_URING"})
    void whatIsSentToAMachineThatIsGoneStaysUnacknowledged(TransportKind kind) throws Exception {
        try (DeafPeer peer = connect(kind)) {
            peer.goAway();
            peer.send(REQUEST);
            PeerAcks sent = peer.await(PeerAcks::unacked);
            PeerAcks acks =
                    peer.await(each -> each.lastMillis() > sent.lastMillis() + 500); // it is sent again meanwhile
            assertThat(acks.unacked()).isTrue();
        }
    }

    /** The kernel probes it less and less often, and each of its answers is an acknowledgement. */
    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "IO_URING"})
    void aPeerWhoseWindowIsClosedAcknowledgesProbes(TransportKind kind) throws Exception {
        try (DeafPeer peer = connect(kind)) {
            peer.begin(MORE_THAN_FITS);
            for (int i = 0; i < 2; i++) {
                PeerAcks quiet = peer.await(each -> each.lastMillis() >= 100 && !each.unacked());
                PeerAcks acks = peer.await(each -> each.lastMillis() < quiet.lastMillis());
                assertThat(peer.waitingBytes()).isPositive();
                assertThat(acks.isDelivering(peer.waitingBytes(), 5_000)).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"EPOLL", "IO_URING"})
    void aMachineThatIsGoneAcknowledgesNoKeepAliveProbe(TransportKind kind) throws Exception {
        try (DeafPeer peer = connect(kind)) {
            peer.send(REQUEST);
            peer.await(each -> !each.unacked());
            peer.goAway();
            peer.probeSoon();
            PeerAcks acks = peer.await(PeerAcks::unackedProbes);
            assertThat(acks.unacked()).isFalse();
        }
    }

    @Test
    void ofAChannelWithoutTcpNothingIsKnown() {
        EmbeddedChannel channel = new EmbeddedChannel();
        assertThat(PeerAcks.read(channel)).isNull();
        PeerAcks.probe(channel, true);
        PeerAcks.probe(channel, false);
        channel.close();
    }
}
