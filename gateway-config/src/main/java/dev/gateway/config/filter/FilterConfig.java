package dev.gateway.config.filter;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * HTTP filter settings: a step that a request or its response passes. What checks, explanations and the assembly ask of
 * any filter, each type answers here; {@code FilterTypes} of the schema lists the types.
 */
public interface FilterConfig {
    /** Where it was written. */
    Position position();

    /** Returns the name of its type, as the configuration file has it. */
    default String type() {
        return getClass().getSimpleName();
    }

    /** Returns what it does, for people: its type, and more where that says little. */
    default String summary() {
        return type();
    }

    /** Returns the status with which it answers every request; 0 if requests may continue. */
    default int answer() {
        return 0;
    }

    /** Whether it refuses every request. */
    default boolean refusesAll() {
        return answer() >= 400;
    }

    /** Whether it refuses requests, or asks who sends them. */
    default boolean guards() {
        return refusesAll() || identifies();
    }

    /** Whether it refuses requests for their number or size only. */
    default boolean onlyLimits() {
        return false;
    }

    /** Whether it finds out who sends a request. */
    default boolean identifies() {
        return credentials() != null;
    }

    /** Returns where requests show it their credentials, null if it asks for none. */
    default @Nullable ShownCredentials credentials() {
        return null;
    }

    /** Whether it verifies claims about who sends a request, such as those of a token. */
    default boolean verifiesClaims() {
        return false;
    }

    /** Returns the verified claims that it uses. */
    default List<String> usedClaims() {
        return List.of();
    }

    /** Whether it also edits what other filters of its rule answer. */
    default boolean editsAnswers() {
        return false;
    }

    /** Whether its refusals depend on who sends a request or where it goes, not only on how large it is. */
    default boolean protects() {
        return guards();
    }

    /** Whether it, or a server that it asks, may decide by the path. */
    default boolean decidesByPath() {
        return false;
    }

    /** Returns the keys by which a listener does the same for tunnels, null if it has none. */
    default @Nullable String listenerKeys() {
        return null;
    }

    /** Returns the stores where it counts. */
    default List<StoreRef> stores() {
        return List.of();
    }

    /** Returns the files of authorities that it trusts. */
    default List<CaFile> caFiles() {
        return List.of();
    }

    /** Returns the upstreams that it calls. */
    default List<UpstreamRef> upstreams() {
        return List.of();
    }

    /** Whether it calls its upstreams again if a call fails. */
    default boolean repeatsCalls() {
        return false;
    }

    /** Whether a rule may have more than one of its type. */
    default boolean isRepeatable() {
        return true;
    }

    /** Whether it answers with another URL for the request. */
    default boolean redirects() {
        return false;
    }

    /** Returns how it changes the path, null if it does not. */
    default @Nullable PathRewrite rewrite() {
        return null;
    }

    /**
     * A file of authorities that a filter trusts.
     *
     * @param by the part of its settings that has the key {@code caFile}
     */
    record CaFile(Record by, @Nullable Path path) {}

    /**
     * A store where a filter counts, by its name.
     *
     * @param by the part of its settings that has the key {@code store}
     */
    record StoreRef(Record by, String name) {}

    /** An upstream that a filter calls, by its name. */
    record UpstreamRef(Position position, String name) {}

    /**
     * A new path.
     *
     * @param value replaces the whole path, or the prefix that the rule matched (then its match is a PathPrefix)
     */
    record PathRewrite(Position position, PathRewriteType type, String value) {}

    /** What of a path is replaced. */
    enum PathRewriteType {
        REPLACE_FULL_PATH,
        REPLACE_PREFIX_MATCH
    }
}
