package dev.gateway.config.yaml.schema.route;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.gateway.config.yaml.type.MessageText;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Regular expressions that are written for a search, as other products do, where the gateway compares the whole text.
 * Nothing is said of those that are not understood.
 */
final class SearchExpressions {
    /** Nobody writes a longer one by hand. */
    static final int MAX_LENGTH = 300;

    private static final int MAX_PROPOSAL = 60; // messages cut what is longer

    private static final java.util.regex.Pattern QUANTIFIER =
            java.util.regex.Pattern.compile("([*+?]|\\{[0-9]+(,[0-9]*)?})\\??");

    /** Flags, '^', and what follows. */
    private static final java.util.regex.Pattern PARTS = java.util.regex.Pattern.compile(
            "((?:\\(\\?[a-zA-Z-]+\\))?)((?:\\^(?![*+?{]))?)(.*)", java.util.regex.Pattern.DOTALL);

    private static final java.util.regex.Pattern GROUP = java.util.regex.Pattern.compile(
            "\\((?:\\?(?:P?<\\w+>|[a-zA-Z-]*:))?(.*)\\)", java.util.regex.Pattern.DOTALL);

    private SearchExpressions() {}

    /** What cannot be taken apart. */
    static final class NotUnderstoodException extends Exception {
        private static final long serialVersionUID = 1;
    }

    /**
     * An expression that says where it begins or ends.
     *
     * @param flags as {@code (?i)}, empty for none
     * @param begins whether it has '^'
     * @param inner what is between '^' and '$'
     * @param ends whether it has '$'
     */
    private record Anchored(String flags, boolean begins, String inner, boolean ends) {
        static Anchored of(String expression) {
            Matcher parts = PARTS.matcher(expression);
            if (!parts.matches()) {
                throw new IllegalStateException("all texts match");
            }
            String rest = parts.group(3);
            boolean ends = rest.matches("(?s)(.*[^\\\\])?(\\\\\\\\)*\\$");
            return new Anchored(
                    parts.group(1),
                    !parts.group(2).isEmpty(),
                    ends ? rest.substring(0, rest.length() - 1) : rest,
                    ends);
        }

        /** Whether it has another '^' within, which nothing may come before. */
        boolean isAnchoredWithin() {
            return inner.matches("(?s)(.*[^\\\\\\[])?\\^.*");
        }

        /** Whether it takes all that begins with a path, and says so without signs of expressions. */
        boolean isPrefix() {
            return flags.isEmpty() && !ends && inner.matches("/[A-Za-z0-9/_-]*");
        }

        boolean isOpenAtStart() {
            return inner.matches("(?s)/?[(?:]*\\.[*+].*");
        }

        boolean isOpenAtEnd() {
            return inner.matches("(?s)(.*[^\\\\])?(\\.|\\[\\\\s\\\\S\\])[*+]\\??[)?*|$]*");
        }

        String withMoreBefore(String before) {
            return flags + before + inner + (ends || isOpenAtEnd() ? "" : ".*");
        }

        String withMoreBehind() {
            return flags + inner + ".*";
        }
    }

    /** Returns what to write for a location of nginx, in which an expression stands behind {@code ~} or {@code ~*}. */
    static String ofLocation(String location) {
        String flags = location.startsWith("~*") ? "(?i)" : "";
        Anchored anchored = Anchored.of(flags + location.replaceFirst("^(\\^~|~\\*?) *", ""));
        if (anchored.isPrefix()) {
            return MessageText.quote(anchored.inner());
        }
        boolean rooted = anchored.inner().matches("[(?:]*/.*");
        return "type: RegularExpression, value: "
                + MessageText.quote(anchored.withMoreBefore(rooted ? "" : anchored.begins() ? "/" : "/.*"));
    }

    /** Returns what to say of an expression for a path, null for one without such a mistake. */
    static @Nullable String problemOfPath(String expression) {
        return problem(expression, "path", true);
    }

    /** Returns what to say of an expression for a value, null for one without such a mistake. */
    static @Nullable String problemOfValue(String expression) {
        return problem(expression, "value", false);
    }

