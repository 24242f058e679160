package dev.gateway.message;

import io.netty.util.AsciiString;

/**
 * Adds this gateway to {@code Via} (RFC 9110, section 7.6.3), in requests and responses: with it loops are noticed, and
 * a peer learns which versions were spoken on the way. Immutable, shared by all event loops.
 */
public final class Via {
    private final AsciiString http10;
    private final AsciiString http11;
    private final AsciiString http2;
    private final AsciiString pseudonym;

    /** Makes it for a gateway of that name, a token. */
    public Via(String pseudonym) {
        this.pseudonym = new AsciiString(pseudonym);
        this.http10 = new AsciiString("1.0 " + pseudonym);
        this.http11 = new AsciiString("1.1 " + pseudonym);
        this.http2 = new AsciiString("2.0 " + pseudonym);
    }

    /**
     * Adds a line.
     *
     * @param receivedVersion {@code 1.0}, {@code 1.1} or {@code 2.0}: what the message was received in
     */
    public void add(Fields fields, AsciiString receivedVersion) {
        AsciiString value =
                receivedVersion.byteAt(0) == '2' ? http2 : receivedVersion.byteAt(2) == '0' ? http10 : http11;
        fields.add(FieldName.VIA, value);
    }

    /** Returns how often a message has passed a gateway of this name: more than a few times is a loop. */
    public int passes(Fields fields) {
        int passes = 0;
        for (int i = fields.find(FieldName.VIA, 0); i >= 0; i = fields.find(FieldName.VIA, i + 1)) {
            AsciiString value = fields.value(i);
            for (int at = value.indexOf(pseudonym, 0); at >= 0; at = value.indexOf(pseudonym, at + 1)) {
                int end = at + pseudonym.length();
                boolean word = at > 0
                        && value.byteAt(at - 1) == ' '
                        && (end == value.length() || !Ascii.isToken(value.byteAt(end)));
                passes += word ? 1 : 0;
            }
        }
        return passes;
    }
}
