package dev.gateway.format;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Places of an error page that values are filled in, such as {@code {{status}}}. */
public final class PagePlace {
    /** Names of the values. */
    public static final List<String> NAMES = List.of("requestId", "status", "reason", "cause");

    /** Braces twice: with one pair, CSS and scripts would have places by accident. The group is the name. */
    public static final Pattern KNOWN = Pattern.compile("\\{\\{(" + String.join("|", NAMES) + ")}}");

    private static final Pattern ANY = Pattern.compile("\\{\\{( *[A-Za-z][A-Za-z0-9_.-]{0,40} *)}}");

    private PagePlace() {}

    /** Returns what a page has in such braces and clients will see, as no value has this name. */
    public static Set<String> unknown(String page) {
        Set<String> found = new LinkedHashSet<>();
        Matcher places = ANY.matcher(page);
        while (places.find()) {
            if (!KNOWN.matcher(places.group()).matches()) {
                found.add(places.group(1));
            }
        }
        return found;
    }
}
