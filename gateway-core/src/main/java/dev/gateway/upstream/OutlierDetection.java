package dev.gateway.upstream;

/**
 * When endpoints are ejected, and for how long.
 *
 * @param consecutive5xx after how many failures in a row, at least 1
 * @param baseEjectionMillis how long the first time, at least 1; longer by as much each time that it is ejected soon again
 * @param maxEjectionMillis how long at most
 * @param maxEjectionPercent how many of the endpoints at the same time; one may be in any case
 */
public record OutlierDetection(
        int consecutive5xx, long baseEjectionMillis, long maxEjectionMillis, int maxEjectionPercent) {
    /** Returns how many of so many endpoints may be ejected at the same time. */
    int most(int endpoints) {
        return Math.max(1, (int) ((long) endpoints * maxEjectionPercent / 100));
    }
}
