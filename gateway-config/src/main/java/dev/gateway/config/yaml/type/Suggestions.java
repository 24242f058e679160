package dev.gateway.config.yaml.type;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Did-you-mean hints: guesses what somebody meant. */
public final class Suggestions {
    /** What other products call our keys, without regard to case, dashes and underscores. */
    private static final Map<String, String> FOREIGN = Map.ofEntries(
            Map.entry("entrypoint", "listeners"),
            Map.entry("entrypoints", "listeners"),
            Map.entry("bind", "listeners address"),
            Map.entry("binds", "listeners"),
            Map.entry("listen", "listeners port"),
            Map.entry("frontend", "listeners"),
            Map.entry("frontends", "listeners"),
            Map.entry("servers", "endpoints listeners"),
            Map.entry("server", "endpoints"),
            Map.entry("location", "routes matches"),
            Map.entry("locations", "routes matches"),
            Map.entry("acl", "allow matches routes"),
            Map.entry("router", "routes"),
            Map.entry("routers", "routes"),
            Map.entry("virtualhost", "routes hostnames"),
            Map.entry("virtualhosts", "routes hostnames"),
            Map.entry("domains", "hostnames allow hosts"),
            Map.entry("servername", "hostnames serverName"),
            Map.entry("hosts", "hostnames endpoints allow"),
            Map.entry("host", "hostnames address hosts allow"),
            Map.entry("middleware", "filters"),
            Map.entry("middlewares", "filters"),
            Map.entry("handler", "filters"),
            Map.entry("handlers", "filters"),
            Map.entry("directives", "filters"),
            Map.entry("cluster", "upstreams backendRefs"),
            Map.entry("clusters", "upstreams"),
            Map.entry("service", "upstreams backendRefs"),
            Map.entry("services", "upstreams"),
            Map.entry("backend", "upstreams backendRefs"),
            Map.entry("backends", "upstreams backendRefs"),
            Map.entry("upstream", "upstreams backendRefs backendRef"),
            Map.entry("proxypass", "backendRefs"),
            Map.entry("servergroup", "upstreams"),
            Map.entry("loadassignment", "endpoints"),
            Map.entry("lbendpoints", "endpoints"),
            Map.entry("targets", "endpoints"),
            Map.entry("nodes", "endpoints"),
            Map.entry("lbpolicy", "loadBalancer"),
            Map.entry("balance", "loadBalancer"),
            Map.entry("grace", "drain"),
            Map.entry("shutdown", "drain"),
            Map.entry("shutdowndelay", "drain"),
            Map.entry("logging", "accessLog"),
            Map.entry("log", "accessLog"),
            Map.entry("opentelemetry", "tracing"),
            Map.entry("otel", "tracing"),
            Map.entry("traces", "tracing"),
            Map.entry("underscoresinheaders", "headersWithUnderscores"),
            Map.entry("ignoreinvalidheaders", "headersWithUnderscores"),
            Map.entry("setrealipfrom", "trustedProxies"),
            Map.entry("realipheader", "trustedProxies"),
            Map.entry("trustedips", "trustedProxies"),
            Map.entry("logformat", "template format"),
            Map.entry("samplerate", "sample"),
            Map.entry("samplingrate", "sample"),
            Map.entry("sampling", "sample"),
            Map.entry("onlyerrors", "exchanges"),
            Map.entry("destination", "path"),
            Map.entry("maxbackups", "maxFiles"),
            Map.entry("keep", "maxFiles"),
            Map.entry("threads", "workers"),
            Map.entry("workerprocesses", "workers"),
            Map.entry("ssl", "tls"),
            Map.entry("certificates", "certificateRefs"),
            Map.entry("certificate", "certificateRefs certFile"),
            Map.entry("cert", "certFile"),
            Map.entry("sslcertificate", "certFile"),
            Map.entry("key", "keyFile"),
            Map.entry("sslcertificatekey", "keyFile"),
            Map.entry("ca", "caFile"),
            Map.entry("sni", "serverName"),
            Map.entry("socket", "unix"),
            Map.entry("insecureskipverify", "verify"),
            Map.entry("timeout", "timeouts"),
            Map.entry("retries", "retry attempts"),
            Map.entry("numretries", "attempts"),
            Map.entry("hedging", "hedge"),
            Map.entry("hedgepolicy", "hedge"),
            Map.entry("hedgingpolicy", "hedge"),
            Map.entry("hedgingdelay", "after"),
            Map.entry("retryon", "on"),
            Map.entry("minretryrate", "minRetriesPerSecond"),
            Map.entry("keepalive", "idle"),
            Map.entry("keepalivetimeout", "idle"),
            Map.entry("read", "requestBodyIdle responseHeaders"),
            Map.entry("redirect", "requestRedirect"),
            Map.entry("rewrite", "urlRewrite"),
            Map.entry("whitelist", "allow allowedOrigins"),
            Map.entry("allowlist", "allow allowedOrigins"),
            Map.entry("allowed", "allow"),
            Map.entry("alloweddomains", "allow"),
            Map.entry("allowedhosts", "allow"),
            Map.entry("alloweddestinations", "allow"),
            Map.entry("dstdomain", "allow"),
            Map.entry("dst", "allow"),
            Map.entry("httpaccess", "allow connect"),
            Map.entry("blacklist", "deny"),
            Map.entry("blocklist", "deny"),
            Map.entry("denylist", "deny"),
            Map.entry("block", "deny"),
            Map.entry("sslports", "allowedPorts"),
            Map.entry("safeports", "allowedPorts"),
            Map.entry("connectports", "allowedPorts"),
            Map.entry("ports", "allowedPorts"),
            Map.entry("port", "allowedPorts"),
            Map.entry("authparam", "auth"),
            Map.entry("authentication", "auth"),
            Map.entry("proxyauth", "auth"),
            Map.entry("htpasswd", "usersFile"),
            Map.entry("users", "usersFile identities"),
            Map.entry("user", "usersFile identities credentialsFile"),
            Map.entry("file", "usersFile tokensFile path"),
            Map.entry("tokens", "tokensFile"),
            Map.entry("mtls", "clientCertificate clientAuth"),
            Map.entry("username", "credentialsFile"),
            Map.entry("password", "credentialsFile"),
            Map.entry("login", "credentialsFile"),
            Map.entry("credentials", "credentialsFile"),
            Map.entry("cachepeer", "parents"),
            Map.entry("parent", "parents"),
            Map.entry("upstreamproxy", "parents"),
            Map.entry("upstreamproxies", "parents"),
            Map.entry("noproxy", "parents"),
            Map.entry("alwaysdirect", "parents"),
            Map.entry("neverdirect", "parents"),
            Map.entry("bypass", "parents"),
            Map.entry("url", "proxy"),
            Map.entry("blockprivate", "denyPrivate"),
            Map.entry("denyprivateranges", "denyPrivate"),
            Map.entry("dryrun", "audit"),
            Map.entry("reportonly", "audit"),
            Map.entry("shadow", "audit"),
            Map.entry("connecttimeout", "connect"),
            Map.entry("idletimeout", "idle"),
            Map.entry("tunneltimeout", "idle"),
            Map.entry("maxduration", "max"),
            Map.entry("maxlifetime", "max"),
            Map.entry("maxconnections", "maxTunnels"),
            Map.entry("fixedheap", "heap"),
            Map.entry("heapsize", "heap"),
            Map.entry("overloadmanager", "overload"),
            Map.entry("maxinflight", "requestsInFlight"),
            Map.entry("maxrequestsinflight", "requestsInFlight"),
            Map.entry("inflightreq", "requestsInFlight maxInFlight"),
            Map.entry("maxconnectionsperip", "maxConnectionsPerClient"),
            Map.entry("maxconnectionsperaddress", "maxConnectionsPerClient"),
            Map.entry("limitconn", "maxConnectionsPerClient"),
            Map.entry("acceptrate", "maxAcceptRate"),
            Map.entry("ratelimitsessions", "maxAcceptRate"),
            Map.entry("authrequestheaders", "allowedHeaders"),
            Map.entry("requestheaders", "allowedHeaders"),
            Map.entry("authresponseheaders", "allowedResponseHeaders"),
            Map.entry("responseheaders", "allowedResponseHeaders"),
            Map.entry("addauthcookiestoresponse", "clientHeaders"),
            Map.entry("failuremodeallow", "onError"),
            Map.entry("failopen", "onError"),
            Map.entry("maxbodysize", "maxResponseBytes"),
            Map.entry("average", "requests"),
            Map.entry("period", "interval"),
            Map.entry("window", "interval"),
            Map.entry("by", "key"),
            Map.entry("descriptors", "key"),
            Map.entry("sourcecriterion", "key"),
            Map.entry("maxtokens", "burst"),
            Map.entry("ip", "client"),
            Map.entry("clientmaxbodysize", "maxBytes maxBody"),
            Map.entry("maxrequestbodybytes", "maxBytes maxBody"),
            Map.entry("gziptypes", "contentTypes"),
            Map.entry("includedcontenttypes", "contentTypes"),
            Map.entry("mimetypes", "contentTypes"),
            Map.entry("encodings", "algorithms"),
            Map.entry("gzipminlength", "minSize"),
            Map.entry("minresponsebodybytes", "minSize"),
            Map.entry("gzipcomplevel", "level"),
            Map.entry("minrequestbodydatarate", "minBodyRate"),
            Map.entry("minrate", "minBodyRate"),
            Map.entry("maxconn", "maxConnections maxTunnels"),
            Map.entry("forwardproxy", "connect"),
            Map.entry("tunnels", "connect"),
            Map.entry("tunnel", "connect"),
            Map.entry("egress", "connect"),
            Map.entry("upgradeconfigs", "upgrades"),
            Map.entry("upgradetypes", "upgrades"),
            Map.entry("origins", "allowedOrigins"),
            Map.entry("checkorigin", "allowedOrigins"),
            Map.entry("lbmethod", "loadBalancer"),
            Map.entry("hashpolicy", "hash"),
            Map.entry("sticky", "sessionPersistence"),
            Map.entry("stickysession", "sessionPersistence"),
            Map.entry("stickysessions", "sessionPersistence"),
            Map.entry("sessionaffinity", "sessionPersistence"),
            Map.entry("cookiename", "sessionName"),
            Map.entry("hashkey", "hash"),
            Map.entry("sourceip", "client"),
            Map.entry("clientip", "client"),
            Map.entry("queryparam", "queryParameter queryParams"),
            Map.entry("sendproxy", "sendProxyProtocol"),
            Map.entry("sendproxyv2", "sendProxyProtocol"),
            Map.entry("proxyprotocol", "sendProxyProtocol"),
            Map.entry("sslpassthrough", "mode"),
            Map.entry("status", "statusCode"),
            Map.entry("code", "statusCode"));

