package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The corpus of raw requests, over a socket and through the whole gateway: what is refused is answered with its status,
 * closed and not forwarded, not even in part; what is accepted before it is.
 */
@Tag("platform")
class FramingCorpusIT {
    private static final Path CORPUS =
            Path.of("..", "gateway-core", "src", "test", "resources", "http1", "requests.txt");

    private static final AtomicInteger forwarded = new AtomicInteger();
    private static Origin origin;
    private static Rig rig;

    /** One case: what is sent, and what is expected of each request in it. */
    record Case(String title, String bytes, List<String> verdicts) {
        @Override
        public String toString() {
            return title;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start().otherwise((stream, head) -> {
            forwarded.incrementAndGet();
            Behaviors.text("ok").serve(stream, head);
        });
        rig = Rig.to(origin, Pairing.H1_TO_H1)
                .listener("limits: {maxBody: 1MiB}")
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        origin.close();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void theVerdictIsThatOfTheCorpus(Case test) throws Exception {
        int before = forwarded.get();
        int expected = 0;
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw(test.bytes());
            for (String verdict : test.verdicts()) {
                String method = verdict.split(" ", 2)[0];
                var response = client.response(method);
                Head head = response.receiveHead();
                if (Character.isDigit(method.charAt(0))) {
                    assertThat(head.status()).isEqualTo(Integer.parseInt(method));
                    response.receiveBody();
                    assertThat(client.isAtEnd()).isTrue();
                } else if (method.equals("CONNECT")) {
                    assertThat(head.status()).isEqualTo(405);
                } else {
                    // Well framed; what it asks for is another question.
                    if (head.status() == 200) {
                        expected++;
                    } else {
                        assertThat(Set.of(400, 404)).contains(head.status());
                    }
                    response.receiveBody();
                }
            }
        }
        assertThat(forwarded.get() - before).isEqualTo(expected);
    }

    static Stream<Case> cases() throws IOException {
        List<Case> cases = new ArrayList<>();
        String title = "";
        StringBuilder bytes = new StringBuilder();
        List<String> verdicts = new ArrayList<>();
        List<String> lines = new ArrayList<>(Files.readAllLines(CORPUS));
        lines.add("= end");
        for (String line : lines) {
            if (line.startsWith("= ")) {
                // This listener does expect the preface.
                if (!verdicts.isEmpty() && !bytes.toString().startsWith("PRI * HTTP/2.0")) {
                    cases.add(new Case(title, bytes.toString(), List.copyOf(verdicts)));
                }
                title = line.substring(2);
                bytes.setLength(0);
                verdicts.clear();
            } else if (line.startsWith("> ")) {
                bytes.append(unescape(line.substring(2)));
            } else if (line.startsWith("< ") && !line.equals("< wait")) {
                // Nothing can be seen of a gateway that waits; the parser's own test sees it.
                verdicts.add(line.substring(2));
            }
        }
        assertThat(cases).hasSizeGreaterThan(150);
        return cases.stream();
    }

    private static String unescape(String text) {
        StringBuilder bytes = new StringBuilder();
        int i = 0;
        while (i < text.length()) {
            char c = text.charAt(i++);
            if (c != '\\') {
                bytes.append(c);
                continue;
            }
            switch (text.charAt(i++)) {
                case 'r' -> bytes.append('\r');
                case 'n' -> bytes.append('\n');
                case 't' -> bytes.append('\t');
                case '0' -> bytes.append('\0');
                case '\\' -> bytes.append('\\');
                case 'x' -> {
                    bytes.append((char) Integer.parseInt(text, i, i + 2, 16));
                    i += 2;
                }
                default -> throw new IllegalArgumentException(text);
            }
        }
        return bytes.toString();
    }
}
