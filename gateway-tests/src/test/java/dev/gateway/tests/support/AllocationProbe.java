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
 * allocations when it sees fit. A busy machine splits what one read would have received over several reads, which costs
 * more. The least of many short batches is the cost without such splits, so what is printed depends on the code alone.
 */
public final class AllocationProbe {
    private static final int WARM_UP = 2000;
    private static final int BATCHES = 200;
    private static final int BATCH = 20;

    private AllocationProbe() {}

    /** Measures all pairings. */
    public static void main(String[] args) throws Exception {
        for (Pairing pairing : Pairing.values()) {
            try (Origin origin = Origin.start().on("/small", Behaviors.text("x".repeat(100)));
                    Rig rig = Rig.to(origin, pairing).start();
                    Peer client = rig.connect(pairing)) {
                ask(client, WARM_UP); // classes are loaded, buffers pooled, connections made
                long least = Long.MAX_VALUE;
                for (int i = 0; i < BATCHES; i++) {
                    least = Math.min(least, allocatedByBatch(client));
                }
                System.out.println(pairing + " " + least / BATCH);
            }
        }
        System.exit(0);
    }

    private static long allocatedByBatch(Peer client) throws IOException {
        Map<Long, Long> before = allocated();
        ask(client, BATCH);
        long sum = 0;
        for (Map.Entry<Long, Long> each : allocated().entrySet()) {
            sum += each.getValue() - before.getOrDefault(each.getKey(), 0L);
        }
        return sum;
    }

    private static void ask(Peer client, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/small", "accept", "*/*", "user-agent", "probe"), true);
            int status = stream.receiveFinal().status();
            int length = stream.receiveBody().length();
            if (status != 200 || length != 100) {
                throw new IOException(status + " with " + length + " bytes instead of 200 with 100");
            }
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