    private Suggestions() {}

    /**
     * Returns the hint that follows an unknown word, null for no hint.
     *
     * @param foreign what others call them, as {@link #plain}: the word that is meant, or else a hint of its own
     */
    static @Nullable String hint(String written, Collection<String> known, Map<String, String> foreign) {
        String ours = foreign.get(plain(written));
        String meant = ours != null ? ours : nearest(written, known);
        return meant == null ? null : hint(meant, known);
    }

    /** Returns the hint that names a known word, or else the text as it is. */
    static String hint(String meant, Collection<String> known) {
        return known.contains(meant) ? ": did you mean '" + meant + "'?" : ": " + meant;
    }

    /** Returns the known word that is most like the one written, null if none is. */
    public static @Nullable String nearest(String written, Collection<String> known) {
        String plain = plain(written);
        if (plain.isEmpty() || plain.length() > 40) {
            return null;
        }
        String best = null;
        int least = Math.max(1, plain.length() / 3) + 1;
        for (String word : known) {
            int distance = distance(plain, plain(word));
            if (distance < least) {
                least = distance;
                best = word;
            }
        }
        return best != null ? best : containing(plain, known);
    }

    private static @Nullable String containing(String plain, Collection<String> known) {
        String shortest = null;
        for (String word : known) {
            boolean shorter = shortest == null || word.length() < shortest.length();
            if (shorter && plain.length() >= 4 && plain(word).contains(plain)) {
                shortest = word;
            }
        }
        return shortest;
    }

    /** Returns our key for a word of another product, null if we have no such key. */
    static @Nullable String foreign(String written, Collection<String> known) {
        String ours = FOREIGN.get(plain(written));
        if (ours != null) {
            for (String word : ours.split(" ")) {
                if (known.contains(word)) {
                    return word;
                }
            }
        }
        return null;
    }

    /** Returns a word without regard to case, dashes, underscores and spaces. */
    static String plain(String word) {
        return word.replaceAll("[-_ ]", "").toLowerCase(Locale.ROOT);
    }

    /** Returns how many insertions, deletions, changes and swaps of neighbors are between two words. */
    private static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            d[i][0] = i;
        }
        for (int j = 0; j <= b.length(); j++) {
            d[0][j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            for (int j = 1; j <= b.length(); j++) {
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] = Math.min(d[i - 1][j - 1] + change, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
