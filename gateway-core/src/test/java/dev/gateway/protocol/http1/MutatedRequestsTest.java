package dev.gateway.protocol.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gateway.testing.Seeds;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Requests of the corpus with bytes changed, added, removed and repeated at random. Nothing makes the parsers fail or leak,
 * and what comes of a request does not depend on how it is cut.
 */
class MutatedRequestsTest {
    private static final int MUTATIONS = 400;

    /** Bytes that mean something to a parser. */
    private static final String TELLING = "\r\n\t :;,/?#%=\"0123456789abcdefxXHTTP\0\u007f\u0080\u00ff";

    @ParameterizedTest
    @Seeds(16)
    void whatComesOfOneDoesNotDependOnHowItIsCut(long seed) {
        Random random = new Random(seed);
        List<RawRequests.Case> corpus = RawRequests.read();
        for (int i = 0; i < MUTATIONS; i++) {
            String bytes = mutated(corpus.get(random.nextInt(corpus.size())).bytes(), random);
            Downstream whole = new Downstream();
            whole.send(bytes);
            Downstream cut = new Downstream();
            for (int from = 0; from < bytes.length(); ) {
                int to = Math.min(bytes.length(), from + 1 + random.nextInt(40));
                cut.send(bytes.substring(from, to));
                from = to;
            }
            assertEquals(
                    whole.sent() + whole.outcome(),
                    cut.sent() + cut.outcome(),
                    () -> "seed " + seed + ": " + escaped(bytes));
            whole.finish();
            cut.finish();
        }
    }

    private static String mutated(String bytes, Random random) {
        StringBuilder text = new StringBuilder(bytes);
        for (int i = random.nextInt(4); i >= 0 && !text.isEmpty(); i--) {
            int at = random.nextInt(text.length());
            char telling = TELLING.charAt(random.nextInt(TELLING.length()));
            switch (random.nextInt(5)) {
                case 0 -> text.setCharAt(at, telling);
                case 1 -> text.insert(at, telling);
                case 2 -> text.deleteCharAt(at);
                case 3 -> text.setCharAt(at, (char) random.nextInt(256));
                default -> {
                    int end = Math.min(text.length(), at + 1 + random.nextInt(30));
                    text.insert(random.nextInt(text.length()), text.substring(at, end));
                }
            }
        }
        return text.toString();
    }

    private static String escaped(String bytes) {
        StringBuilder text = new StringBuilder();
        bytes.chars()
                .forEach(c -> text.append(c < 32 || c > 126 ? String.format("\\x%02x", c) : String.valueOf((char) c)));
        return text.toString();
    }
}
