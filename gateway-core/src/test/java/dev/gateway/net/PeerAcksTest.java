package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class PeerAcksTest {
    @Test
    void ofAChannelWithoutTcpNothingIsKnown() {
        EmbeddedChannel channel = new EmbeddedChannel();
        assertThat(PeerAcks.read(channel)).isNull();
        PeerAcks.probe(channel, true);
        PeerAcks.probe(channel, false);
        channel.close();
    }
}
