package dev.gateway.config.yaml.schema.observe;

import static java.util.Map.entry;

import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.Suggestions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Placeholders of other products, such as nginx's {@code $remote_addr}, in texts where ours are words in braces. */
public final class ForeignPlaceholders {
    private static final Pattern VARIABLE = Pattern.compile("\\$([a-z][a-z0-9_]+)"); // nginx
    private static final Pattern OPERATOR = Pattern.compile("%([A-Z][A-Z_]{2,})(\\([^)]*\\))?%"); // Envoy
    private static final Pattern DIRECTIVE = Pattern.compile("%>?[a-zA-Z]\\b"); // Apache httpd, HAProxy

    private static final Pattern GROUP =
            Pattern.compile("(?<=/)\\$[1-9](?![0-9.,])"); // of an expression, not an amount
    private static final Pattern BRACES = Pattern.compile("\\{\\{?([A-Za-z][A-Za-z0-9_.-]*)\\}");

    /** What begins names of nginx's variables and of Envoy's operators that have no word of ours. */
    private static final Pattern FAMILY = Pattern.compile(
            "(http|arg|cookie|upstream|ssl|proxy|remote|downstream|req|resp)(_.*|$)|args|is_args|query_string|document_uri");

    /** Fields of the access log, by the names of nginx's variables and of Envoy's operators. */
    static final Map<String, String> OURS = Map.ofEntries(
            entry("remote_addr", "client"),
            entry("downstream_remote_address", "client"),
            entry("downstream_remote_address_without_port", "client"),
            entry("remote_user", "identity"),
            entry("host", "authority"),
            entry("http_host", "authority"),
            entry("server_name", "serverName"),
            entry("ssl_server_name", "serverName"),
            entry("requested_server_name", "serverName"),
            entry("request_id", "requestId"),
            entry("request_method", "method"),
            entry("request_uri", "path"),
            entry("uri", "path"),
            entry("scheme", "scheme"),
            entry("protocol", "protocol"),
            entry("server_protocol", "protocol"),
            entry("ssl_protocol", "tlsProtocol"),
            entry("downstream_tls_version", "tlsProtocol"),
            entry("ssl_cipher", "tlsCipher"),
            entry("downstream_tls_cipher", "tlsCipher"),
            entry("status", "status"),
            entry("response_code", "status"),
            entry("request", "requestLine"),
            entry("bytes_sent", "sentBytes"),
            entry("body_bytes_sent", "sentBytes"),
            entry("time_local", "time"),
            entry("time_iso8601", "time"));

    /** What only an exchange that has ended knows. */
    private static final Set<String> OF_LOGS = Set.of("status", "requestLine", "sentBytes", "time");

    private ForeignPlaceholders() {}

    /** Returns what to say of the value of a header, null if it has no placeholder of another product. */
    public static @Nullable String inValue(String text) {
        String found = found(text, false);
        Matcher group = GROUP.matcher(text);
        return found == null && group.find()
                ? "'" + group.group() + "' stands for itself here: groups of expressions cannot be used"
                : found;
    }

    /**
     * Returns what to say of a word in braces that we do not have: another, or a list of all.
     *
     * @param known the words that the text may have
     */
    public static @Nullable String unknownWord(String text, Set<String> known) {
        Matcher braces = BRACES.matcher(text);
        while (braces.find()) {
            String word = braces.group(1);
            boolean doubled = braces.group().startsWith("{{");
            if (doubled && known.contains(word)) {
                return "'{{" + word + "}}' has braces around the word when it is sent: write {" + word + "}";
            } else if (doubled || known.contains(word)) {
                continue;
            }
            String ours = OURS.get(word.toLowerCase(Locale.ROOT));
            String near = ours != null && known.contains(ours) ? ours : Suggestions.nearest(word, known);
            if (near == null && !word.matches(".*[._].*")) {
                continue; // as in a template of links, RFC 9652
            }
            return "'" + MessageText.shorten(braces.group()) + "' stands for itself here: "
                    + (near == null
                            ? "words are " + String.join(", ", new TreeSet<>(known))
                            : near.equals(ours) ? "write {" + near + "}" : "did you mean {" + near + "}?");
        }
        return null;
    }

    /** Returns a placeholder of any product in a text that can have none, null if it has none. */
    public static @Nullable String any(String text) {
        for (Pattern pattern : List.of(VARIABLE, GROUP, BRACES)) {
            Matcher matcher = pattern.matcher(text);
            while (matcher.find()) {
                if (pattern != VARIABLE || isOfPaths(matcher.group(1))) {
                    return matcher.group();
                }
            }
        }
        return null;
    }

    /** Whether it may be meant in a path, as words such as FHIR's {@code $status} are not. */
    private static boolean isOfPaths(String name) {
        String ours = OURS.get(name);
        return isForeign(name) && (ours == null || !OF_LOGS.contains(ours));
    }

    private static boolean isForeign(String name) {
        return OURS.containsKey(name) || FAMILY.matcher(name).matches();
    }

    /** Returns what to say of a template of log lines, null if it has no placeholder of another product. */
    static @Nullable String inTemplate(String text) {
        String found = found(text, true);
        Matcher directive = DIRECTIVE.matcher(text);
        return found == null && directive.find() ? said(directive, null) : found;
    }

    private static @Nullable String found(String text, boolean log) {
        for (Pattern pattern : List.of(VARIABLE, OPERATOR)) {
            Matcher matcher = pattern.matcher(text);
            while (matcher.find()) {
                String name = matcher.group(1).toLowerCase(Locale.ROOT);
                String ours = OURS.get(name);
                if (isForeign(name)) {
                    return said(matcher, ours == null || (OF_LOGS.contains(ours) && !log) ? null : ours);
                }
            }
        }
        return null;
    }

    private static String said(Matcher matcher, @Nullable String ours) {
        return "'" + matcher.group() + "' stands for itself here: write "
                + (ours == null ? "a word in braces, such as {client}" : "{" + ours + "}");
    }
}
