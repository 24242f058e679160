package dev.gateway.status.explain;

import dev.gateway.status.explain.Explanation.NearMiss;
import dev.gateway.status.explain.Explanation.OnListener;
import dev.gateway.status.explain.Explanation.Reason;
import dev.gateway.status.explain.Explanation.Taken;
import dev.gateway.status.explain.Explanation.Target;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Writes an {@link Explanation} for people: what happens first, then why, each line with its place in the file. */
public final class ExplanationText {
    private final StringBuilder out = new StringBuilder();

    private ExplanationText() {}

    /** Returns the explanation as lines of text. */
    public static String of(Explanation explanation) {
        ExplanationText text = new ExplanationText();
        text.out.append(explanation.request()).append('\n');
        explanation.listeners().forEach(text::write);
        return text.out.toString();
    }

    private void write(OnListener on) {
        out.append("\nlistener ")
                .append(on.listener())
                .append(" (")
                .append(on.at())
                .append(")\n");
        line(1, "=> " + on.summary());
        section("because", on.reasons());
        Taken taken = on.taken();
        if (taken != null) {
            section("filters", taken.filters());
            if (!taken.targets().isEmpty()) {
                line(1, "upstreams");
                taken.targets().forEach(this::write);
            }
            line(1, "timeouts: " + pairs(taken.timeouts()));
            taken.more().forEach(this::write);
        }
        if (!on.nearMisses().isEmpty()) {
            line(1, "near misses");
            on.nearMisses().forEach(this::write);
        }
    }

    private void section(String title, List<Reason> reasons) {
        if (!reasons.isEmpty()) {
            line(1, title);
            reasons.forEach(reason -> line(2, placed(reason)));
        }
    }

    private void write(Target target) {
        long percent = Math.round(target.share() * 100);
        line(2, target.upstream() + ", " + percent + " %" + (target.at() == null ? "" : "  (" + target.at() + ")"));
        if (target.choice() != null) {
            line(3, "=> endpoint " + target.choice().text());
        }
        line(3, "loadBalancer: " + target.loadBalancer());
        target.endpoints().forEach(endpoint -> line(3, pairs(endpoint)));
        if (target.moreEndpoints() > 0) {
            line(3, "and " + target.moreEndpoints() + " endpoints more");
        }
        target.sources().forEach(source -> line(3, pairs(source)));
        line(3, "timeouts: " + pairs(target.timeouts()));
        if (target.sessionName() != null) {
            line(3, "sessionPersistence: cookie " + target.sessionName());
        }
    }

    private void write(NearMiss miss) {
        line(2, miss.name() + "  (" + miss.at() + ")");
        miss.fits().forEach(reason -> line(3, "yes  " + placed(reason)));
        miss.misses().forEach(reason -> line(3, "no   " + placed(reason)));
    }

    /** Writes a setting, each of its parts on a line of its own. */
    private void write(String name, Object value) {
        if (value instanceof Number) {
            return; // programs get it; people read it in the text of the next setting
        }
        if (value instanceof Collection<?> all) {
            line(
                    1,
                    name + ": "
                            + (all.isEmpty()
                                    ? "none"
                                    : String.join(
                                            ", ",
                                            all.stream().map(String::valueOf).toList())));
            return;
        }
        String[] parts = String.valueOf(value).split("; ", -1);
        line(1, name + ": " + parts[0]);
        for (int i = 1; i < parts.length; i++) {
            line(2, parts[i]);
        }
    }

    private static String placed(Reason reason) {
        return reason.text() + (reason.at() == null ? "" : "  (" + reason.at() + ")");
    }

    private static String pairs(Map<String, Object> map) {
        StringJoiner pairs = new StringJoiner(", ");
        map.forEach((key, value) -> pairs.add(key + " " + value));
        return pairs.toString();
    }

    private void line(int depth, String text) {
        out.append("  ".repeat(depth)).append(text).append('\n');
    }
}
