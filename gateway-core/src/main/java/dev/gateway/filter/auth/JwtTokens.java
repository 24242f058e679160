package dev.gateway.filter.auth;

import dev.gateway.format.JwkSet;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Signed tokens under the same rules, and what became of those that were shown of late. Shared by all filters with these
 * rules, in all generations, so that a reload costs no signatures. What became of a token counts as long as the keys are the
 * same. Safe from any thread.
 */
public final class JwtTokens {
    private static final int MOST_WRONG = 1_000;

    /** A token with larger texts is verified each time, so that what is remembered is bounded. */
    private static final int MOST_REMEMBERED_BYTES = 1024;

    private final List<Supplier<JwkSet>> files;
    private final SignatureWork work;
    private final JwtVerifier verifier;
    private final VerifiedCredentials<JwtResult> valid;
    private final VerifiedCredentials<JwtResult> wrong;
    private volatile Look look;

    /** The keys of all providers; another object whenever one of them has others. */
    record Keys(List<JwkSet> sets) {}

    /**
     * What the files said at the last look.
     *
     * @param keys those of an earlier look if they are the same
     */
    private record Look(List<JwkSet> seen, Keys keys) {}

    /**
     * Makes it, without tokens.
     *
     * @param files asked for the keys of the providers, in the order of the rules
     */
    public JwtTokens(JwtRules rules, List<Supplier<JwkSet>> files, AuthWork work) {
        this(rules, files, work, System::nanoTime);
    }

    JwtTokens(JwtRules rules, List<Supplier<JwkSet>> files, AuthWork work, LongSupplier nanoClock) {
        this.files = List.copyOf(files);
        this.work = work.signatures();
        this.verifier = new JwtVerifier(rules);
        this.valid = new VerifiedCredentials<>(nanoClock);
        this.wrong = new VerifiedCredentials<>(nanoClock, MOST_WRONG);
        List<JwkSet> seen = read();
        this.look = new Look(seen, new Keys(seen));
    }

    private List<JwkSet> read() {
        return files.stream().map(Supplier::get).toList();
    }

    SignatureWork work() {
        return work;
    }

    /** Returns the keys as they are now. */
    Keys keys() {
        Look last = look;
        return isCurrent(last) ? last.keys : renew();
    }

    @SuppressWarnings("ReferenceEquality") // what a file says is the same object until it is read again
    private boolean isCurrent(Look last) {
        for (int i = 0; i < files.size(); i++) {
            if (files.get(i).get() != last.seen.get(i)) {
                return false;
            }
        }
        return true;
    }

    private synchronized Keys renew() {
        List<JwkSet> seen = read();
        Keys last = look.keys;
        Keys now = seen.equals(last.sets) ? last : new Keys(seen);
        look = new Look(seen, now);
        return now;
    }

    /** Returns what a token is remembered by. */
    Digest digest(byte[] token) {
        return valid.digest(token);
    }

    /** Returns what became of a token under these keys if it is known. */
    @Nullable
    JwtResult find(Digest digest, Keys under) {
        JwtResult known = valid.find(digest, under);
        return known != null ? known : wrong.find(digest, under);
    }

    /** Verifies a token, and remembers what became of it. Takes its time; not for event loops. */
    JwtResult verify(byte[] token, Digest digest, Keys under) {
        JwtResult result = verifier.verify(new String(token, StandardCharsets.US_ASCII), under.sets);
        if (result instanceof JwtResult.Invalid) {
            wrong.add(digest, result, under);
        } else if (result instanceof JwtResult.Valid passed && passed.size() <= MOST_REMEMBERED_BYTES) {
            valid.add(digest, result, under);
        }
        return result;
    }
}
