package dev.gateway.filter.jwt;

import dev.gateway.filter.FilterStates;
import dev.gateway.filter.auth.Digest;
import dev.gateway.filter.auth.VerifiedCredentials;
import dev.gateway.filter.jwt.jwks.RemoteKeys;
import dev.gateway.format.crypto.JwkSet;
import dev.gateway.overload.memory.CacheMemory;
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
public final class JwtTokens implements FilterStates.Watched, FilterStates.Running {
    /** A token that may be right, and that no known key of its issuer verifies. */
    static final JwtResult NO_KEY = new JwtResult.Invalid("there is no such key of the issuer");

    private static final int MOST_VALID = 10_000;
    private static final long MOST_VALID_BYTES = 4 << 20;
    private static final int MOST_WRONG = 1_000;

    /** A token with larger texts is verified each time, so that what is remembered is bounded. */
    private static final int MOST_REMEMBERED_BYTES = 1024;

    private final List<Supplier<JwkSet>> sources;
    private final SignatureWork work;
    private final JwtVerifier verifier;
    private final VerifiedCredentials<JwtResult> valid;
    private final VerifiedCredentials<JwtResult> wrong;
    private volatile Look look;

    /** The keys of all providers; another object whenever one of them has others. */
    record Keys(List<JwkSet> sets) {}

    /**
     * What the sources said at the last look.
     *
     * @param keys those of an earlier look if they are the same
     */
    private record Look(List<JwkSet> seen, Keys keys) {}

    /**
     * Makes it, without tokens.
     *
     * @param sources asked for the keys of the providers, in the order of the rules; {@link RemoteKeys} also for newer ones
     * @param memory is charged for what is remembered
     */
    JwtTokens(JwtRules rules, List<Supplier<JwkSet>> sources, SignatureWork work, CacheMemory memory) {
        this(rules, sources, work, memory, System::nanoTime);
    }

    JwtTokens(
            JwtRules rules,
            List<Supplier<JwkSet>> sources,
            SignatureWork work,
            CacheMemory memory,
            LongSupplier nanoClock) {
        this.sources = List.copyOf(sources);
        this.work = work;
        this.verifier = new JwtVerifier(rules);
        this.valid = new VerifiedCredentials<>(nanoClock, memory, MOST_VALID, MOST_VALID_BYTES);
        this.wrong = new VerifiedCredentials<>(nanoClock, memory, MOST_WRONG);
        List<JwkSet> seen = read();
        this.look = new Look(seen, new Keys(seen));
    }

    private List<JwkSet> read() {
        return sources.stream().map(Supplier::get).toList();
    }

    SignatureWork work() {
        return work;
    }

    /** Returns the keys as they are now. */
    Keys keys() {
        Look last = look;
        return isCurrent(last) ? last.keys : renew();
    }

    @SuppressWarnings("ReferenceEquality") // what a source says is the same object until it says something else
    private boolean isCurrent(Look last) {
        for (int i = 0; i < sources.size(); i++) {
            if (sources.get(i).get() != last.seen.get(i)) {
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

    /** Returns the source of a provider's keys if that may have newer ones. */
    @Nullable
    RemoteKeys remote(int provider) {
        return sources.get(provider) instanceof RemoteKeys remote ? remote : null;
    }

    /**
     * Verifies a token, and remembers what became of it, unless newer keys may change that. Takes its time; not for event
     * loops.
     */
    JwtResult verify(byte[] token, Digest digest, Keys under) {
        JwtResult result = verifier.verify(new String(token, StandardCharsets.US_ASCII), under.sets);
        if (result instanceof JwtResult.NoKey missing && remote(missing.provider()) == null) {
            result = NO_KEY;
        }
        if (result instanceof JwtResult.Invalid) {
            wrong.add(digest, result, under);
        } else if (result instanceof JwtResult.Valid passed && passed.textSize() <= MOST_REMEMBERED_BYTES) {
            valid.add(digest, result, VerifiedCredentials.BYTES + passed.size(), under);
        }
        return result;
    }

    /** Forgets old tokens, also while nobody shows any. */
    @Override
    public void look() {
        valid.tidy();
        wrong.tidy();
    }

    @Override
    public List<String> problems() {
        return List.of();
    }

    @Override
    public void end() {
        valid.end();
        wrong.end();
    }
}
