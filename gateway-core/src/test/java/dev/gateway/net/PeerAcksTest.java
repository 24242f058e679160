package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class PeerAcksTest {
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

    @Test
    void ofAChannelWithoutTcpNothingIsKnown() {
        EmbeddedChannel channel = new EmbeddedChannel();
        assertThat(PeerAcks.read(channel)).isNull();
        PeerAcks.probe(channel, true);
        PeerAcks.probe(channel, false);
        channel.close();
    }
}
