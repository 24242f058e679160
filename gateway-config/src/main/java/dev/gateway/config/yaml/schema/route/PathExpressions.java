package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.yaml.schema.route.SearchExpressions.Element;
import dev.gateway.config.yaml.schema.route.SearchExpressions.NotUnderstoodException;
import dev.gateway.config.yaml.type.MessageText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Regular expressions that need something that no path has in the form in which the gateway compares it. A rule that such an
 * expression guards would be open. Only text that stands for itself is looked at. Of expressions that are not understood, nothing
 * is said but that they have non-ASCII characters.
 */
final class PathExpressions {
    private static final String RESOLVED = "'//', '/./' and '/../' are resolved: write it without them";
    private static final String NO_NORMAL = "matches no path in normal form";
    private static final char BREAK = '\uffff'; // anything may stand there, or nothing
    private static final char END = '\ufffe';
    private static final int MAX_ASCII = 0x7f;

    private static final Pattern UNRESOLVED = Pattern.compile("//|/\\.\\.?(/|" + END + ")");
    private static final Pattern ESCAPE = Pattern.compile("%([0-9A-Fa-f]{2})");

    /** A character by its number: {@code \xe9}, {@code \x{e9}} or octal. A backslash before it stands for itself. */
    private static final Pattern NUMBER =
            Pattern.compile("\\\\(?:x\\{([0-9A-Fa-f]{1,6})}|x([0-9A-Fa-f]{2})|([0-3]?[0-7]{2})|.)", Pattern.DOTALL);

    private static final Pattern IGNORES_CASE = Pattern.compile("\\(\\?[a-zA-Z]*i");

    /**
     * What is wrong with an expression.
     *
     * @param isError whether no path in normal form matches; else one might, by another alternative
     */
    record Problem(String text, boolean isError) {
        /** Returns the one that is an error, else the first. */
        static @Nullable Problem worse(@Nullable Problem first, @Nullable Problem second) {
            boolean isWorse = first == null || (!first.isError && second != null && second.isError);
            return isWorse ? second : first;
        }
    }

    private PathExpressions() {}

    /** Returns what to say of an expression, null for one without such a mistake. Of a secret one, nothing is quoted. */
    static @Nullable Problem worst(String expression, boolean secret) {
        return Problem.worse(foreignProblem(expression, secret), secret ? null : problem(expression));
    }

    /** Returns what to say of an expression with characters that a path only has as escapes, null for one without them. */
    static @Nullable Problem foreignProblem(String expression, boolean secret) {
        String readable = withoutNumbers(expression);
        int found = readable.codePoints()
                .filter(each -> each > MAX_ASCII)
                .findFirst()
                .orElse(0);
        if (found == 0) {
            return null;
        }
        String fix = secret || !Character.isLetter(found)
                ? "write their escapes, such as %C3%A9"
                : "write '" + escaped(found) + "' for '" + Character.toString(found) + "'";
        // In a class, an escape would be any one of its characters.
        String outside = readable.indexOf('[') < 0 ? "" : ", not within [ ]";
        return new Problem("a path has no non-ASCII characters: " + fix + outside, needsForeign(readable));
    }

    /** Returns an expression with the non-ASCII characters that it has by their numbers. */
    private static String withoutNumbers(String expression) {
        return NUMBER.matcher(expression).replaceAll(each -> {
            int number = number(each.group(1), each.group(2), each.group(3));
            return Matcher.quoteReplacement(number > MAX_ASCII ? Character.toString(number) : each.group());
        });
    }

    /** Whether all that an expression matches has non-ASCII characters. Says no if that cannot be told. */
    private static boolean needsForeign(String expression) {
        try {
            return expression.length() <= SearchExpressions.MAX_LENGTH
                    && needsForeign(SearchExpressions.alternatives(expression));
        } catch (NotUnderstoodException e) {
            return false;
        }
    }

    private static boolean needsForeign(List<List<Element>> alternatives) throws NotUnderstoodException {
        for (List<Element> alternative : alternatives) {
            boolean needs = false;
            for (Element element : alternative) {
                needs |= needsForeign(element);
            }
            if (!needs) {
                return false;
            }
        }
        return true;
    }

    private static boolean needsForeign(Element element) throws NotUnderstoodException {
        if (element.text().codePoints().allMatch(each -> each <= MAX_ASCII) || element.mayBeEmpty()) {
            return false;
        }
        List<List<Element>> alternatives = new Element(element.text(), "").alternatives();
        return alternatives.isEmpty() ? !element.mayBeAscii() : needsForeign(alternatives);
    }

