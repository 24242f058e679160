package dev.gateway.message.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Protocol buffers on the wire, as their specification has the bytes. */
class ProtoTest {
    private static String hex(ProtoWriter message) {
        return ByteBufUtil.hexDump(message.framed());
    }

    private static ProtoReader open(String hex) throws MalformedMessageException {
        return ProtoReader.open(bytes(hex));
    }

    private static ByteBuf bytes(String hex) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex.replace(" ", "")));
    }

    @Test
    void numbersAreAsLongAsTheyMustBe() {
        assertThat(hex(new ProtoWriter().number(1, 150))).isEqualTo("0000000003089601");
        assertThat(hex(new ProtoWriter().number(16, 1))).isEqualTo("0000000003800101");
        assertThat(hex(new ProtoWriter().number(9, -1))).isEqualTo("000000000b48ffffffffffffffffff01");
        assertThat(hex(new ProtoWriter().number(1, 0))).isEqualTo("0000000000");
    }

    @Test
    void textsAndMessagesHaveTheirLength() {
        assertThat(hex(new ProtoWriter().text(2, "testing"))).isEqualTo("0000000009120774657374696e67");
        assertThat(hex(new ProtoWriter().text(2, ""))).isEqualTo("0000000000");
        assertThat(hex(new ProtoWriter().message(3, new ProtoWriter().number(1, 150))))
                .isEqualTo("00000000051a03089601");
        assertThat(hex(new ProtoWriter().message(1, new ProtoWriter()))).isEqualTo("00000000020a00");
    }

    @Test
    void aTextOfAPeerIsMadeUtf8() {
        byte[] name = "J\u00f6rg".getBytes(StandardCharsets.UTF_8);
        assertThat(hex(new ProtoWriter().text(1, new AsciiString(name, false)))).isEqualTo("00000000070a054ac3b67267");
        byte[] latin = "J\u00f6rg".getBytes(StandardCharsets.ISO_8859_1);
        assertThat(hex(new ProtoWriter().text(1, new AsciiString(latin, false))))
                .isEqualTo("00000000080a064aefbfbd7267");
    }

    @Test
    void unknownFieldsAreSkipped() throws MalformedMessageException {
        ProtoReader in = open("00 0000001c 50ff01 5a03616263 1d01020304 110102030405060708 0a020805 1007");
        int sum = 0;
        while (in.next()) {
            if (in.field() == 1) {
                ProtoReader inner = in.message();
                assertThat(inner.next()).isTrue();
                sum += (int) inner.number();
                assertThat(inner.next()).isFalse();
            } else if (in.field() == 2 && sum == 5) {
                sum += 1;
            }
        }
        assertThat(sum).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00 00000001 08", // a number that is missing
                "00 0000000b 08 ffffffffffffffffff80", // one with eleven bytes
                "00 00000002 0a05", // a length beyond the end
                "00 0000000b 0a ffffffffffffffffff01", // a negative length
                "00 00000002 0001", // no field
                "00 00000002 0b0c", // a group
                "00 00000004 0d010203",
                "00 00000005 0901020304",
                "00 00000002 08", // less than announced
                "00 00000001 0801", // more than announced
            })
    void whatIsCutOffIsBroken(String message) {
        assertThatThrownBy(() -> {
                    ProtoReader in = open(message);
                    while (in.next()) {
                        // nobody asks for it
                    }
                })
                .isInstanceOf(MalformedMessageException.class)
                .hasMessage("with a broken message");
    }

    @ParameterizedTest
    @CsvSource({"'', without a message", "00000000, without a message", "0100000000, with a compressed message"})
    void whatIsNoMessageSaysSo(String body, String problem) {
        assertThatThrownBy(() -> open(body))
                .isInstanceOf(MalformedMessageException.class)
                .hasMessage(problem);
    }

    @Test
    void anotherKindOfValueIsBroken() throws MalformedMessageException {
        ProtoReader number = open("00 00000002 0801");
        number.next();
        assertThatThrownBy(number::bytes).isInstanceOf(MalformedMessageException.class);
        ProtoReader text = open("00 00000003 0a0161");
        text.next();
        assertThatThrownBy(text::number).isInstanceOf(MalformedMessageException.class);
    }
}
