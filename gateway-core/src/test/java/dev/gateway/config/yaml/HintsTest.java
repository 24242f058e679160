package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What users are told who write keys and words of other products, or values in another form. */
class HintsTest {
    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    retry: {perTryTimeout: 1s}            => write timeouts: {backendRequest: …} into the rule
                    timeouts: {read: 5s}                  => did you mean 'streamIdle'?
                    timeouts: {connect: 5s}               => write timeouts: {connect: …} into the upstream
                    matches: [{cookies: [a]}]             => write headers: [{name: Cookie, type: RegularExpression, value: …}]
                    matches: [{methods: [GET]}]           => write method, and one match for each
                    matches: [{host: a.example}]          => write hostnames into the route
                    path: /x                              => write matches: [{path: …}]
                    jwt: {}                               => write filters: [{type: JWT, jwt: …}]
                    codes: [500]                          => write retry: {codes: …}
                    minRetriesPerSecond: 5                => write retry: {budget: {minRetriesPerSecond: …}}
                    """)
    void keysOfOthersInARuleGetAHint(String written, String hint) {
        assertThat(ofRule(written))
                .singleElement()
                .asString()
                .contains(": unknown key '")
                .endsWith(": " + hint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    outlierDetection: {}                  => write healthChecks: {outlierDetection: …}
                    interval: 5s                          => write healthChecks: {active: {interval: …}}
                    maxConnections: 5                     => write circuitBreaker: {maxConnections: …}
                    hash: [{client: true}]                => write loadBalancer: {hash: …}
                    host: a.example                       => write endpoints: [{host: …}]
                    urls: [http://a.example]              => did you mean 'endpoints', which is already in line 3?
                    """)
    void keysOfOthersInAnUpstreamGetAHint(String written, String hint) {
        assertThat(ofUpstream(written)).singleElement().asString().endsWith(": " + hint);
    }

    @Test
    void aKeyThatTwoInnerObjectsHaveGetsNoHintButTheKeysThatThereAre() {
        assertThat(ofUpstream("path: /x")).singleElement().asString().contains(": expected one of name, endpoints, ");
    }

    /** A section that is written one level too high is not reported as missing, too. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    {type: JWT, jwt: {issuer: a}}                    => write providers: [{issuer: …}]
                    {type: RateLimit, rateLimit: {burst: 5}}         => write limits: [{burst: …}]
                    {type: ExternalAuth, forwardAuth: {}}            => did you mean 'externalAuth'?
                    {type: IPAllowList}                              => did you mean 'IPAccess'?
                    {type: Headers}                                  => write RequestHeaderModifier or ResponseHeaderModifier
                    {type: gzip}                                     => did you mean 'Compression'?
                    {type: circuit-breaker}                          => write circuitBreaker into the upstream
                    """)
    void filtersOfOthersGetAHint(String written, String hint) {
        assertThat(ofRule("filters: [" + written + "]"))
                .singleElement()
                .asString()
                .endsWith(": " + hint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    {type: Compression, decompression: {}} => type Compression needs 'compression', and 'decompression' \
                    belongs to type Decompression: rename one of the two
                    {type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replacePrefixMatch: /a}}} => \
                    type ReplaceFullPath needs 'replaceFullPath', and 'replacePrefixMatch' belongs to type \
                    ReplacePrefixMatch: rename one of the two
                    """)
    void aSectionOfAnotherTypeIsNamed(String written, String problem) {
        assertThat(ofRule("filters: [" + written + "]"))
                .singleElement()
                .asString()
                .endsWith(": " + problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    retry: {on: [5xx]}                    => write gatewayError, or retriableStatus with codes
                    retry: {on: [http_502]}               => did you mean 'gatewayError'?
                    retry: {budget: {percent: 20%}}       => write 20
                    """)
    void valuesOfOthersInARuleGetAHint(String written, String hint) {
        assertThat(ofRule(written)).singleElement().asString().endsWith(": " + hint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    protocol: grpc                        => write h2 with tls, or h2c for cleartext
                    protocol: http/1.1                    => did you mean 'http1'?
                    protocol: HTTPS                       => write tls: {} into the upstream, and no protocol
                    panicThreshold: 0.5                   => write 50%
                    """)
    void valuesOfOthersInAnUpstreamGetAHint(String written, String hint) {
        assertThat(ofUpstream(written)).singleElement().asString().endsWith(": " + hint);
    }

    @Test
    void aPercentageWithDecimalsIsWrittenAsAFraction() {
        assertThat(ofRule("filters: [{type: RequestMirror, requestMirror: {backendRef: {name: app}, percent: 12.5}}]"))
                .anySatisfy(problem -> assertThat(problem)
                        .endsWith("percent: expected a whole number from 0 to 100, not '12.5': write fraction: "
                                + "{numerator: 125, denominator: 1000}"));
    }

    @ParameterizedTest
    @CsvSource({"HS256, by a shared secret", "none, without a signature"})
    void algorithmsThatAreNeverAcceptedAreNotLikeAnother(String algorithm, String why) {
        assertThat(ofRule("filters: [{type: JWT, jwt: {providers: [{issuer: a, jwksUrl: 'https://a.example/',"
                        + " audiences: [b], algorithms: [" + algorithm + "]}]}}]"))
                .singleElement()
                .asString()
                .contains("unknown value '" + algorithm + "': the gateway accepts no ")
                .endsWith(why);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    retry: 3                              => write {attempts: 3}
                    timeouts: 5s                          => write {request: 5s}
                    matches: [/api]                       => write {path: {value: /api}}
                    matches: [{path: /api}]               => write {value: /api}
                    matches: [{headers: {x-tier: gold}}]  => write [{name: x-tier, value: gold}]
                    matches: {path: /api}                 => write [{...}]
                    retry: {attempts: [3]}                => write 3
                    """)
    void valuesInAnotherFormAreShownInTheRightOne(String written, String hint) {
        assertThat(ofRule(written)).singleElement().asString().endsWith(": " + hint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    tls: true                             => write {} for its defaults
                    slowStart: {window: 5s}               => write 5s
                    healthChecks: {active: /healthz}      => write {path: /healthz}
                    """)
    void sectionsInAnotherFormAreShownInTheRightOne(String written, String hint) {
        assertThat(ofUpstream(written)).singleElement().asString().endsWith(": " + hint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    RequestHeaderModifier, requestHeaderModifier: {set: {X-A: b}}           => write [{name: X-A, value: b}]
                    RequestHeaderModifier, requestHeaderModifier: {set: {X-A: 'b c', X-D: e}} => write [{name: X-A, value: "b c"}, …]
                    RequestHeaderModifier, requestHeaderModifier: {set: ['X-A: b']}         => write {name: X-A, value: b}
                    RequestHeaderModifier, requestHeaderModifier: {set: {Authorization: b}} => write [{name: Authorization, value: …}]
                    RequestHeaderModifier, requestHeaderModifier: {set: {X-A: '${HOME}'}}     => write [{name: X-A, value: …}]
                    RequestHeaderModifier, requestHeaderModifier: {set: [{name: Authorization, value: [Bearer s3cr3t]}]} => value: expected a single value, not a list
                    RequestHeaderModifier, requestHeaderModifier: {remove: {x: y}}          => remove: expected a list, not a mapping
                    RateLimit, rateLimit: {limits: [{requests: 5, interval: 1s, key: client}]} => write [{client: true}]
                    RateLimit, rateLimit: {limits: [{requests: 5, interval: 1s, key: [header]}]} => write {header: …}
                    """)
    void partsOfFiltersInAnotherFormAreShownInTheRightOne(String written, String hint) {
        assertThat(ofRule("filters: [{type: " + written + "}]"))
                .singleElement()
                .asString()
                .endsWith(": " + hint);
    }

    @Test
    void claimsInAnotherFormAreShownInTheRightOne() {
        assertThat(ofRule("filters: [{type: JWT, jwt: {providers: [{issuer: a, jwksUrl: 'https://a.example/',"
                        + " audiences: [b]}], claimsToHeaders: {sub: X-User}, requiredClaims: [scope, 'a: b']}}]"))
                .satisfiesExactly(
                        claims -> assertThat(claims).endsWith(": write [{claim: sub, header: X-User}]"),
                        word -> assertThat(word).endsWith(": write {name: scope}"),
                        pair -> assertThat(pair).endsWith(": write {name: a, values: [b]}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    ['10.0.0.1:80']                       => write {host: 10.0.0.1, port: 80}
                    ['http://app.example:80/x']           => write {host: app.example, port: 80}
                    ['[fd00::1]:80']                      => write {host: "fd00::1", port: 80}
                    [app.example]                         => write {host: app.example, port: …}
                    [/run/app.sock]                       => write {unix: /run/app.sock}
                    10.0.0.1:80                           => write [{host: 10.0.0.1, port: 80}]
                    [{address: 10.0.0.1, port: 80}]       => did you mean 'host'?
                    """)
    void addressesInAnotherFormAreShownInTheRightOne(String endpoints, String hint) {
        assertThat(problems("", "{name: app, endpoints: " + endpoints + "}", ""))
                .singleElement()
                .asString()
                .endsWith(": " + hint);
    }

    @Test
    void storesOfOthersGetHints() {
        assertThat(problems("", APP, "stores: [{name: s, type: redis, address: 'a.example:6379'}]"))
                .satisfiesExactly(
                        unused -> assertThat(unused).contains("no limit uses the store 's'"),
                        type -> assertThat(type).endsWith("'type' in a store: every store is Redis: remove it"),
                        address -> assertThat(address).endsWith("'address' in a store: did you mean 'redis'?"));
    }

    @Test
    void oneMistakeHasOneMessage() {
        assertThat(problems("", APP, "localZone: [a]"))
                .singleElement()
                .asString()
                .endsWith("localZone: expected a single value, not a list: write a");
        assertThat(problems("", APP, "overload: {heap: 85}"))
                .singleElement()
                .asString()
                .endsWith("heap: expected a share from 0% to 100% such as 5%, not '85': write 85%");
    }

    /** What a listener speaks decides what its routes may have. Nobody knows that if its protocol cannot be read. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    protocol: TSL                         => protocol: unknown value 'TSL': did you mean 'TLS'?
                    mode: tcp                             => write protocol: HTTP or TCP, or tls: {mode: Passthrough}
                    """)
    void aProtocolThatIsNotReadHasOneMessage(String written, String message) {
        assertThat(ConfigLoader.parse(
                                """
                                listeners:
                                  - {name: relay, address: 127.0.0.1, port: 8080, %s}
                                  - {name: other, address: 127.0.0.1, port: 8081, protocol: TCP}
                                routes:
                                  - parentRefs: [{name: relay}, {name: other}]
                                    rules:
                                      - backendRefs: [{name: app}]
                                        timeouts: {idle: 1h, halfClosed: 1m}
                                upstreams:
                                  - {name: app, endpoints: [{host: 127.0.0.1, port: 9000}], sendProxyProtocol: v2}
                                """
                                        .formatted(written))
                        .problems())
                .singleElement()
                .asString()
                .endsWith(message);
    }

    private static final String APP = "{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}";

    private static List<String> ofRule(String more) {
        return problems(", " + more, APP, "");
    }

    private static List<String> ofUpstream(String more) {
        return problems("", APP.substring(0, APP.length() - 1) + ", " + more + "}", "");
    }

    private static List<String> problems(String rule, String upstream, String more) {
        return ConfigLoader.parse(
                        """
                        listeners: [{name: web, address: 127.0.0.1, port: 8080, protocol: HTTP}]
                        routes: [{rules: [{backendRefs: [{name: app}]%s}]}]
                        upstreams: [%s]
                        %s
                        """
                                .formatted(rule, upstream, more))
                .problems()
                .stream()
                .map(Object::toString)
                .toList();
    }
}