    private static @Nullable String problem(String expression, String what, boolean path) {
        if (expression.length() > MAX_LENGTH) {
            return null;
        }
        try {
            Anchored anchored = Anchored.of(expression);
            boolean single = alternatives(expression).size() == 1;
            String proposal = anchored.withMoreBefore(anchored.begins() ? "/" : "/.*");
            if (path
                    && !mayBeginWithSlash(expression)
                    && !Pattern.matches(expression, "*") // as of OPTIONS
                    && !Pattern.matches(expression, "")) {
                return "never matches: the expression is for the whole path, which begins with '/'"
                        + (single && proposal.length() <= MAX_PROPOSAL && !expression.startsWith("~")
                                ? ": write " + MessageText.quote(proposal)
                                : ": write each part with '/' or '/.*' before it");
            }
            if (!single || anchored.begins() == anchored.ends() || anchored.isAnchoredWithin()) {
                return null;
            }
            String noEffect = " has no effect, as the expression is for the whole " + what + ": remove it, or write ";
            if (anchored.begins() && !anchored.isOpenAtEnd()) {
                boolean prefix = path && anchored.isPrefix();
                return "'^'" + noEffect + MessageText.quote(anchored.withMoreBehind())
                        + (prefix ? " or type: PathPrefix" : "") + " if more may follow";
            }
            return anchored.ends() && !anchored.isOpenAtStart()
                    ? "'$'" + noEffect + MessageText.quote(anchored.withMoreBefore(".*")) + " if more may come before"
                    : null;
        } catch (NotUnderstoodException e) {
            return null;
        }
    }

    private static boolean mayBeginWithSlash(String expression) throws NotUnderstoodException {
        for (List<Element> alternative : alternatives(expression)) {
            boolean open = true; // whether all elements so far may be empty
            for (Element element : alternative) {
                if (open && element.mayBeginWithSlash()) {
                    return true;
                }
                open &= element.mayBeEmpty();
            }
            if (open) {
                return true; // or is empty, which is not told apart
            }
        }
        return false;
    }

    /**
     * A part that matches by itself.
     *
     * @param text a character, a class or a group
     * @param quantifier how often, empty for once
     */
    record Element(String text, String quantifier) {
        boolean mayBeEmpty() {
            return text.equals("^") || Pattern.matches(text + quantifier, "");
        }

        /** Whether a character or a class may be an ASCII character, if need be in another case. */
        boolean mayBeAscii() {
            Pattern pattern = Pattern.compile(text, Pattern.CASE_INSENSITIVE);
            return IntStream.rangeClosed(0, 0x7f).anyMatch(each -> pattern.matches(Character.toString(each)));
        }

        boolean mayBeginWithSlash() throws NotUnderstoodException {
            Matcher group = GROUP.matcher(text);
            return group.matches() ? SearchExpressions.mayBeginWithSlash(group.group(1)) : Pattern.matches(text, "/");
        }

        /** Returns the character that it stands for, null if it may be another one, none or several. */
        @Nullable
        String literal() {
            boolean one = quantifier.isEmpty() && text.codePointCount(0, text.length()) == 1 && ".^$".indexOf(text) < 0;
            return one ? text : quantifier.isEmpty() && text.matches("\\\\\\p{Punct}") ? text.substring(1) : null;
        }

        /** Returns the alternatives of a group without a quantifier. Empty if this element is no such group. */
        List<List<Element>> alternatives() throws NotUnderstoodException {
            Matcher group = GROUP.matcher(text);
            return quantifier.isEmpty() && group.matches() ? SearchExpressions.alternatives(group.group(1)) : List.of();
        }

        boolean isFlags() {
            return text.matches("\\(\\?[a-zA-Z-]+\\)");
        }
    }

    /** Takes an expression apart that is right. */
    static List<List<Element>> alternatives(String expression) throws NotUnderstoodException {
        List<List<Element>> alternatives = new ArrayList<>();
        List<Element> current = new ArrayList<>();
        alternatives.add(current);
        Matcher quantifier = QUANTIFIER.matcher(expression);
        int at = 0;
        while (at < expression.length()) {
            int end = end(expression, at);
            String text = expression.substring(at, end);
            if (text.equals("|")) {
                current = new ArrayList<>();
                alternatives.add(current);
                at = end;
                continue;
            }
            boolean repeated = quantifier.region(end, expression.length()).lookingAt();
            Element element = new Element(text, repeated ? quantifier.group() : "");
            if (!element.isFlags()) {
                current.add(element);
            }
            at = repeated ? quantifier.end() : end;
        }
        return alternatives;
    }

    private static int end(String expression, int at) throws NotUnderstoodException {
        char first = expression.charAt(at);
        if (first == '\\') { // of letters and digits, only classes of one letter are read
            boolean readable = at + 1 < expression.length()
                    && ("dDsSwW".indexOf(expression.charAt(at + 1)) >= 0
                            || expression.substring(at + 1, at + 2).matches("\\p{Punct}"));
            if (!readable) {
                throw new NotUnderstoodException();
            }
            return at + 2;
        }
        if (first != '(' && first != '[') {
            return at + Character.charCount(expression.codePointAt(at));
        }
        for (int end = at + 2; end <= expression.length(); end++) { // the shortest text that is right by itself
            if (isRight(expression.substring(at, end))) {
                return end;
            }
        }
        throw new NotUnderstoodException();
    }

    private static boolean isRight(String expression) {
        try {
            Pattern.compile(expression);
            return true;
        } catch (PatternSyntaxException e) {
            return false; // not yet
        }
    }
}
