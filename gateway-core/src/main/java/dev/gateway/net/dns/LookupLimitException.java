package dev.gateway.net.dns;

import java.net.UnknownHostException;

/** DNS is not asked for a name that a client has chosen, because too many such lookups are running. */
public final class LookupLimitException extends UnknownHostException {
    private static final long serialVersionUID = 1;

    LookupLimitException(String message) {
        super(message);
    }

    /** Has no stack trace, since clients decide how often there is one. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
