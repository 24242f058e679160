package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One cookie among others is found, and taken away without a change of the others. */
class CookiesTest {
    private static final AsciiString NAME = new AsciiString("sid");

    private static Fields fields(String... lines) {
        Fields fields = new Fields();
        for (String line : lines) {
            fields.add(FieldName.COOKIE, new AsciiString(line));
        }
        return fields;
    }

    private static List<String> lines(Fields fields) {
        List<String> lines = new ArrayList<>();
        for (int i = fields.find(FieldName.COOKIE, 0); i >= 0; i = fields.find(FieldName.COOKIE, i + 1)) {
            lines.add(fields.value(i).toString());
        }
        return lines;
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "sid=1, 1, -",
                "sid=, '', -",
                "a=b; sid=1, 1, a=b",
                "sid=1; a=b, 1, a=b",
                "a=b;sid=1;c=d, 1, a=b;c=d",
                "a=b;  sid=1 ; c=\"d e\", '1 ', a=b;  c=\"d e\"",
                "sid=1; a=b; sid=2, 1, a=b",
                "xsid=1; sidx=2; a=sid=3, -, xsid=1; sidx=2; a=sid=3",
                "SID=1, -, SID=1",
                "sid, -, sid",
                "a=b; ; , -, a=b; ; ",
                "; sid=1; , 1, -",
                "a=b; sid=1;, 1, a=b;",
                "sid=1;\ta=b, 1, a=b",
                "a=b;\t; sid=1, 1, a=b;",
                "a=b;  sid=1; sid=2, 1, a=b",
                "sid=1; a=b; sid=2; c=d; sid=3;  sid=4;e, 1, a=b; c=d; e"
            })
    void theFirstOfThatNameCountsAndAllOfThemGo(String line, String value, String left) {
        Fields fields = fields(line);
        AsciiString found = Cookies.value(fields, NAME);
        assertThat(found == null ? null : found.toString()).isEqualTo(value);
        Cookies.remove(fields, NAME);
        assertThat(lines(fields)).isEqualTo(left == null ? List.of() : List.of(left));
        assertThat((Object) Cookies.value(fields, NAME)).isNull();
    }

    @Test
    void eachLineKeepsItsOtherCookies() {
        Fields fields = fields("a=b", "sid=1", "c=d; sid=2");
        assertThat((Object) Cookies.value(fields, NAME)).hasToString("1");
        Cookies.remove(fields, NAME);
        assertThat(lines(fields)).containsExactly("a=b", "c=d");
    }

    /** Requests may wait for long, and their heads were charged before. */
    @Test
    void takingACookieOutTakesNoMemory() {
        Fields fields = fields("sid=1; a=" + "x".repeat(10_000));
        fields.add(FieldName.VIA, new AsciiString("1.1 gateway"));
        int before = fields.heldBytes();
        Cookies.remove(fields, NAME);
        assertThat(fields.heldBytes()).isEqualTo(before);
        ByteBuf written = Unpooled.buffer();
        fields.writeTo(written);
        assertThat(written.toString(StandardCharsets.US_ASCII))
                .isEqualTo("Cookie: a=" + "x".repeat(10_000) + "\r\nVia: 1.1 gateway\r\n");
    }

    @Test
    void withoutTheCookieLinesStayAsTheyAre() {
        Fields fields = fields("a=b", "c=d");
        Cookies.remove(fields, NAME);
        assertThat(lines(fields)).containsExactly("a=b", "c=d");
        assertThat((Object) Cookies.value(new Fields(), NAME)).isNull();
    }
}
