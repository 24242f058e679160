package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** A request method (RFC 9110, section 9), case-sensitive. Registered methods are shared instances. Immutable. */
public final class Method {
    public static final Method GET = new Method("GET", true, true);
    public static final Method HEAD = new Method("HEAD", true, true);
    public static final Method POST = new Method("POST", false, false);
    public static final Method PUT = new Method("PUT", false, true);
    public static final Method DELETE = new Method("DELETE", false, true);
    public static final Method OPTIONS = new Method("OPTIONS", true, true);
    public static final Method TRACE = new Method("TRACE", true, true);
    public static final Method PATCH = new Method("PATCH", false, false);
    public static final Method CONNECT = new Method("CONNECT", false, false);
    private static final Method[] REGISTERED = {GET, POST, HEAD, PUT, DELETE, OPTIONS, PATCH, CONNECT, TRACE};

    private final AsciiString name;
    private final boolean safe;
    private final boolean idempotent;

    private Method(String name, boolean safe, boolean idempotent) {
        this(new AsciiString(name), safe, idempotent);
    }

    private Method(AsciiString name, boolean safe, boolean idempotent) {
        this.name = name;
        this.safe = safe;
        this.idempotent = idempotent;
    }

    /** Returns the method of these bytes, which the caller has checked to be a token. */
    public static Method of(byte[] bytes, int start, int length) {
        for (Method method : REGISTERED) {
            if (method.name.length() == length && method.isAt(bytes, start)) {
                return method;
            }
        }
        return new Method(new AsciiString(bytes, start, length, true), false, false);
    }

    /** Returns the method of that name; for configuration time and tests. */
    public static Method of(CharSequence name) {
        AsciiString ascii = AsciiString.of(name);
        return of(ascii.array(), ascii.arrayOffset(), ascii.length());
    }

    private boolean isAt(byte[] bytes, int start) {
        byte[] own = name.array();
        for (int i = 0; i < own.length; i++) {
            if (own[i] != bytes[start + i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the name. */
    public AsciiString name() {
        return name;
    }

    /** Whether it is known to be read-only (RFC 9110, section 9.2.1). */
    public boolean isSafe() {
        return safe;
    }

    /** Whether it is known that sending it twice does what sending it once does (RFC 9110, section 9.2.2). */
    public boolean isIdempotent() {
        return idempotent;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof Method method && name.equals(method.name));
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name.toString();
    }
}
