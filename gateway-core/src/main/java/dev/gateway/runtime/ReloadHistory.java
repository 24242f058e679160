package dev.gateway.runtime;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reload history: the last reloads, why they were tried and what came of them. Any thread may ask. */
public final class ReloadHistory {
    private static final int KEPT = 20;
    private static final int LINES = 20;

    private final Deque<Map<String, Object>> reloads = new ArrayDeque<>(); // guarded by this
    private String lastChange = ""; // guarded by this

    /**
     * Remembers a reload.
     *
     * @param generation number of the generation that is active after the reload
     * @param change null if it failed
     * @param lines problems and warnings, which say more than is kept
     */
    synchronized void add(
            Instant time, String reason, long generation, @Nullable ConfigChange change, List<String> lines) {
        Map<String, Object> reload = new LinkedHashMap<>();
        reload.put("time", time.truncatedTo(ChronoUnit.SECONDS).toString());
        reload.put("reason", reason);
        reload.put("succeeded", change != null);
        reload.put("generation", generation);
        if (change != null && !change.isNone()) {
            lastChange = "generation " + generation + " of " + reload.get("time") + ": " + change;
        }
        if (change != null) {
            reload.put("added", List.copyOf(change.added()));
            reload.put("changed", List.copyOf(change.changed()));
            reload.put("removed", List.copyOf(change.removed()));
        }
        reload.put("problems", List.copyOf(lines.subList(0, Math.min(LINES, lines.size()))));
        reloads.addFirst(reload);
        if (reloads.size() > KEPT) {
            reloads.removeLast();
        }
    }

    /**
     * Returns the number, the time and the effect of the last reload that changed something, as a clause; empty if none did.
     * Who asks for a reload just after a change of a file may come later than the look that has found it.
     */
    synchronized String lastChange() {
        return lastChange;
    }

    /** Returns them, latest first. */
    public synchronized List<Map<String, Object>> all() {
        return new ArrayList<>(reloads);
    }
}
