package dev.gateway.filter.jwt;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.filter.jwt.JwtConfig.ClaimHeader;
import dev.gateway.format.crypto.JwkSet;
import dev.gateway.message.FieldName;
import dev.gateway.overload.memory.CacheMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Filter type JWT. */
public final class JwtFeature implements FilterFeature<JwtConfig> {
    static final String NAME = "JWT";

    private static final FilterType<JwtConfig, ?> TYPE = FilterType.of(NAME, "jwt", JwtConfig.class, JwtSchema.JWT)
            .checkedBy(JwtSchema::check)
            .alsoCalled("jwtauthn"); // Envoy

    /** Key of the keys of a file. */
    private record Keys(Path file) {}

    /** Key of the tokens that were verified: what they were verified by. */
    private record Tokens(JwtRules rules, List<Supplier<JwkSet>> keys) {}

    @Override
    public FilterType<JwtConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(JwtConfig config, FilterSite site) throws StartException {
        JwtRules rules = rules(config, site.usedClaims());
        List<Supplier<JwkSet>> keys = new ArrayList<>();
        for (JwtConfig.Provider provider : config.providers()) {
            keys.add(keys(provider, config, site));
        }
        JwtTokens tokens = site.states()
                .get(
                        new Tokens(rules, keys),
                        JwtTokens.class,
                        () -> new JwtTokens(
                                rules,
                                keys,
                                SignatureWork.of(site.services()),
                                site.services().get(CacheMemory.class)));
        Jwt.Settings settings = new Jwt.Settings(
                KeyPlace.of(config.place(), config.name()),
                config.forwardToken(),
                config.maxTokenSize(),
                config.leeway().toSeconds(),
                config.claimsToHeaders().stream()
                        .map(each -> FieldName.of(each.header()))
                        .toList(),
                config.realm());
        return new Jwt(settings, tokens, () -> System.currentTimeMillis() / 1000);
    }

    private static Supplier<JwkSet> keys(JwtConfig.Provider provider, JwtConfig config, FilterSite site)
            throws StartException {
        Path file = provider.jwksFile();
        if (file == null) {
            return KeySets.of(provider, site);
        }
        FilterFile.Use use = new FilterFile.Use(config.position(), NAME, "keys");
        return FilterFile.of(new Keys(file), file, JwkSetFile::read, use, site.states());
    }

    private static JwtRules rules(JwtConfig config, List<String> usedClaims) {
        return new JwtRules(
                config.providers().stream()
                        .map(each -> new JwtRules.Provider(
                                each.issuer(), Set.copyOf(each.audiences()), Set.copyOf(each.algorithms())))
                        .toList(),
                config.requiredClaims().stream()
                        .map(each -> new JwtRules.Required(each.name(), Set.copyOf(each.values())))
                        .toList(),
                config.claimsToHeaders().stream().map(ClaimHeader::claim).toList(),
                usedClaims,
                config.identityClaim(),
                config.requireExpiration());
    }
}
