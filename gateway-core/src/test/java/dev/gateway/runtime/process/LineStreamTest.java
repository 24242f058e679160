package dev.gateway.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineStreamTest {
    private final List<String> lines = new ArrayList<>();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void eachLineIsGivenOnceItIsWhole() throws IOException {
        try (LineStream stream = new LineStream(lines::add)) {
            stream.write(bytes("one\ntwo\n"));
            assertThat(lines).containsExactly("one", "two");
            stream.write(bytes("thr"));
            stream.write('e');
            assertThat(lines).hasSize(2);
            stream.write(bytes("e\n\n" + "x".repeat(1000) + "\u00fc\nrest"));
            assertThat(lines).containsExactly("one", "two", "three", "", "x".repeat(1000) + "\u00fc");
        }
    }

    @Test
    void aReceiverThatThrowsLosesItsLinesOnly() throws IOException {
        List<String> seen = new ArrayList<>();
        try (LineStream stream = new LineStream(line -> {
            seen.add(line);
            if (line.equals("bad")) {
                throw new IllegalStateException("made by the test");
            }
        })) {
            assertThatThrownBy(() -> stream.write(bytes("bad\n"))).isInstanceOf(IOException.class);
            stream.write(bytes("good\n"));
            assertThat(seen).containsExactly("bad", "good");
        }
    }
}
