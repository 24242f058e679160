package dev.gateway.admin;

import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who may have something done through the admin listener: whoever knows the token, or without one, whoever is on this
 * machine and is no web page that a browser on it has open. Any thread but event loops may ask: it reads the token's file
 * each time, so that another token counts at once.
 *
 * @param tokenFile holds the bearer token, null if there is none
 * @param loopback whether only this machine can reach the listener
 */
public record AdminAccess(@Nullable Path tokenFile, boolean loopback) {
    static final FieldName REQUESTED_BY = FieldName.of("X-Requested-By");
    private static final Logger log = LoggerFactory.getLogger(AdminAccess.class);
    private static final AsciiString WWW_AUTHENTICATE = new AsciiString("WWW-Authenticate");
    private static final AsciiString BEARER_REALM = new AsciiString("Bearer realm=\"gateway admin\"");
    private static final String BEARER = "Bearer ";
    private static final AsciiString LOCALHOST = new AsciiString("localhost");

    /** Nobody may, as long as nothing else is said. */
    static final AdminAccess NONE = new AdminAccess(null, false);

    /** Returns why a request is refused, or null if it is not. */
    @Nullable
    Content refusal(RequestHead head) {
        if (tokenFile != null) {
            return withToken(head, tokenFile);
        }
        if (!loopback) {
            return refused("this needs admin.tokenFile, because other machines can reach the admin listener");
        }
        // A page of another site that a browser has open here can send a plain POST. It cannot add such a field without
        // asking first, which is not answered; nor has it, when its own name leads here, a host name of this machine.
        AsciiString asker = head.fields().first(REQUESTED_BY);
        if (asker == null || asker.isEmpty()) {
            return refused("add the header X-Requested-By with your name, which shows that no web page sends this");
        }
        if (!isLocalName(head.authority())) {
            return refused("ask for localhost or 127.0.0.1, not for " + head.authority());
        }
        return null;
    }

    /**
     * Returns why a request is not told what goes on in detail, or null. A web page whose own name leads to this machine
     * could read what a browser here is shown.
     */
    @Nullable
    Content refusalToShow(RequestHead head) {
        return loopback && !isLocalName(head.authority())
                ? refused("ask for localhost or 127.0.0.1, not for " + head.authority())
                : null;
    }

    private static @Nullable Content withToken(RequestHead head, Path file) {
        byte[] token;
        try {
            token = Files.readString(file, StandardCharsets.US_ASCII).strip().getBytes(StandardCharsets.US_ASCII);
        } catch (IOException e) {
            log.warn("The token of the admin listener cannot be read: {}", e.toString());
            return Content.text(503, "the token cannot be read; the log tells why");
        }
        AsciiString sent = head.fields().first(FieldName.AUTHORIZATION);
        if (sent != null && sent.toString().regionMatches(true, 0, BEARER, 0, BEARER.length())) {
            byte[] claimed = sent.toString().substring(BEARER.length()).strip().getBytes(StandardCharsets.US_ASCII);
            if (token.length > 0 && MessageDigest.isEqual(token, claimed)) {
                return null;
            }
        }
        return new Content(
                401,
                Content.TEXT,
                "this needs the token of admin.tokenFile: Authorization: Bearer TOKEN\n",
                Map.of(WWW_AUTHENTICATE, BEARER_REALM));
    }

    private static Content refused(String why) {
        return Content.text(403, why);
    }

    private static boolean isLocalName(AsciiString authority) {
        Authority parsed = Authority.parse(authority);
        if (parsed == null) {
            return false;
        }
        byte[] address =
                NetUtil.createByteArrayFromIpAddressString(parsed.host().toString());
        try {
            return address == null
                    ? parsed.host().contentEqualsIgnoreCase(LOCALHOST)
                    : InetAddress.getByAddress(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // the length is that of an address
        }
    }
}
