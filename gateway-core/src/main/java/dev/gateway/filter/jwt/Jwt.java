package dev.gateway.filter.jwt;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.Challenges;
import dev.gateway.filter.auth.Digest;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.filter.jwt.JwtResult.Invalid;
import dev.gateway.filter.jwt.JwtResult.Valid;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Authentication by signed tokens (JSON Web Tokens, RFC 7519): lets only those use a route who show one of a known issuer. A
 * token is verified on another thread when it is shown for the first time. Unless it is forwarded, it is taken out of the head
 * at once, right or wrong. Shared by all event loops.
 */
public final class Jwt implements Filter {
    private static final AsciiString BEARER = new AsciiString("bearer ");

    private final JwtTokens tokens;
    private final Settings settings;
    private final LongSupplier clock;
    private final FieldName[] headers;
    private final boolean isHeader;
    private final boolean needsScheme;
    private final Challenges asked;
    private final Challenges refused;
    private final Challenges forbidden;

    /**
     * How the filter deals with requests.
     *
     * @param forward whether the upstream gets the token
     * @param maxBytes of a token
     * @param leewaySeconds how much clocks may differ
     * @param headers that the upstream gets, in the order of the claims in the rules
     * @param realm name that the client shows to its user
     */
    public record Settings(
            KeyPlace place, boolean forward, long maxBytes, long leewaySeconds, List<FieldName> headers, String realm) {
        public Settings {
            headers = List.copyOf(headers);
        }
    }

    /**
     * Makes the filter.
     *
     * @param clock the time of day in seconds since 1970, as the issuers know it
     */
    public Jwt(Settings settings, JwtTokens tokens, LongSupplier clock) {
        this.tokens = tokens;
        this.settings = settings;
        this.clock = clock;
        this.headers = settings.headers.toArray(FieldName[]::new);
        this.isHeader = settings.place instanceof KeyPlace.Header;
        this.needsScheme = settings.place instanceof KeyPlace.Header header
                && header.name().equals(FieldName.AUTHORIZATION);
        this.asked = Challenges.bearer(settings.realm);
        this.refused = Challenges.bearer(settings.realm, "invalid_token");
        this.forbidden = Challenges.bearer(settings.realm, "insufficient_scope");
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        AsciiString shown = settings.place.find(head, !settings.forward);
        removeHeaders(head.fields()); // only this filter says what they say
        AsciiString token = shown == null || !isHeader ? shown : withoutScheme(shown);
        if (token == null || token.isEmpty()) {
            return asked.refuse("no token, or more than one");
        } else if (token.length() > settings.maxBytes) {
            return refused.refuse("a token of more than " + settings.maxBytes + " bytes");
        } else if (!isSigned(token)) {
            return refused.refuse("the token is malformed");
        }
        byte[] bytes = token.toByteArray();
        JwtTokens.Keys keys = tokens.keys();
        Digest digest = tokens.digest(bytes);
        JwtResult known = tokens.find(digest, keys);
        return known != null
                ? answer(known, head, context)
                : new JwtCheck(tokens, bytes, digest, keys, result -> answer(result, head, context), context).begin();
    }

    private void removeHeaders(Fields fields) {
        for (FieldName name : headers) {
            OddNames.removeAlike(fields, name);
        }
    }

    /** Returns what follows the word Bearer; all of it if that may be missing. */
    private @Nullable AsciiString withoutScheme(AsciiString value) {
        int length = BEARER.length();
        if (value.length() >= length && Ascii.equalsLower(value.array(), value.arrayOffset(), length, BEARER)) {
            return Ascii.trim(value.subSequence(length, value.length(), false));
        }
        return needsScheme ? null : value;
    }

    /**
     * Whether this looks like header, claims and signature, in base64url with dots between them. Each token has one form only:
     * the bits that the last character of a part may have too many are zero.
     */
    private static boolean isSigned(AsciiString token) {
        int dots = 0;
        int part = 0; // characters of the current one
        int last = 0; // value of the last one
        for (int i = 0; i <= token.length(); i++) {
            byte b = i == token.length() ? (byte) '.' : token.byteAt(i);
            if (b == '.') {
                if (part == 0 || !isWhole(part, last)) {
                    return false;
                }
                dots++;
                part = 0;
            } else {
                last = base64Url(b);
                part++;
                if (last < 0) {
                    return false;
                }
            }
        }
        return dots == 3;
    }

    private static boolean isWhole(int characters, int last) {
        return switch (characters % 4) {
            case 0 -> true;
            case 2 -> (last & 0xf) == 0;
            case 3 -> (last & 3) == 0;
            default -> false;
        };
    }

    private static int base64Url(byte b) {
        if (b >= 'A' && b <= 'Z') {
            return b - 'A';
        } else if (b >= 'a' && b <= 'z') {
            return b - 'a' + 26;
        } else if (b >= '0' && b <= '9') {
            return b - '0' + 52;
        }
        return b == '-' ? 62 : b == '_' ? 63 : -1;
    }

    /** Says whether the request continues; on the exchange's event loop. */
    private Verdict answer(JwtResult result, RequestHead head, FilterContext context) {
        if (result instanceof Invalid invalid) {
            return refused.refuse(invalid.why());
        }
        Valid valid = (Valid) result;
        long now = clock.getAsLong();
        if (now - settings.leewaySeconds >= valid.expires()) {
            return refused.refuse("the token has expired");
        } else if (now + settings.leewaySeconds < valid.notBefore()) {
            return refused.refuse("the token is not valid yet");
        } else if (!valid.lacks().isEmpty()) {
            return forbidden.refuse(403, valid.lacks());
        }
        if (valid.identity() != null) {
            context.setIdentity(valid.identity());
        }
        if (!valid.claims().isEmpty()) {
            context.setClaims(valid.claims());
        }
        for (int i = 0; i < headers.length; i++) {
            if (valid.headers().get(i).isPresent()) {
                head.fields().add(headers[i], valid.headers().get(i).get());
            }
        }
        return Verdict.PROCEED;
    }

    /** What the head does not take from the client, the trailers do not, either. */
    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        removeHeaders(trailers);
    }
}
