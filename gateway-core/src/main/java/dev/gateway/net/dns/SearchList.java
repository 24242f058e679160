package dev.gateway.net.dns;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Search list of the machine: the domains that complete a name. Netty completes names only in queries of addresses.
 *
 * @param dots a name with so many dots is first queried without a domain
 */
record SearchList(List<String> domains, int dots) {
    private static final Path FILE = Path.of("/etc/resolv.conf");

    /** Returns the list of this machine; it has no domains if there is no file. */
    static SearchList ofMachine() {
        try {
            return of(Files.readString(FILE, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return of("");
        }
    }

    /** Reads the text of a {@code resolv.conf}. The last {@code search} or {@code domain} counts. */
    static SearchList of(String text) {
        List<String> domains = List.of();
        int dots = 1;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            String[] words = line.strip().split("\\s+");
            if (words[0].equals("search") || words[0].equals("domain")) {
                domains = List.of(words).subList(1, words.length);
            } else if (words[0].equals("options")) {
                for (String option : words) {
                    if (option.matches("ndots:[0-9]{1,2}")) {
                        dots = Integer.parseInt(option.substring("ndots:".length()));
                    }
                }
            }
        }
        return new SearchList(domains, dots);
    }

    /** Returns the forms of a name in the order of queries, each with a dot at its end. */
    List<String> forms(String name) {
        if (name.endsWith(".")) {
            return List.of(name);
        }
        List<String> forms = new ArrayList<>();
        for (String domain : domains) {
            forms.add(name + "." + domain + (domain.endsWith(".") ? "" : "."));
        }
        boolean first = name.chars().filter(c -> c == '.').count() >= dots;
        forms.add(first ? 0 : forms.size(), name + ".");
        return forms;
    }
}
