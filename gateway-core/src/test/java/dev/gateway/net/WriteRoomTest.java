package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.DirectMemory.Supply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class WriteRoomTest {
    @Test
    void theLessMemoryIsLeftTheLessMayWait() {
        assertThat(WriteRoom.room(Supply.AMPLE)).isSameAs(WriteRoom.USUAL);
        assertThat(WriteRoom.room(Supply.MODERATE)).isSameAs(WriteRoom.USUAL);
        int before = WriteRoom.USUAL.high();
        for (Supply supply : new Supply[] {Supply.SCARCE, Supply.RESERVE}) {
            WriteBufferWaterMark room = WriteRoom.room(supply);
            assertThat(room.high()).isLessThan(before);
            assertThat(room.low()).isBetween(1, room.high());
            before = room.high();
        }
    }

    @Test
    void withTheReserveNothingIsAddedToWhatWaits() {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                // the peer takes nothing
            }
        });
        channel.config().setWriteBufferWaterMark(WriteRoom.room(Supply.RESERVE));
        assertThat(channel.isWritable()).isTrue();
        ByteBuf data = Unpooled.buffer().writeZero(10);
        channel.write(data);
        assertThat(channel.isWritable()).isFalse();
        channel.finishAndReleaseAll();
    }

    @Test
    void aChannelGetsTheRoomOfNow() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setWriteBufferWaterMark(WriteRoom.room(Supply.RESERVE));
        WriteRoom.fit(channel); // tests use little memory
        assertThat(channel.config().getWriteBufferWaterMark()).isSameAs(WriteRoom.USUAL);
        channel.finishAndReleaseAll();
    }
}
