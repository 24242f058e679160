package dev.gateway.admin;

import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;

/** A request to the admin listener, as a page gets it. Any thread may look at it until the answer is given. */
public final class AdminRequest {
    private static final int MAX_ASKER = 64;

    private final RequestHead head;
    private final AdminAccess access;
    private final String rest;
    private final Query query;

    /**
     * Makes it.
     *
     * @param access the rules of the listener it came by, at this moment
     * @param rest of the path, behind the page's own; empty for most
     */
    AdminRequest(RequestHead head, AdminAccess access, String rest) {
        this.head = head;
        this.access = access;
        this.rest = rest;
        String path = head.path().toString();
        this.query = new Query(path.substring(Math.min(path.length(), head.queryStart() + 1)));
    }

    RequestHead head() {
        return head;
    }

    AdminAccess access() {
        return access;
    }

    /** Returns what the path has behind that of the page. */
    public String rest() {
        return rest;
    }

    /** Returns the parameters. */
    public Query query() {
        return query;
    }

    /** Whether a program asks, by {@code format=json} or its {@code Accept}; else a person may read the answer. */
    public boolean wantsJson() {
        String format = query.first("format");
        if (format != null) {
            return format.equals("json");
        }
        return accept().contains("application/json");
    }

    /** Returns what the asker says that it reads, empty if it says nothing. */
    String accept() {
        AsciiString accept = head.fields().first(FieldName.ACCEPT);
        return accept == null ? "" : accept.toString();
    }

    /** Returns the host by which the listener was reached, without a port; empty if the client named none. */
    public String host() {
        AsciiString authority = head.authority();
        String host = authority.subSequence(0, Authority.hostLength(authority)).toString();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    /** Returns what the asker says of itself, as far as it is fit for a log. */
    public String asker() {
        AsciiString name = head.fields().first(AdminToken.REQUESTED_BY);
        if (name == null) {
            return access.tokenFile() != null ? "the holder of the token" : "a user of the socket file";
        }
        String text = name.toString().replaceAll("[^ -~]", "?");
        return text.substring(0, Math.min(text.length(), MAX_ASKER));
    }
}
