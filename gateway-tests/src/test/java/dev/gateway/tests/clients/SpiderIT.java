package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A spider follows all links of a site: it finds every page whole, on as few connections as can be. */
@Timeout(60)
class SpiderIT {
    private static final int PAGES = 120;
    private static final int AT_A_TIME = 8;
    private static final Pattern LINK = Pattern.compile("href=(/\\d+)");

    /** Page n leads to 2n+1, 2n+2 and back to the first; each has a length of its own. */
    private static String page(int n) {
        StringBuilder page = new StringBuilder("<a href=/0>start</a>");
        for (int next = 2 * n + 1; next <= 2 * n + 2 && next < PAGES; next++) {
            page.append("<a href=/").append(next).append(">next</a>");
        }
        return page.append("x".repeat(997 * n)).toString();
    }

    private static Behavior site() {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(page(Integer.parseInt(head.path().substring(1))), true);
        };
    }

    @ParameterizedTest
    @EnumSource
    void oneAfterTheOtherTakesOneConnectionEach(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().otherwise(site());
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            crawl(List.of(client), rig);
            assertThat(origin.connections()).isEqualTo(1);
            assertThat(rig.metric("gateway_downstream_connections_total", "listener=\"" + listener(pairing) + "\""))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyAtATimeTakeAsManyConnectionsAsTheirProtocolNeeds(Pairing pairing) throws Exception {
        List<Peer> clients = new ArrayList<>();
        try (Origin origin = Origin.start().otherwise(site());
                Rig rig = Rig.to(origin, pairing).top("workers: 1").start()) {
            int connections = pairing.client.isHttp2() ? 1 : AT_A_TIME;
            for (int i = 0; i < connections; i++) {
                clients.add(rig.connect(pairing));
            }
            List<Peer> each = new ArrayList<>();
            for (int i = 0; i < AT_A_TIME; i++) {
                each.add(clients.get(i % connections));
            }
            crawl(each, rig);
            assertThat(origin.connections()).isBetween(1, pairing.upstreamIsHttp2() ? 1 : AT_A_TIME);
            assertThat(rig.metric("gateway_downstream_connections_total", "listener=\"" + listener(pairing) + "\""))
                    .isEqualTo(connections);
            for (Peer client : clients) {
                client.close();
            }
        }
    }

    private static String listener(Pairing pairing) {
        return pairing.client.isTls() ? "secure" : "clear";
    }

    /** Asks for a page by each of these at a time, and compares pages and bytes with the site and the access log. */
    private static void crawl(List<Peer> clients, Rig rig) throws Exception {
        Deque<String> waiting = new ArrayDeque<>(List.of("/0"));
        Set<String> known = new HashSet<>(waiting);
        long bytes = 0;
        while (!waiting.isEmpty()) {
            List<PeerStream> asked = new ArrayList<>();
            List<String> paths = new ArrayList<>();
            for (int i = 0; i < clients.size() && !waiting.isEmpty(); i++) {
                PeerStream stream = clients.get(i).open();
                paths.add(waiting.remove());
                stream.send(Head.request("GET", paths.get(i)), true);
                asked.add(stream);
            }
            for (int i = 0; i < asked.size(); i++) {
                assertThat(asked.get(i).receiveFinal().status()).isEqualTo(200);
                String body = asked.get(i).receiveBody();
                assertThat(body).isEqualTo(page(Integer.parseInt(paths.get(i).substring(1))));
                bytes += body.length();
                Matcher links = LINK.matcher(body);
                while (links.find()) {
                    if (known.add(links.group(1))) {
                        waiting.add(links.group(1));
                    }
                }
            }
        }
        assertThat(known).hasSize(PAGES);
        long logged = 0;
        for (String line : rig.awaitAccessLog(PAGES)) {
            logged += new ObjectMapper().readTree(line).get("sentBytes").asLong();
        }
        assertThat(logged).isEqualTo(bytes);
    }
}
