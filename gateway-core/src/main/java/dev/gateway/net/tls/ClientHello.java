package dev.gateway.net.tls;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * ClientHello parser: reads what a TLS client says first (RFC 8446, section 4.1.2), as far as it is needed to relay the
 * connection, or to choose a certificate for it. Called with all bytes so far on the event loop of their connection;
 * keeps nothing.
 */
public final class ClientHello {
    /**
     * How many bytes a hello may have, the headers of its records included. BoringSSL takes slightly more. Real ones
     * have 200 to 2000.
     */
    public static final int MAX_BYTES = 16 * 1024;

    private static final int FIRST_TYPE = 20; // of records
    private static final int HANDSHAKE_RECORD = 22;
    private static final int LAST_TYPE = 24;
    private static final int RECORD_HEADER = 5;
    private static final int MAX_RECORD = 1 << 14;
    private static final int CLIENT_HELLO = 1;
    private static final int MESSAGE_HEADER = 4;
    private static final int VERSION_AND_RANDOM = 2 + 32;
    private static final int SERVER_NAME = 0;
    private static final int SUPPORTED_GROUPS = 10;
    private static final int SIGNATURE_ALGORITHMS = 13;
    private static final int ALPN = 16;
    private static final int SUPPORTED_VERSIONS = 43;
    private static final int HOST_NAME = 0;
    private static final int MAX_NAME = 255;

    /** What reading has come to. */
    public sealed interface Reading permits Hello, Incomplete, Refused {}

    /**
     * The hello is there. With Encrypted Client Hello the name is that of the outer one, which is what decides where a
     * connection goes.
     *
     * @param serverName the host that the client requests (SNI; RFC 6066, section 3), in lower case without a dot at
     *     its end;
     *     null if it names none
     * @param protocols that are offered (ALPN; RFC 7301, section 3.1), in the client's order; empty if none are
     */
    public record Hello(@Nullable String serverName, List<String> protocols) implements Reading {
        public Hello {
            protocols = List.copyOf(protocols);
        }
    }

    /** There must be more bytes before anything can be said. */
    public record Incomplete() implements Reading {}

    /**
     * These are not the first bytes of a TLS connection, or not of one that anybody should accept.
     *
     * @param reason for people
     * @param alert that answers it (RFC 8446, section 6), 0 if it is not TLS at all
     */
    public record Refused(String reason, int alert) implements Reading {}

    /** The alert for a name that is not valid, or that no certificate has. */
    static final int UNRECOGNIZED_NAME = 112;

    /** The alert for a client that speaks another version. */
    static final int PROTOCOL_VERSION = 70;

    private static final int UNEXPECTED_MESSAGE = 10;
    private static final int RECORD_OVERFLOW = 22;
    private static final int ILLEGAL_PARAMETER = 47;
    private static final int DECODE_ERROR = 50;

    private static final Reading INCOMPLETE = new Incomplete();
    private static final Reading OTHER_PROTOCOL = new Refused("not TLS", 0);
    private static final Reading NO_HELLO = new Refused("a TLS record that is no ClientHello", UNEXPECTED_MESSAGE);
    private static final Reading OTHER_VERSION = new Refused("a hello of another version than TLS", PROTOCOL_VERSION);
    private static final Reading EMPTY_RECORD = new Refused("a TLS record without content", UNEXPECTED_MESSAGE);
    private static final Reading LONG_RECORD = new Refused("a TLS record that is too long", RECORD_OVERFLOW);
    private static final Reading TOO_LONG = new Refused("a ClientHello that is too long", ILLEGAL_PARAMETER);
    private static final Reading MALFORMED = new Refused("a malformed ClientHello", DECODE_ERROR);
    private static final Reading REPEATED = new Refused("a ClientHello with an extension twice", ILLEGAL_PARAMETER);

    /** The name that the client asks for is not one. As if it had named none, it would get past rules for names. */
    private static final Reading BAD_NAME =
            new Refused("a ClientHello for a server name that is not valid", UNRECOGNIZED_NAME);

    private ClientHello() {}

