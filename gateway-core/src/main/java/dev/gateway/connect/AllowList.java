package dev.gateway.connect;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Suggested allow list. A short list that allows what audit mode has seen and little else: what an operator begins with who
 * has to write one. Addresses and names stand by themselves. Only where three or more names, or domains so found, are
 * directly below one domain does the domain stand for them; and never if strangers can have names there, such as {@code
 * .co.uk} or a hosting platform's, as far as that is known here.
 *
 * @param ports all that were seen
 * @param allow lines for {@code allow}, in order
 * @param notPublic hosts that led to addresses which are not public: they are not among the lines, for somebody has to
 *     look at each before it is allowed
 * @param requests how many requests it is made of
 * @param dropped how many targets were not noted for want of room: if there are any, the list is not complete
 */
public record AllowList(Set<Integer> ports, List<String> allow, Set<String> notPublic, long requests, long dropped) {
    private static final int ENOUGH = 3;

    /** Second-level domains below which a country's registry registers. */
    private static final Set<String> REGISTRIES = Set.of(
            "ac", "co", "com", "edu", "go", "gob", "gouv", "gov", "gv", "ltd", "mil", "ne", "net", "nom", "or", "org");

    /** Domains below which anybody can have a name. */
    private static final List<String> PLATFORMS = List.of(
            "amazonaws.com",
            "appspot.com",
            "azureedge.net",
            "azurewebsites.net",
            "blogspot.com",
            "cloudapp.net",
            "cloudfront.net",
            "firebaseapp.com",
            "fly.dev",
            "github.io",
            "gitlab.io",
            "googleapis.com",
            "googleusercontent.com",
            "herokuapp.com",
            "netlify.app",
            "ngrok.io",
            "pages.dev",
            "run.app",
            "vercel.app",
            "web.app",
            "windows.net",
            "workers.dev");

    private static final String NOT_PUBLIC =
            """
            # WARNING: these lead to addresses that are not public, and were refused. An attacker may have made a client ask
            # for them. A cloud's metadata service, for one, gives credentials to every client. Find out who needs each
            # before you add it, to allow as well.
            #trustedDestinations:
            """;

    /** Makes the list of what a trail has. */
    public static AllowList of(AuditTrail trail) {
        Set<Integer> ports = new TreeSet<>();
        Set<String> addresses = new TreeSet<>();
        Set<String> names = new TreeSet<>();
        Set<String> notPublic = trail.notPublic();
        long requests = 0;
        for (AuditTrail.Observed seen : trail.observed()) {
            Target target = seen.target();
            requests += seen.times();
            if (!notPublic.contains(target.host())) {
                ports.add(target.port());
                (target.address() == null ? names : addresses).add(target.host());
            }
        }
        List<String> allow = new ArrayList<>(merge(names));
        allow.addAll(addresses);
        return new AllowList(ports, allow, notPublic, requests, trail.dropped());
    }

    /** Replaces names by domains, the deepest first, until there is nothing to replace. */
    static Collection<String> merge(Set<String> names) {
        Set<String> lines = new TreeSet<>(names);
        int deepest = names.stream().mapToInt(AllowList::labels).max().orElse(0);
        for (int labels = deepest; labels > 1; labels--) {
            Map<String, List<String>> below = new TreeMap<>();
            for (String line : lines) {
                if (labels(line) == labels) {
                    String name = plain(line);
                    below.computeIfAbsent(name.substring(name.indexOf('.') + 1), domain -> new ArrayList<>())
                            .add(line);
                }
            }
            below.forEach((domain, found) -> {
                if (found.size() >= ENOUGH && hasOneOwner(domain)) {
                    lines.remove(domain);
                    lines.add("." + domain);
                }
            });
        }
        // What a line for a domain holds need not stand by itself.
        lines.removeIf(line -> isBelow(plain(line), lines));
        return lines;
    }

    private static boolean isBelow(String name, Set<String> lines) {
        for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
            if (lines.contains(name.substring(dot))) {
                return true;
            }
        }
        return false;
    }

    private static String plain(String line) {
        return line.startsWith(".") ? line.substring(1) : line;
    }

    private static int labels(String line) {
        return 1 + (int) plain(line).chars().filter(c -> c == '.').count();
    }

    private static boolean hasOneOwner(String domain) {
        int dot = domain.indexOf('.');
        if (dot < 0) {
            return false;
        }
        boolean country = domain.length() - domain.lastIndexOf('.') == 3;
        if (country && domain.lastIndexOf('.') == dot && REGISTRIES.contains(domain.substring(0, dot))) {
            return false;
        }
        return PLATFORMS.stream().noneMatch(platform -> ("." + domain).endsWith("." + platform));
    }

    /** Returns it as part of a {@code connect} entry. */
    public String toYaml() {
        StringBuilder yaml = new StringBuilder("# covers ").append(requests).append(" requests\n");
        if (dropped > 0) {
            yaml.append("# NOT COMPLETE: ")
                    .append(dropped)
                    .append(" requests were to targets that there was no room for\n");
        }
        yaml.append("allowedPorts: ").append(ports).append('\n');
        list(yaml, "allow", allow);
        if (!notPublic.isEmpty()) {
            yaml.append(NOT_PUBLIC);
            notPublic.forEach(host -> yaml.append("#  - \"").append(host).append("\"\n"));
        }
        return yaml.toString();
    }

    private static void list(StringBuilder yaml, String key, Collection<String> lines) {
        yaml.append(key).append(lines.isEmpty() ? ": []\n" : ":\n");
        for (String line : lines) {
            yaml.append("  - \"").append(line).append("\"\n");
        }
    }
}
