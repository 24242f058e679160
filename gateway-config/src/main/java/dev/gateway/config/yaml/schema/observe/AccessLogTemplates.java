package dev.gateway.config.yaml.schema.observe;

import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.observe.AccessLogTemplate.Field;
import dev.gateway.config.observe.AccessLogTemplate.Literal;
import dev.gateway.config.observe.AccessLogTemplate.Part;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Suggestions;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Variables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Takes templates of log lines apart: <code>{field}</code>, doubled braces for one that stands for itself. */
final class AccessLogTemplates {
    /** A whole line, which has a field at least. */
    static final ScalarType<AccessLogTemplate> TYPE = type(true)
            .named(
                    "log template",
                    "One line of ASCII text with fields in braces, such as '{method} {path}'. Doubled braces stand for one.");

    /** The value of one field, which may be the same in all lines. */
    static final ScalarType<AccessLogTemplate> VALUE = type(false)
            .named(
                    "log value",
                    "ASCII text with fields in braces, such as '{serverName}' or '{requestHeader:X-Tier}'. "
                            + "Doubled braces stand for one.");

    private static final Set<String> WITH_ARGUMENT =
            Set.of(AccessLogTemplate.REQUEST_HEADER, AccessLogTemplate.RESPONSE_HEADER);

    private AccessLogTemplates() {}

    private static ScalarType<AccessLogTemplate> type(boolean line) {
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                Map.of("type", "string", "minLength", 1),
                new AccessLogTemplate("", List.of()),
                (text, site) -> {
                    AccessLogTemplate template = parse(text, line);
                    String foreign = ForeignPlaceholders.inTemplate(text);
                    if (foreign != null) {
                        site.scope().problems.warning(site.position(), site.label() + ": " + foreign);
                    }
                    return template;
                },
                template -> Variables.escape(template.text()));
    }

    private static AccessLogTemplate parse(String text, boolean line) throws InvalidException {
        if (text.isEmpty() || text.chars().anyMatch(c -> (c < ' ' && c != '\t') || c > '~')) {
            throw new InvalidException(
                    "expected one line of ASCII text with fields in braces, not " + MessageText.quote(text));
        }
        List<Part> parts = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            boolean brace = c == '{' || c == '}';
            if (!brace || text.startsWith(String.valueOf(c).repeat(2), at)) {
                literal.append(c);
                at += brace ? 2 : 1;
                continue;
            }
            int end = text.indexOf('}', at);
            if (c == '}' || end < 0) {
                throw new InvalidException(
                        "a '" + c + "' without its other brace (write " + c + c + " for a literal one)");
            }
            if (!literal.isEmpty()) {
                parts.add(new Literal(literal.toString()));
                literal.setLength(0);
            }
            parts.add(field(text.substring(at + 1, end)));
            at = end + 1;
        }
        if (!literal.isEmpty()) {
            parts.add(new Literal(literal.toString()));
        }
        if (line && parts.stream().noneMatch(Field.class::isInstance)) {
            String foreign = ForeignPlaceholders.inTemplate(text);
            throw new InvalidException("the template has no field: "
                    + (foreign == null ? "write one in braces, such as {path}" : foreign));
        }
        return new AccessLogTemplate(text, parts);
    }

    private static Field field(String written) throws InvalidException {
        int colon = written.indexOf(':');
        String name = colon < 0 ? written : written.substring(0, colon);
        String argument = colon < 0 ? "" : written.substring(colon + 1);
        if (WITH_ARGUMENT.contains(name)) {
            if (!argument.matches(Types.TOKEN)) {
                throw new InvalidException(
                        "{" + name + "} needs the name of a header: write {" + name + ":Content-Type}");
            }
            return new Field(name, argument);
        }
        if (colon < 0 && AccessLogTemplate.FIELDS.containsKey(name)) {
            return new Field(name, "");
        }
        Set<String> known = new TreeSet<>(AccessLogTemplate.FIELDS.keySet());
        known.addAll(WITH_ARGUMENT);
        if (known.contains(name)) {
            throw new InvalidException("{" + name + "} takes nothing after a colon");
        }
        String near = Suggestions.nearest(name, known);
        throw new InvalidException("unknown field {" + MessageText.shorten(written) + "}"
                + (near != null ? ": did you mean {" + near + "}?" : ": expected one of " + String.join(", ", known)));
    }
}
