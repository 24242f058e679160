package dev.gateway.filter.jwt;

import dev.gateway.filter.jwt.JwtResult.Invalid;
import dev.gateway.filter.jwt.JwtResult.NoKey;
import dev.gateway.filter.jwt.JwtResult.Valid;
import dev.gateway.format.crypto.JwkSet;
import dev.gateway.format.crypto.VerificationKey;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jose4j.json.JsonUtil;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwa.AlgorithmConstraints.ConstraintType;
import org.jose4j.jwa.AlgorithmFactoryFactory;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * Verifies signed tokens (RFC 7515, RFC 7519), with jose4j. Which algorithms and keys count, the rules say and never the token
 * alone: it names an algorithm out of those accepted, and a key out of those of its issuer, which fits one kind of algorithm.
 * What the header says of other keys is ignored. Takes as long as a signature takes; not for event loops. Safe from any thread.
 */
final class JwtVerifier {
    /** A token that names no key may be of one of so many. */
    private static final int MOST_KEYS_TRIED = 10;

    private static final AlgorithmConstraints ALGORITHMS =
            new AlgorithmConstraints(ConstraintType.PERMIT, JwkSet.ALGORITHMS.toArray(String[]::new));

    private final JwtRules rules;

    JwtVerifier(JwtRules rules) {
        this.rules = rules;
        AlgorithmFactoryFactory.getInstance(); // its first call takes some time
    }

    /**
     * Verifies a token.
     *
     * @param keys of the providers, in their order
     */
    JwtResult verify(String token, List<JwkSet> keys) {
        try {
            JsonWebSignature signature = new JsonWebSignature();
            signature.setAlgorithmConstraints(ALGORITHMS);
            signature.setCompactSerialization(token);
            return verify(signature, new JwtClaims(JsonUtil.parseJson(signature.getUnverifiedPayload())), keys);
        } catch (JoseException | RuntimeException | StackOverflowError e) { // whatever strangers may write
            return new Invalid("the token is malformed");
        }
    }

    private JwtResult verify(JsonWebSignature signature, JwtClaims claims, List<JwkSet> keys) throws JoseException {
        Object issuer = claims.find("iss");
        for (int i = 0; i < rules.providers().size(); i++) {
            JwtRules.Provider provider = rules.providers().get(i);
            if (provider.issuer().equals(issuer)) {
                JwtResult problem = signatureProblem(signature, i, keys.get(i));
                return problem != null ? problem : judge(claims, provider);
            }
        }
        return new Invalid("the token is of another issuer");
    }

    private @Nullable JwtResult signatureProblem(JsonWebSignature signature, int provider, JwkSet keys) {
        if (!(signature.getHeaders().getObjectHeaderValue("alg") instanceof String algorithm)
                || !rules.providers().get(provider).algorithms().contains(algorithm)) {
            return new Invalid("the token is signed by an algorithm that is not accepted");
        }
        if (signature.getHeaders().getObjectHeaderValue("crit") != null) {
            return new Invalid("the token has header parameters that would have to be understood (crit)");
        }
        Object id = signature.getHeaders().getObjectHeaderValue("kid");
        if (id != null && !(id instanceof String)) {
            return new Invalid("the token is malformed");
        }
        List<VerificationKey> found = keys.find((String) id, algorithm);
        if (found.isEmpty()) {
            return new NoKey(provider);
        }
        for (VerificationKey key : found.subList(0, Math.min(MOST_KEYS_TRIED, found.size()))) {
            if (isSignedBy(key, signature)) {
                return null;
            }
        }
        return new Invalid("the token's signature is wrong");
    }

    private static boolean isSignedBy(VerificationKey key, JsonWebSignature signature) {
        try {
            signature.setKey(key.key());
            return signature.verifySignature();
        } catch (JoseException e) {
            return false; // such as a signature of another length
        }
    }

    private JwtResult judge(JwtClaims claims, JwtRules.Provider provider) {
        if (!claims.isFor(provider.audiences())) {
            return new Invalid("the token is for another audience");
        }
        Long expires = claims.second("exp", JwtClaims.FOREVER);
        Long notBefore = claims.second("nbf", -JwtClaims.FOREVER);
        if (expires == null || notBefore == null) {
            return new Invalid("the token has a time (exp, nbf) that is no number");
        }
        if (rules.requiresExpiration() && claims.find("exp") == null) {
            return new Invalid("the token does not say when it ends (exp)");
        }
        List<Optional<AsciiString>> headers = new ArrayList<>();
        rules.headerClaims().forEach(claim -> headers.add(claims.header(claim)));
        return new Valid(
                claims.identity(rules.identityClaim()),
                headers,
                claims.texts(rules.usedClaims()),
                notBefore,
                expires,
                lacks(claims));
    }

    private String lacks(JwtClaims claims) {
        for (JwtRules.Required required : rules.required()) {
            if (!claims.has(required)) {
                return "the token lacks the claim " + required.claim()
                        + (required.values().isEmpty() ? "" : ", or the value that is needed");
            }
        }
        return "";
    }
}
