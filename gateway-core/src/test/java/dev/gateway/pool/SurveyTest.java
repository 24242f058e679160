package dev.gateway.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import java.nio.file.*;
import java.util.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(500)
class SurveyTest {
    @Test
    void survey() throws Exception {
        Transport transport = Transport.start(TransportKind.NIO, 1);
        Resolver resolver = new Resolver(transport, List.of());
        Map<String, Integer> counts = new TreeMap<>();
        Map<String, Integer> words = new TreeMap<>();
        long begun = System.nanoTime();
        long from = Long.getLong("model.from", 1);
        long to = Long.getLong("model.to", 500);
        for (long seed = from; seed <= to; seed++) {
            PoolModel model = new PoolModel(seed, resolver);
            try {
                model.run();
            } catch (Throwable e) {
                String head = String.valueOf(e.getMessage()).lines().findFirst().orElse("") ;
                String key = e.getClass().getSimpleName() + " " + head.replaceAll("[0-9]+", "#");
                key = key.substring(0, Math.min(60, key.length()));
                if (counts.merge(key, 1, Integer::sum) <= 2) {
                    dump(model);
                    java.io.StringWriter w = new java.io.StringWriter();
                    e.printStackTrace(new java.io.PrintWriter(w));
                    Files.writeString(Path.of("/tmp/model-out/seed-" + seed), e.getMessage() + "\n" + model.history() + "\n" + w);
                    System.out.println("seed " + seed + " " + key);
                }
            }
            if (Boolean.getBoolean("model.words")) for (String line : model.history().split("\n")) {
                String word = line.replaceAll(".* ms: ", "").replaceAll("[0-9][0-9.:]*", "#").replaceAll(" on loop.*failed: ([A-Z_]+).*", " failed $1").replaceAll("(UpstreamSettings|on loop|, as it|to \\[|\\[).*", "").replaceAll("/?#", "#");
                words.merge(word, 1, Integer::sum);
            }
        }
        System.out.println((System.nanoTime() - begun) / 1_000_000 + " ms, cpu " + java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1_000_000 + " ms for " + (to - from + 1));
        counts.forEach((k, v) -> System.out.println(v + " x " + k));
        if (Boolean.getBoolean("model.words")) words.forEach((k, v) -> System.out.println("   " + v + " " + k));
        resolver.close();
        transport.stop().sync();
    }

    static Object field(Object of, String name) throws Exception {
        var f = of.getClass().getDeclaredField(name);
        f.setAccessible(true);
        return f.get(of);
    }

    static void dump(PoolModel model) throws Exception {
        for (LoopPools each : model.perLoop) {
            for (Object up : ((Map<?, ?>) field(each, "upstreams")).values()) {
                Permits permits = ((SharedUpstream) field(up, "shared")).permits; for (Object w : (Collection<?>) field(permits, "waiting")) System.out.println(" in line " + ((PermitWaiter) w).host + " flexible " + ((PermitWaiter) w).flexible); for (dev.gateway.upstream.Host h : ((SharedUpstream) field(up, "shared")).upstream.hosts()) System.out.println(" host " + h + " chosen " + h.isChosen() + " used " + h.isUsed() + " conns " + h.connections().taken() + " hasRoom " + h.connections().hasRoom() + " full " + h.connections().isFull() + " req " + h.requests().taken()+ " hasRoom " + h.requests().hasRoom()); System.out.println("excess " + ((SharedUpstream) field(up, "shared")).upstream.connections().excess() + " asking " + field(permits, "asking")+ " again " + field(permits, "askAgain")); System.out.println("loop: siblings pending " + field(field(up, "siblings"), "pending"));
                for (Object p : (List<?>) field(up, "pools")) {
                    EndpointPool pool = (EndpointPool) p;
                    System.out.println("  pool " + pool.endpoint.target + " expected " + pool.opener.expected() + " serving " + pool.kept.serving() + " inLine " + ((PermitWaiter) field(pool, "permit")).isWaiting() + " forPermit " + field(pool.pending, "forPermit"));
                    for (Waiter w : pool.pending.copy()) System.out.println("     " + w.callback + " permit " + w.connectionWait.isForPermit() + " armed " + w.connectionWait.isArmed());
                }
            }
        }
    }
}