    private static int number(@Nullable String braced, @Nullable String hex, @Nullable String octal) {
        if (octal != null) {
            return Integer.parseInt(octal, 8);
        }
        return braced == null && hex == null ? 0 : Integer.parseInt(Objects.requireNonNullElse(braced, hex), 16);
    }

    private static String escaped(int character) {
        StringBuilder escapes = new StringBuilder();
        for (byte b : Character.toString(character).getBytes(StandardCharsets.UTF_8)) {
            escapes.append('%').append(String.format(Locale.ROOT, "%02X", b & 0xff));
        }
        return escapes.toString();
    }

    /** Returns what to say of an expression, null for one without such a mistake. */
    static @Nullable Problem problem(String expression) {
        if (expression.length() > SearchExpressions.MAX_LENGTH) {
            return null;
        }
        boolean ignoresCase = IGNORES_CASE.matcher(expression).find();
        try {
            List<List<Element>> alternatives = SearchExpressions.alternatives(expression);
            Problem first = null;
            boolean never = true;
            for (List<Element> alternative : alternatives) {
                Problem problem = problem(alternative, ignoresCase, true);
                first = first == null ? problem : first;
                never &= problem != null && problem.isError;
            }
            return first == null ? null : new Problem(first.text, never);
        } catch (NotUnderstoodException e) {
            return null;
        }
    }

    /** Returns what is wrong with parts that follow each other. */
    private static @Nullable Problem problem(List<Element> parts, boolean ignoresCase, boolean whole)
            throws NotUnderstoodException {
        StringBuilder text = new StringBuilder();
        Problem inner = null;
        for (Element part : parts) {
            String literal = part.literal();
            text.append(literal == null ? String.valueOf(BREAK) : literal);
            inner = Problem.worse(inner, problemOfGroup(part, ignoresCase));
        }
        return Problem.worse(inner, problem(text.append(whole ? END : BREAK).toString(), ignoresCase));
    }

    /** Returns what is wrong with a group if that holds for all of its alternatives. */
    private static @Nullable Problem problemOfGroup(Element part, boolean ignoresCase) throws NotUnderstoodException {
        Problem first = null;
        for (List<Element> alternative : part.alternatives()) {
            Problem problem = problem(alternative, ignoresCase, false);
            if (problem == null) {
                return null;
            }
            first = first == null || !problem.isError ? problem : first;
        }
        return first;
    }

    private static @Nullable Problem problem(String text, boolean ignoresCase) {
        Matcher escapes = ESCAPE.matcher(text);
        if (UNRESOLVED.matcher(text).find()) {
            return new Problem("never matches: the gateway matches requests after " + RESOLVED, true);
        }
        // It may match what a server decodes, such as %252F as %2F, and that alone is hardly meant.
        if (UNRESOLVED.matcher(escapes.replaceAll(PathExpressions::decoded)).find()) {
            return new Problem(NO_NORMAL + ", in which " + RESOLVED, true);
        }
        escapes.reset();
        while (escapes.find()) {
            String escape = escapes.group();
            String normal = normal(escape);
            if (!normal.equals(ignoresCase && normal.length() > 1 ? escape.toUpperCase(Locale.ROOT) : escape)) {
                String wanted = normal.equals(".") ? "\\." : normal;
                return new Problem(
                        NO_NORMAL + ": write " + MessageText.quote(wanted) + " for " + MessageText.quote(escape), true);
            }
        }
        if (text.indexOf('?') >= 0 || text.indexOf('#') >= 0) {
            return new Problem("a path has no '?' or '#': write queryParams to match the query", false);
        }
        return text.chars().anyMatch(c -> c <= ' ' || c == 0x7f)
                ? new Problem("a path has no spaces or control characters: write their escapes, such as %20", false)
                : null;
    }

    private static String decoded(MatchResult escape) {
        String normal = normal(escape.group());
        return normal.length() == 1 ? Matcher.quoteReplacement(normal) : escape.group();
    }

    /** Returns an escape as it stands in a path in normal form: only what a URI needs no escape for has none. */
    private static String normal(String escape) {
        String text = Character.toString(Integer.parseInt(escape.substring(1), 16));
        return text.matches("[A-Za-z0-9._~-]") ? text : escape.toUpperCase(Locale.ROOT);
    }
}
