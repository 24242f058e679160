package dev.gateway.tests.support;

import com.sun.management.ThreadMXBean;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * Prints how many bytes event loops allocate for one small proxied request, for each pairing of protocols: lines such as
 * {@code H1_TO_H1 1234}. Runs in a JVM of its own, without leak detection and without the second compiler, which removes
 * allocations when it sees fit; so what is counted depends on the code alone.
 */
public final class AllocationProbe {
    private static final int REQUESTS = 2000;

    private AllocationProbe() {}

    /** Measures all pairings. */
    public static void main(String[] args) throws Exception {
        for (Pairing pairing : Pairing.values()) {
            try (Origin origin = Origin.start().on("/", Behaviors.text("x".repeat(100)));
                    Rig rig = Rig.to(origin, pairing).start();
                    Peer client = rig.connect(pairing)) {
                ask(client, REQUESTS); // classes are loaded, buffers pooled, connections made
                Map<Long, Long> before = allocated();
                ask(client, REQUESTS);
                long sum = 0;
                for (Map.Entry<Long, Long> each : allocated().entrySet()) {
                    sum += each.getValue() - before.getOrDefault(each.getKey(), 0L);
                }
                System.out.println(pairing + " " + sum / REQUESTS);
            }
        }
        System.exit(0);
    }

    private static void ask(Peer client, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/small", "accept", "*/*", "user-agent", "probe"), true);
            stream.receiveFinal();
            stream.receiveBody();
        }
    }

    /** Returns what each event loop has allocated so far, by the id of its thread. */
    private static Map<Long, Long> allocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Map<Long, Long> bytes = new HashMap<>();
        for (Thread each : Thread.getAllStackTraces().keySet()) {
            if (each.getName().startsWith("loop-")) {
                bytes.put(each.getId(), threads.getThreadAllocatedBytes(each.getId()));
            }
        }
        return bytes;
    }
}
