package dev.gateway.protocol.http1;

import java.util.stream.IntStream;

/**
 * Where cases of a corpus are cut: before every byte but the first. Mutation tests, which run them for each mutant, cut at
 * every seventh: the system property {@code corpus.step}.
 */
final class Cuts {
    private static final int STEP = Integer.getInteger("corpus.step", 1);

    private Cuts() {}

    static IntStream of(String bytes) {
        return IntStream.iterate(1, cut -> cut < bytes.length(), cut -> cut + STEP);
    }
}
