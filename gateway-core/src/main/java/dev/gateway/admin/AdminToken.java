package dev.gateway.admin;

import dev.gateway.files.InputFile;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The token of an admin listener. Programs send it as a bearer token. Browsers ask for a name and a password and send
 * those, so the token may be the password of any user. Reads the file each time, so that another token counts at once.
 */
final class AdminToken {
    /** Names who asks; a web page of another site cannot send it. */
    static final FieldName REQUESTED_BY = FieldName.of("X-Requested-By");

    private static final Logger log = LoggerFactory.getLogger(AdminToken.class);
    private static final AsciiString WWW_AUTHENTICATE = new AsciiString("WWW-Authenticate");
    private static final AsciiString CHALLENGES =
            new AsciiString("Bearer realm=\"gateway admin\", Basic realm=\"gateway admin\"");
    private static final int SHORTEST = 16; // as a configuration must have it when it is read
    private static final String BEARER = "Bearer ";
    private static final String BASIC = "Basic ";

    private AdminToken() {}

    /**
     * Returns why a request is refused, or null if it shows the token. Not for event loops.
     *
     * @param acts whether it wants something done; a browser sends a password also for other sites' pages
     */
    static @Nullable AdminResponse refusal(Path file, RequestHead head, boolean acts) {
        byte[] token;
        try {
            token = InputFile.text(file, StandardCharsets.US_ASCII).strip().getBytes(StandardCharsets.US_ASCII);
        } catch (IOException e) {
            log.warn("Cannot read the token of the admin listener: {}", e.getMessage());
            return AdminResponse.text(503, "the gateway cannot read its token file; its log says why");
        }
        if (token.length < SHORTEST) {
            log.warn("The admin listener refuses its token: {} has fewer than {} characters", file, SHORTEST);
            return AdminResponse.text(503, "the token in the token file is too short; the gateway's log says more");
        }
        AsciiString sent = head.fields().first(FieldName.AUTHORIZATION);
        String text = sent == null ? "" : sent.toString();
        boolean password = text.regionMatches(true, 0, BASIC, 0, BASIC.length());
        byte[] claimed = password ? password(text) : bearer(text);
        if (claimed == null || !MessageDigest.isEqual(token, claimed)) {
            return new AdminResponse(
                    401,
                    AdminResponse.TEXT,
                    "this needs the token of admin.tokenFile: Authorization: Bearer TOKEN\n",
                    Map.of(WWW_AUTHENTICATE, CHALLENGES));
        }
        if (acts && password && head.fields().first(REQUESTED_BY) == null) {
            return AdminResponse.text(
                    403, "add the header X-Requested-By with your name, which shows that no web page sends this");
        }
        return null;
    }

    private static byte @Nullable [] bearer(String text) {
        return text.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? text.substring(BEARER.length()).strip().getBytes(StandardCharsets.US_ASCII)
                : null;
    }

    private static byte @Nullable [] password(String text) {
        try {
            String pair = new String(
                    Base64.getDecoder().decode(text.substring(BASIC.length()).strip()), StandardCharsets.ISO_8859_1);
            int colon = pair.indexOf(':');
            return colon < 0 ? null : pair.substring(colon + 1).getBytes(StandardCharsets.ISO_8859_1);
        } catch (IllegalArgumentException e) {
            return null; // not base64
        }
    }
}
