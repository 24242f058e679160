package dev.gateway.config.yaml.schema.upstream;

import static java.util.Map.entry;

import dev.gateway.config.upstream.SessionPersistenceConfig;
import dev.gateway.config.upstream.SessionPersistenceConfig.SameSite;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.time.Duration;
import java.util.Map;

/** How clients are kept at their endpoints, key by key. */
final class SessionSchema {
    private static final ScalarType<String> TYPE =
            Types.words(Types.ordered(entry("Cookie", "Cookie")), Map.of("Header", "sessions by a header"));

    private static final ScalarType<SameSite> SAME_SITE =
            Types.words(entry("Lax", SameSite.LAX), entry("Strict", SameSite.STRICT), entry("None", SameSite.NONE));

    /** Sessions of an upstream. */
    static final ObjectType<SessionPersistenceConfig> SESSION_PERSISTENCE = ObjectType.of(
            "sessionPersistence section",
            "A cookie that keeps a client at the endpoint that answered it. Cookies are signed, and disclose no address.",
            o -> {
                o.defaulted("type", TYPE, "Cookie", config -> "Cookie", "What carries the session.");
                var name = o.defaulted(
                        "sessionName",
                        Types.word("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}", "the name of a cookie"),
                        "gateway-session",
                        SessionPersistenceConfig::sessionName,
                        "Name of the cookie. Upstreams of the same host need different names.");
                var timeout = o.optional(
                        "absoluteTimeout",
                        Types.DURATION,
                        SessionPersistenceConfig::absoluteTimeout,
                        "Age at which a session ends. Without it, the session ends with the browser's.");
                var sameSite = o.defaulted(
                        "sameSite",
                        SAME_SITE,
                        SameSite.LAX,
                        SessionPersistenceConfig::sameSite,
                        "Which requests from pages of other sites have the cookie: those that open a page (Lax), none "
                                + "(Strict) or all (None). In a frame of another site, only None works. Browsers accept it only "
                                + "with Secure. So a client without HTTPS gets Lax instead.");
                var keyFile = o.required(
                        "keyFile",
                        Types.PATH,
                        SessionPersistenceConfig::keyFile,
                        "File of the signing keys, one a line, of 32 characters or more. The first signs, all are "
                                + "accepted. The same for all replicas. The gateway "
                                + "reads it again when it changes.");
                o.whole("{sessionName: …, keyFile: …}");
                return v -> {
                    Duration age = v.find(timeout);
                    if (age != null && age.toSeconds() == 0) {
                        v.error(
                                v.at("absoluteTimeout"),
                                "absoluteTimeout: expected 1s or more: remove it for sessions without an end");
                    }
                    return new SessionPersistenceConfig(
                            v.position(), v.get(name), age, v.get(sameSite), v.get(keyFile));
                };
            });

    private SessionSchema() {}
}
