package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CidrTest {
    private static Cidr block(String text) {
        return Objects.requireNonNull(Cidr.parse(text), text);
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.0.0.0/8",
        "10.1.2.3/8, 10.0.0.0/8",
        "10.1.255.3/17, 10.1.128.0/17",
        "192.0.2.1, 192.0.2.1/32",
        "192.0.2.1/0, 0.0.0.0/0",
        "fd00::1/8, fd00:0:0:0:0:0:0:0/8",
        "2001:db8::1:2:3:4/66, 2001:db8:0:0:0:0:0:0/66",
        "::1, 0:0:0:0:0:0:0:1/128",
        "::1/0, 0:0:0:0:0:0:0:0/0",
        "::ffff:10.1.2.3, 10.1.2.3/32",
        "::ffff:10.1.2.3/8, 10.0.0.0/8",
    })
    void whatPeopleWriteIsTheWholeBlock(String text, String block) {
        assertThat(Cidr.parseMasked(text)).hasToString(block).isEqualTo(Cidr.parseMasked(block));
        assertThat(Cidr.parse(block)).isEqualTo(Cidr.parseMasked(text));
    }

    @ParameterizedTest
    @CsvSource({"::ffff:10.0.0.0/104, 10.0.0.0/8", "::ffff:0:0/96, 0.0.0.0/0", "::ffff:10.1.2.3, 10.1.2.3/32"})
    void whatProgramsWriteMayBeMapped(String text, String block) {
        assertThat(Cidr.parse(text)).hasToString(block);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.1/8", "::ffff:10.0.0.0/8", "::ffff:10.0.0.0/95", "fd00::1/8"})
    void whatProgramsWriteHasNoBitsBehindThePrefix(String text) {
        assertThat(Cidr.parse(text)).isNull();
    }

    @Test
    void blocksOfOneFamilyCoverEachOther() {
        assertThat(block("10.0.0.0/8").covers(block("10.1.0.0/16"))).isTrue();
        assertThat(block("10.0.0.0/8").covers(block("10.0.0.0/8"))).isTrue();
        assertThat(block("10.1.0.0/16").covers(block("10.0.0.0/8"))).isFalse();
        assertThat(block("10.0.0.0/8").covers(block("11.0.0.0/16"))).isFalse();
        assertThat(block("::/0").covers(block("fd00::/8"))).isTrue();
        assertThat(block("::/0").covers(block("10.0.0.0/8"))).isFalse();
    }

    @Test
    void aBlockOfOneAddressIsSingle() {
        assertThat(block("192.0.2.1").isSingle()).isTrue();
        assertThat(block("::1/128").isSingle()).isTrue();
        assertThat(block("192.0.2.0/31").isSingle()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "10.0.0.0/",
                "10.0.0.0/33",
                "10.0.0.0/-1",
                "10.0.0/8",
                "::1/129",
                "a.example",
                "10.0.0.0/8 ",
                "300.0.0.1",
                "010.0.0.0/8",
                "[::1]",
                "10.0.0.0/+8",
                "10.0.0.0/0008"
            })
    void whatIsNotABlockIsNotRead(String text) {
        assertThat(Cidr.parse(text)).isNull();
        assertThat(Cidr.parseMasked(text)).isNull();
    }
}