    /**
     * Reads the hello that a connection begins with, however it is split into segments and records. Neither the buffer
     * nor its indices are changed. A hello that is not complete costs a look at the headers of its records, so asking
     * again for each segment is cheap.
     */
    public static Reading read(ByteBuf bytes) {
        int start = bytes.readerIndex();
        int end = bytes.writerIndex();
        int at = start;
        int length = -1; // of the message with its header, once that is there
        int collected = 0;
        byte[] header = new byte[MESSAGE_HEADER];
        if (end > start && bytes.getByte(start) < 0) {
            return ofSsl2(bytes, start, end);
        }
        while (length < 0 || collected < length) {
            Reading problem = recordProblem(bytes, at, end, at == start);
            if (problem != null) {
                return problem;
            }
            int size = bytes.getUnsignedShort(at + 3);
            at += RECORD_HEADER;
            for (int i = 0; length < 0 && i < size && at + i < end; i++) {
                header[collected + i] = bytes.getByte(at + i);
                if (header[0] != CLIENT_HELLO) {
                    return NO_HELLO;
                }
                if (collected + i == MESSAGE_HEADER - 1) {
                    length = length(header);
                }
            }
            int needed = Math.min(size, length < 0 ? MESSAGE_HEADER - collected : length - collected);
            if (length > MAX_BYTES || at + needed - start > MAX_BYTES) {
                return TOO_LONG;
            }
            if (at + needed > end) {
                return INCOMPLETE;
            }
            collected += needed;
            at += size;
        }
        return new Parser(message(bytes, length)).parse();
    }

    /**
     * Reads which certificates the client can verify, of a hello that {@link #read} has found in order. An extension that
     * is malformed counts as empty: the provider of TLS refuses it.
     */
    static KeyOffer keyOffer(ByteBuf bytes) {
        return new Parser(message(bytes, length(message(bytes, MESSAGE_HEADER)))).keyOffer();
    }

    /** Returns the length of a message with its header. */
    private static int length(byte[] header) {
        return MESSAGE_HEADER + ((header[1] & 0xff) << 16 | (header[2] & 0xff) << 8 | (header[3] & 0xff));
    }

    /** Reads what begins like a record of SSL 2.0 (RFC 6101, appendix E): two bytes of length, then the message. */
    private static Reading ofSsl2(ByteBuf bytes, int start, int end) {
        if (end < start + 3) {
            return INCOMPLETE;
        }
        return bytes.getByte(start + 2) == CLIENT_HELLO ? OTHER_VERSION : OTHER_PROTOCOL;
    }

    /** Returns what is to be said unless a whole header of a record of the right kind is there. */
    private static @Nullable Reading recordProblem(ByteBuf bytes, int at, int end, boolean first) {
        if (end > at && bytes.getByte(at) != HANDSHAKE_RECORD) {
            return first ? ofOtherType(bytes, at, end) : NO_HELLO;
        }
        if (end > at + 1 && bytes.getByte(at + 1) != 3) {
            return OTHER_VERSION;
        }
        if (end < at + RECORD_HEADER) {
            return INCOMPLETE;
        }
        int size = bytes.getUnsignedShort(at + 3);
        if (size > MAX_RECORD) {
            return LONG_RECORD;
        }
        return size == 0 ? EMPTY_RECORD : null;
    }

    /**
     * Reads what begins otherwise than a handshake. BoringSSL would ignore an alert that only warns, and take a hello
     * behind it that nobody has read.
     */
    private static Reading ofOtherType(ByteBuf bytes, int at, int end) {
        int type = bytes.getByte(at);
        if (type < FIRST_TYPE || type > LAST_TYPE) {
            return OTHER_PROTOCOL;
        }
        if (end < at + 2) {
            return INCOMPLETE;
        }
        return bytes.getByte(at + 1) == 3 ? NO_HELLO : OTHER_PROTOCOL;
    }

    /** Puts the message together that is known to be there. */
    private static byte[] message(ByteBuf bytes, int length) {
        byte[] message = new byte[length];
        int at = bytes.readerIndex();
        int done = 0;
        while (done < length) {
            int size = bytes.getUnsignedShort(at + 3);
            int here = Math.min(size, length - done);
            bytes.getBytes(at + RECORD_HEADER, message, done, here);
            done += here;
            at += RECORD_HEADER + size;
        }
        return message;
    }

    /** Walks over a whole message. Each step says whether it stayed inside. */
    private static final class Parser {
        private final byte[] message;
        private int at = MESSAGE_HEADER + VERSION_AND_RANDOM;

        Parser(byte[] message) {
            this.message = message;
        }

