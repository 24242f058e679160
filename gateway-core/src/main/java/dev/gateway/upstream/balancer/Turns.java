package dev.gateway.upstream.balancer;

import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/** Weighted turns: a sequence of indexes in which each comes as often as its weight says, evenly spread. */
public final class Turns {
    private Turns() {}

    /** An index, and when it is due next. */
    private record Due(int index, double at, double period) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            int earlier = Double.compare(at, other.at);
            return earlier != 0 ? earlier : Integer.compare(index, other.index);
        }
    }

    /**
     * Returns a sequence of this length (earliest due date first). Each index comes at least once, unless the sequence is
     * shorter than the list of weights.
     *
     * @param weights each more than 0
     */
    public static int[] of(double[] weights, int length) {
        if (Arrays.stream(weights).distinct().count() <= 1) {
            return IntStream.range(0, weights.length == 0 ? 0 : length)
                    .map(turn -> turn % weights.length)
                    .toArray();
        }
        double least = Arrays.stream(weights).sum() / length;
        PriorityQueue<Due> queue = new PriorityQueue<>(weights.length);
        double[] shares = new double[weights.length];
        for (int i = 0; i < shares.length; i++) {
            shares[i] = Math.max(weights[i], least);
        }
        double total = Arrays.stream(shares).sum();
        for (int i = 0; i < shares.length; i++) {
            double period = total / shares[i];
            queue.add(new Due(i, (i + 0.5) / shares.length * period, period)); // spreads the first ones
        }
        int[] turns = new int[length];
        for (int t = 0; t < turns.length; t++) {
            Due next = queue.remove();
            turns[t] = next.index;
            queue.add(new Due(next.index, next.at + next.period, next.period));
        }
        return turns;
    }
}
