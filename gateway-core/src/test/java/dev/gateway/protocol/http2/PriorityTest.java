package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a priority field says, and that nothing else in it matters (RFC 9218, section 4; RFC 8941, section 3.2). */
class PriorityTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "u=0 | 0 | -1",
                "u=7, i | 7 | 1",
                "i | -1 | 1",
                "i=?1 | -1 | 1",
                "i=?0 | -1 | 0",
                "u=5;x=y, i;z | 5 | 1",
                "u=1,i | 1 | 1",
                "'  u=1 ,\t i  ' | 1 | 1",
                "u=1, u=2 | 2 | -1",
                "i, i=?0 | -1 | 0",
                "a=\"x,u=1\", u=4 | 4 | -1",
                "a=\"x\\\",u=1\", u=4 | 4 | -1",
                "ab=(1 2);q, u=6 | 6 | -1",
                "u=8 | -1 | -1",
                "u=-1 | -1 | -1",
                "u=10 | -1 | -1",
                "u=1.0 | -1 | -1",
                "u | -1 | -1",
                "u= | -1 | -1",
                "u=\"1\" | -1 | -1",
                "i=1 | -1 | -1",
                "i=?2 | -1 | -1",
                "u=?1, i=?1 | -1 | 1",
                "U=1 | -1 | -1",
                "'u=1, =2' | -1 | -1",
                "'u=1, \"' | -1 | -1",
                "u=1 a=\" | -1 | -1",
                "uu=1, ii | -1 | -1"
            })
    void aFieldSays(String value, int urgency, int incremental) {
        assertEquals(new Priority(urgency, incremental), Priority.parse(new AsciiString(value)));
    }

    @Test
    void anEmptyFieldSaysNothing() {
        assertEquals(Priority.NONE, Priority.parse(AsciiString.EMPTY_STRING));
    }

    @ParameterizedTest
    @CsvSource({"5, -1, 1, 1, 5, 1", "-1, 0, 1, 1, 1, 0", "-1, -1, 2, 0, 2, 0", "4, 1, -1, -1, 4, 1"})
    void whatIsSaidHereGoesBeforeWhatIsSaidThere(int u, int i, int otherU, int otherI, int wantU, int wantI) {
        assertEquals(new Priority(wantU, wantI), new Priority(u, i).or(new Priority(otherU, otherI)));
    }
}
