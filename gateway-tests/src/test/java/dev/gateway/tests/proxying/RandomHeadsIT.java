package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random heads through the whole gateway, with fields in any order and of any case, repeated, empty, and with bytes above
 * 0x7f: what one side sends arrives at the other. The system property {@code seed} repeats a failure.
 */
@Timeout(120)
class RandomHeadsIT {
    private static final int EXCHANGES = 80;
    private static final String[] METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"};

    /** What all random names begin with, so that those of the gateway are none of them. */
    private static final String PREFIX = "x-q";

    @ParameterizedTest
    @EnumSource
    void whatIsSentArrives(Pairing pairing) throws Exception {
        long seed = Long.getLong("seed", 23 + pairing.name().hashCode());
        Random random = new Random(seed);
        AtomicReference<Head> received = new AtomicReference<>();
        AtomicReference<Head> answer = new AtomicReference<>();
        try (Origin origin = Origin.start().otherwise((stream, head) -> {
                    received.set(head);
                    stream.receiveBody();
                    stream.send(answer.get(), false);
                    stream.send("body", true);
                });
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            for (int i = 0; i < EXCHANGES; i++) {
                String at = "seed " + seed + ", exchange " + i;
                List<String> crumbs = crumbs(random);
                List<String> fields = fields(random);
                List<String> sent = new ArrayList<>(fields);
                for (String crumb : pairing.client.isHttp2() ? crumbs : joined(crumbs)) {
                    sent.add("cookie");
                    sent.add(crumb);
                }
                List<String> answered = fields(random);
                addCookies(random, answered);
                answer.set(Head.response(status(random), answered.toArray(String[]::new)));
                String method = METHODS[random.nextInt(METHODS.length)];
                String target = "/" + token(random) + "?" + token(random) + "=%" + (10 + random.nextInt(80));

                PeerStream stream = client.open();
                stream.send(Head.request(method, target, sent.toArray(String[]::new)), true);
                Head got = stream.receiveFinal();
                assertThat(stream.receiveBody()).as(at).isEqualTo("body");

                Head asked = received.get();
                assertThat(asked.method()).as(at).isEqualTo(method);
                assertThat(asked.target()).as(at).isEqualTo(target);
                assertThat(lines(pairing, asked))
                        .as(at)
                        .isEqualTo(lines(pairing, Head.request("", "", fields.toArray(String[]::new))));
                assertThat(asked.all("cookie")).as(at).isEqualTo(joined(crumbs));
                assertThat(got.status()).as(at).isEqualTo(answer.get().status());
                assertThat(lines(pairing, got)).as(at).isEqualTo(lines(pairing, answer.get()));
            }
        }
    }

    /** Returns the fields that are the test's, in their order; HTTP/2 knows no upper case. */
    private static List<String> lines(Pairing pairing, Head head) {
        boolean lower = pairing.client.isHttp2() || pairing.upstreamIsHttp2();
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, String> field : head.fields()) {
            String name = field.getKey().toLowerCase(Locale.ROOT);
            if (name.startsWith(PREFIX) || name.equals("set-cookie")) {
                lines.add((lower ? name : field.getKey()) + ": " + field.getValue());
            }
        }
        return lines;
    }

    private static int status(Random random) {
        int status = 200 + random.nextInt(400);
        return status == 204 || status == 205 || status == 304 ? 200 : status;
    }

    private static List<String> fields(Random random) {
        List<String> fields = new ArrayList<>();
        for (int i = random.nextInt(12); i > 0; i--) {
            boolean again = !fields.isEmpty() && random.nextInt(4) == 0;
            fields.add(again ? fields.get(fields.size() - 2) : mixed(random, PREFIX + token(random)));
            fields.add(random.nextInt(5) == 0 ? "" : value(random));
        }
        return fields;
    }

    /** Repeated fields that must not become one (RFC 9110, section 5.3). */
    private static void addCookies(Random random, List<String> fields) {
        for (int i = random.nextInt(4); i > 0; i--) {
            int at = 2 * random.nextInt(fields.size() / 2 + 1);
            fields.add(at, "Set-Cookie");
            fields.add(at + 1, token(random) + "=" + token(random) + ", " + i);
        }
    }

    private static List<String> crumbs(Random random) {
        List<String> crumbs = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            crumbs.add(token(random) + "=" + token(random));
        }
        return crumbs;
    }

    private static List<String> joined(List<String> crumbs) {
        return crumbs.isEmpty() ? List.of() : List.of(String.join("; ", crumbs));
    }

    private static String token(Random random) {
        return Long.toString(random.nextLong() >>> (random.nextInt(60) + 1), 36);
    }

    private static String mixed(Random random, String name) {
        StringBuilder mixed = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            mixed.append(random.nextBoolean() ? Character.toUpperCase(c) : c);
        }
        return mixed.toString();
    }

    private static String value(Random random) {
        StringBuilder value = new StringBuilder();
        int length = 1 + random.nextInt(random.nextInt(10) == 0 ? 3000 : 40);
        for (int i = 0; i < length; i++) {
            boolean inside = i > 0 && i < length - 1;
            value.append(
                    switch (random.nextInt(10)) {
                        case 0 -> (char) (0x80 + random.nextInt(0x80));
                        case 1 -> inside ? ' ' : ',';
                        case 2 -> inside ? '\t' : ';';
                        default -> (char) ('!' + random.nextInt('~' - '!' + 1));
                    });
        }
        return value.toString();
    }
}
