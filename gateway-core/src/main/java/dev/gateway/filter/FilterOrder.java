package dev.gateway.filter;

import java.util.ArrayList;
import java.util.List;

/**
 * Filter chain order: in which order the kinds of filters see a request, whatever order they are configured in; responses
 * pass them in reverse. This is the one place that says so. Filters of one kind keep the order they are configured in.
 */
public enum FilterOrder {
    /** First of all: what follows may depend on who the client is, and strangers learn nothing from its answers. */
    PROXY_AUTHENTICATION,
    /** Before the rules, which have let the same request pass before. */
    LOOP_GUARD,
    /** Who may reach what; what is refused needs no place among the tunnels. */
    CONNECT_RULES,
    /** After all that refuses requests for other reasons, so that only what goes upstream is counted. */
    TUNNEL_LIMITS,
    /** Looks at bytes, not at the head, so its place matters least. */
    SNI_CHECK,
    /** Before all other filters of routes: it chooses the bodies of their refusals, and refuses nothing itself. */
    ERROR_PAGES,
    /** First of those on routes that decide: it costs least, and who is refused learns nothing of the route. */
    IP_ACCESS,
    /** Before all that asks who sends a request, since a preflight request has no credentials, and pages read refusals. */
    CORS,
    /** Filters of plugins that decide by what a request looks like, before anybody asks who sends it. */
    PLUGIN_ACCESS,
    /** First of those that ask who the client is: it costs least, and a user is more exact than the user's machine. */
    CLIENT_CERTIFICATE,
    /** Who the client is, before all that may depend on it; strangers learn nothing from what follows. */
    BASIC_AUTH,
    /** Where a rule asks for both, after the user: the identity of a key is the more exact one. */
    API_KEY,
    /** Last of those that find out here who the client is: a signature may cost more than the others, and tells most. */
    JWT,
    /** Filters of plugins that find out who the client is, where all other ways to do so have passed. */
    PLUGIN_AUTHENTICATION,
    /** After what is decided here, so that the server is asked about nothing that is refused anyway. */
    EXTERNAL_AUTH,
    /** Before redirects and direct responses, so that they are limited too; after whatever says who the client is. */
    RATE_LIMIT,
    /** After all that refuses requests whatever their bodies, so that these count there; before anybody waits for one. */
    BODY_LIMIT,
    /** Filters of plugins that do not say: after all that refuses requests, so that they see those that may pass. */
    PLUGIN_REQUEST,
    /** Before all edits: its Location is made of the request as the client sent it, and nothing after it matters. */
    REQUEST_REDIRECT,
    /** Before all edits, for they would be lost on a request that is answered here. */
    DIRECT_RESPONSE,
    /** After all that answers here: only upstreams need it, and it takes memory. */
    DECOMPRESSION,
    /** Before the request's fields are edited: what the client accepts decides, whatever upstreams are told. */
    COMPRESSION,
    /** Before the path is rewritten, so that what is edited is the request that was matched. */
    REQUEST_HEADER_MODIFIER,
    /** Last that edits the request: its host name wins over a Host set by a modifier, as the more exact wish. */
    URL_REWRITE,
    /** After all that answers, refuses or edits: what is copied is what the upstream gets. */
    REQUEST_MIRROR,
    /** Next to the upstream, so first to see a response: others see the fields as they will be sent. */
    RESPONSE_HEADER_MODIFIER,
    /** Filters of plugins that want what the upstream gets, and its response as it is. */
    PLUGIN_UPSTREAM;

    /** A filter and its kind. */
    public record Placed(FilterOrder place, Filter filter) {}

    /** Returns the filters in the order in which they run. */
    public static List<Filter> inOrder(List<Placed> filters) {
        List<Placed> sorted = new ArrayList<>(filters);
        sorted.sort((a, b) -> a.place.compareTo(b.place));
        return sorted.stream().map(Placed::filter).toList();
    }
}
