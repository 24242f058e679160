package dev.gateway.upstream.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bytes of the gRPC health protocol, as protoc's encoders write them. */
class HealthMessageTest {
    @Test
    void aRequestNamesItsServiceOrNone() {
        assertThat(hex(HealthMessage.request(""))).isEqualTo("0000000000");
        assertThat(hex(HealthMessage.request("shop"))).isEqualTo("00000000060a0473686f70");
        String longest = hex(HealthMessage.request("s".repeat(200)));
        assertThat(longest).startsWith("00000000cb0ac801737373").hasSize(2 * (5 + 1 + 2 + 200));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "serving",
            value = {
                "00 00000002 0801, serving",
                "00 00000000, answered UNKNOWN",
                "00 00000002 0802, answered NOT_SERVING",
                "00 00000002 0803, answered SERVICE_UNKNOWN",
                "00 00000003 088001, answered the serving status 128",
                "00 00000004 08020801, serving", // the last one counts
                "00 00000006 0801 10ff7f 00, answered with a broken message",
                "00 00000014 0801 1203616263 15 01020304 19 0102030405060708, answered with a broken message",
                "00 00000015 0801 1203616263 15 01020304 19 0102030405060708, serving", // of later versions
                "00 00000002 0a01, answered with a broken message",
                "00 00000001 08, answered with a broken message",
                "00 00000002 0b01, answered with a broken message",
                "00 0000000c 08ffffffffffffffffffff01, answered with a broken message",
                "00 00000003 0801, answered with a broken message",
                "01 00000002 0801, answered with a compressed message",
                "00 0000, answered without a message",
                "'', answered without a message"
            })
    void aResponseSaysWhetherItServes(String bytes, @Nullable String failure) {
        assertThat(read(bytes)).isEqualTo(failure);
    }

    @Test
    void aResponseMayComeInParts() {
        HealthMessage message = new HealthMessage();
        for (byte each : new byte[] {0, 0, 0, 0, 2, 8, 1}) {
            message.add(Unpooled.wrappedBuffer(new byte[] {each}));
        }
        assertThat(message.failure()).isNull();
    }

    @Test
    void aLongResponseIsNotKept() {
        HealthMessage message = new HealthMessage();
        message.add(Unpooled.wrappedBuffer(new byte[1000]));
        message.add(Unpooled.wrappedBuffer(new byte[25]));
        message.add(Unpooled.wrappedBuffer(new byte[1]));
        assertThat(message.failure()).isEqualTo("answered with a message that is too long");
    }

    private static @Nullable String read(String bytes) {
        HealthMessage message = new HealthMessage();
        message.add(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(bytes.replace(" ", ""))));
        return message.failure();
    }

    private static String hex(ByteBuf message) {
        return ByteBufUtil.hexDump(message);
    }
}
