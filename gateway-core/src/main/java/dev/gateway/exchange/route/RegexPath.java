package dev.gateway.exchange.route;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * A path matched by a regular expression, in linear time (RE2). Most requests fail at the literal bytes the expression
 * begins with, before a matcher is made.
 */
final class RegexPath {
    private static final String META = "\\.[](){}*+?|^$";
    private static final int MAX_ANALYZED = 1000; // the time is the square of the length

    private final Pattern pattern;
    private final byte[] literal;
    final Candidate candidate;

    /** Compiles an expression; {@code com.google.re2j.PatternSyntaxException} if it is invalid. */
    RegexPath(String expression, Candidate candidate) {
        this.pattern = Pattern.compile(expression);
        this.literal = literalPrefix(expression).getBytes(StandardCharsets.UTF_8);
        this.candidate = candidate;
    }

    /** Returns text every match of a valid expression begins with, maybe empty. */
    static String literalPrefix(String expression) {
        if (mayHaveAlternatives(expression)) {
            return ""; // it might begin otherwise
        }
        int start = expression.startsWith("^") ? 1 : 0;
        int end = start;
        // Bytes of paths are compared as characters, so others than those of ASCII are not compared in UTF-8.
        while (end < expression.length() && META.indexOf(expression.charAt(end)) < 0 && expression.charAt(end) < 0x80) {
            end++;
        }
        boolean repeated = end < expression.length() && "*?{".indexOf(expression.charAt(end)) >= 0;
        return expression.substring(start, repeated ? Math.max(start, end - 1) : end);
    }

    /**
     * Whether a valid expression may consist of alternatives. What stands before such a {@code |} is an expression by itself;
     * before one in a group, in a class or behind a backslash, it is not.
     */
    private static boolean mayHaveAlternatives(String expression) {
        int bar = expression.indexOf('|');
        if (expression.length() > MAX_ANALYZED) {
            return bar >= 0;
        }
        while (bar >= 0 && !isValid(expression.substring(0, bar))) {
            bar = expression.indexOf('|', bar + 1);
        }
        return bar >= 0;
    }

    private static boolean isValid(String expression) {
        try {
            Pattern.compile(expression);
            return true;
        } catch (PatternSyntaxException e) {
            return false;
        }
    }

    /** Whether the whole path, which is {@code length} bytes of {@code path}, matches. */
    boolean matches(AsciiString path, int length) {
        if (length < literal.length) {
            return false;
        }
        byte[] bytes = path.array();
        int offset = path.arrayOffset();
        for (int i = 0; i < literal.length; i++) {
            if (bytes[offset + i] != literal[i]) {
                return false;
            }
        }
        return pattern.matcher(path.subSequence(0, length, false)).matches();
    }
}