        Reading parse() {
            if (!skip(1) || !skip(2) || !skip(1)) { // session id, cipher suites, compression methods
                return MALFORMED;
            }
            if (at == message.length) {
                return new Hello(null, List.of()); // no extensions
            }
            int end = end(2, message.length);
            if (end != message.length) {
                return MALFORMED;
            }
            Set<Integer> types = new HashSet<>();
            String name = null;
            List<String> protocols = List.of();
            while (at < end) {
                int type = number(2, end);
                int extensionEnd = end(2, end);
                if (type < 0 || extensionEnd < 0) {
                    return MALFORMED;
                }
                if (!types.add(type)) {
                    return REPEATED;
                }
                if (type == SERVER_NAME) {
                    name = serverName(extensionEnd);
                    if (name == null) {
                        return MALFORMED;
                    }
                    if (name.isEmpty()) {
                        return BAD_NAME;
                    }
                } else if (type == ALPN) {
                    List<String> found = protocols(extensionEnd);
                    if (found == null) {
                        return MALFORMED;
                    }
                    protocols = found;
                }
                at = extensionEnd;
            }
            return new Hello(name, protocols);
        }

        KeyOffer keyOffer() {
            skip(1); // session id
            Set<Integer> suites = codes(2, message.length);
            skip(1); // compression methods
            Set<Integer> signatures = Set.of();
            Set<Integer> groups = Set.of();
            Set<Integer> versions = Set.of();
            int end = at == message.length ? at : end(2, message.length);
            while (at < end) {
                int type = number(2, end);
                int extensionEnd = end(2, end);
                switch (type) {
                    case SIGNATURE_ALGORITHMS -> signatures = codes(2, extensionEnd);
                    case SUPPORTED_GROUPS -> groups = codes(2, extensionEnd);
                    case SUPPORTED_VERSIONS -> versions = codes(1, extensionEnd);
                    default -> {}
                }
                at = extensionEnd;
            }
            return new KeyOffer(suites, signatures, groups, versions);
        }

        /** Reads a list of numbers of two bytes, behind its length in bytes; empty if it is not inside. */
        private Set<Integer> codes(int lengthBytes, int limit) {
            int end = end(lengthBytes, limit);
            Set<Integer> codes = new HashSet<>();
            while (end - at >= 2) {
                codes.add(number(2, end));
            }
            at = end < 0 ? at : end;
            return codes;
        }

        /** Reads a number of so many bytes, -1 if they are not there. */
        private int number(int bytes, int limit) {
            if (limit - at < bytes) {
                return -1;
            }
            int number = 0;
            for (int i = 0; i < bytes; i++) {
                number = number << 8 | (message[at++] & 0xff);
            }
            return number;
        }

        /** Reads the length of what follows and returns where that ends, -1 if it is not inside. */
        private int end(int lengthBytes, int limit) {
            int length = number(lengthBytes, limit);
            return length < 0 || length > limit - at ? -1 : at + length;
        }

        private boolean skip(int lengthBytes) {
            int end = end(lengthBytes, message.length);
            if (end < 0) {
                return false;
            }
            at = end;
            return true;
        }

        /** Reads a list of protocols, at least one. */
        private @Nullable List<String> protocols(int limit) {
            if (end(2, limit) != limit || at == limit) {
                return null;
            }
            List<String> found = new ArrayList<>();
            while (at < limit) {
                int end = end(1, limit);
                if (end <= at) {
                    return null; // beyond the list, or empty
                }
                found.add(new String(message, at, end - at, StandardCharsets.ISO_8859_1));
                at = end;
            }
            return found;
        }

        /**
         * Reads a list that holds one name and nothing else; TLS has never had another kind. Returns null for a malformed
         * list, and an empty text for a name that is not a host name.
         */
        private @Nullable String serverName(int limit) {
            if (end(2, limit) != limit || at == limit) {
                return null;
            }
            if (number(1, limit) != HOST_NAME) {
                return "";
            }
            return end(2, limit) == limit ? hostName(limit) : null;
        }

        private String hostName(int limit) {
            int length = limit - at;
            if (length > 1 && message[limit - 1] == '.') {
                length--;
            }
            if (length > MAX_NAME) {
                return "";
            }
            byte[] name = new byte[length];
            byte last = '.';
            for (int i = 0; i < length; i++) {
                byte b = message[at + i];
                if (b >= 'A' && b <= 'Z') {
                    b = (byte) (b + 32);
                } else if (b <= ' ' || b == 0x7f || (b == '.' && last == '.')) {
                    return ""; // not printable ASCII, or an empty label
                }
                name[i] = b;
                last = b;
            }
            // An empty name, or two dots at the end, of which one was taken off.
            return last == '.' ? "" : new String(name, StandardCharsets.US_ASCII);
        }
    }
}
