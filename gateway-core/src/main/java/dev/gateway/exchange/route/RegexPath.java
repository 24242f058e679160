package dev.gateway.exchange.route;

import com.google.re2j.Pattern;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * A path matched by a regular expression, in linear time (RE2). Most requests fail at the literal bytes the expression
 * begins with, before a matcher is made.
 */
final class RegexPath {
    private static final String META = "\\.[](){}*+?|^$";

    private final Pattern pattern;
    private final byte[] literal;
    final Candidate candidate;

    /** Compiles an expression; {@code com.google.re2j.PatternSyntaxException} if it is invalid. */
    RegexPath(String expression, Candidate candidate) {
        this.pattern = Pattern.compile(expression);
        this.literal = literalPrefix(expression).getBytes(StandardCharsets.UTF_8);
        this.candidate = candidate;
    }

    /** Returns text every match begins with, maybe empty. */
    static String literalPrefix(String expression) {
        if (expression.indexOf('|') >= 0) {
            return ""; // it might begin otherwise
        }
        int start = expression.startsWith("^") ? 1 : 0;
        int end = start;
        while (end < expression.length() && META.indexOf(expression.charAt(end)) < 0) {
            end++;
        }
        boolean repeated = end < expression.length() && "*?{".indexOf(expression.charAt(end)) >= 0;
        return expression.substring(start, repeated ? Math.max(start, end - 1) : end);
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
