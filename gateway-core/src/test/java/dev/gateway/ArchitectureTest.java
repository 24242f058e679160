package dev.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The package rules of ARCHITECTURE.md, executable: who may know whom, and what the data plane does without. */
@AnalyzeClasses(packages = "dev.gateway", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String[] DATA_PLANE = {
        "message",
        "observe.trace",
        "stream",
        "time",
        "protocol.http1",
        "protocol.http2",
        "protocol.tcp",
        "protocol.socks",
        "exchange",
        "upstream.health",
        "message.grpc"
    };

    /** Packages that are inside another one and have a rule of their own. */
    private static final Set<String> RULED_INSIDE = Set.of(
            "upstream.health",
            "upstream.pool",
            "upstream.discovery",
            "filter.jwt.jwks",
            "filter.ratelimit.redis",
            "observe.otlp",
            "observe.trace",
            "exchange.route",
            "runtime.assembly",
            "connect.assembly",
            "exchange.route.assembly",
            "upstream.assembly",
            "filter.assembly",
            "listener.assembly",
            "runtime.process",
            "config.yaml",
            "status.explain",
            "message.grpc");

    /**
     * Who may ask for the time of day, which may be set forward and back at any time. Whatever takes a time, or is to
     * happen after one, goes by {@code System.nanoTime}.
     */
    private static final Set<String> MAY_ASK_FOR_THE_TIME_OF_DAY = Set.of(
            // They write down when something happened, and keep nothing that depends on it.
            "dev.gateway.runtime.process.log.ProcessLog",
            "dev.gateway.runtime.Reloads",
            "dev.gateway.observe.counts.Histogram", // of an exemplar
            "dev.gateway.observe.metrics.LastMinutes",
            "dev.gateway.observe.metrics.Metrics",
            "dev.gateway.observe.metrics.StatisticsDocument",
            "dev.gateway.observe.accesslog.SyslogDestination",
            "dev.gateway.observe.otlp.OtlpMetrics", // no earlier than the start, if the clock was set back since
            // They write it into each record and each Date, and notice that it has gone back.
            "dev.gateway.exchange.LoopServices",
            "dev.gateway.time.TimerWheel",
            // Certificates end by it.
            "dev.gateway.observe.metrics.Attention",
            "dev.gateway.runtime.CertificateReload",
            "dev.gateway.config.yaml.ConfigLoader",
            "dev.gateway.net.tls.ClientCertificates",
            "dev.gateway.net.tls.PathSearch",
            "dev.gateway.net.tls.SelfSigned",
            // Sessions end by it, at all replicas and after a restart.
            "dev.gateway.upstream.assembly.SessionAssembly",
            "dev.gateway.runtime.SavedDrains",
            // It tells auth servers when a request came.
            "dev.gateway.filter.externalauth.ExternalAuthFeature",
            // Tokens begin and end by it.
            "dev.gateway.filter.jwt.JwtFeature",
            // It compares the age of a file, and takes one from the future for young.
            "dev.gateway.files.FileStamp");

    @ArchTest
    static final ArchRule fewAskForTheTimeOfDay = noClasses()
            .that(DescribedPredicate.describe(
                    "are not listed here",
                    (JavaClass each) ->
                            !MAY_ASK_FOR_THE_TIME_OF_DAY.contains(each.getName().replaceFirst("\\$.*", ""))))
            .should()
            .accessTargetWhere(DescribedPredicate.describe(
                    "it tells the time of day", (JavaAccess<?> access) -> tellsTheTimeOfDay(access.getTarget())));

    @ArchTest
    static final ArchRule whoIsListedAsksForTheTimeOfDay = classes()
            .that(DescribedPredicate.describe(
                    "are listed here", (JavaClass each) -> MAY_ASK_FOR_THE_TIME_OF_DAY.contains(each.getName())))
            .should(ArchCondition.from(DescribedPredicate.describe(
                    "ask for it, or leave the list", (JavaClass each) -> Stream.concat(Stream.of(each), nested(each))
                            .flatMap(asking -> asking.getAccessesFromSelf().stream())
                            .anyMatch(access -> tellsTheTimeOfDay(access.getTarget())))));

    private static Stream<JavaClass> nested(JavaClass outer) {
        return outer.getPackage().getClasses().stream()
                .filter(each -> each.getName().startsWith(outer.getName() + "$"));
    }

    private static boolean tellsTheTimeOfDay(AccessTarget target) {
        String name = target.getName();
        return switch (target.getOwner().getName()) {
            case "java.lang.System" -> name.equals("currentTimeMillis");
            case "java.time.Clock" -> name.startsWith("system") || name.startsWith("tick");
            case "java.util.Date" -> name.equals("<init>") && parameters(target) == 0;
            case "java.util.Calendar" -> name.equals("getInstance");
            case "java.security.cert.X509Certificate" -> name.equals("checkValidity") && parameters(target) == 0;
            default -> target.getOwner().getPackageName().equals("java.time") && name.equals("now");
        };
    }

    private static int parameters(AccessTarget target) {
        return target instanceof AccessTarget.CodeUnitAccessTarget unit
                ? unit.getRawParameterTypes().size()
                : 0;
    }

    @ArchTest
    static final ArchRule filesKnowNobody = mayUse("files");

    @ArchTest
    static final ArchRule formatKnowsNobody = mayUse("format");

    @ArchTest
    static final ArchRule pluginKnowsNobody = mayUse("plugin");

    @ArchTest
    static final ArchRule messageUses = mayUse("message", "config");

    @ArchTest
    static final ArchRule grpcUses = mayUse("message.grpc", "message");

    @ArchTest
    static final ArchRule traceUses = mayUse("observe.trace", "config", "message");

    @ArchTest
    static final ArchRule timeKnowsNobody = mayUse("time");

    @ArchTest
    static final ArchRule overloadUses = mayUse("overload", "config", "format");

    @ArchTest
    static final ArchRule streamUses = mayUse("stream", "format", "message", "overload");

    @ArchTest
    static final ArchRule netUses = mayUse("net", "config", "files", "format", "stream", "message", "time", "overload");

    @ArchTest
    static final ArchRule upstreamUses =
            mayUse("upstream", "config", "config.yaml", "format", "message", "stream", "overload");

    @ArchTest
    static final ArchRule healthUses =
            mayUse("upstream.health", "config", "format", "message.grpc", "message", "stream", "time", "upstream");

    @ArchTest
    static final ArchRule jwksUses =
            mayUse("filter.jwt.jwks", "format", "upstream.health", "message", "stream", "time", "upstream");

    @ArchTest
    static final ArchRule filterUses = mayUse(
            "filter",
            "config",
            "config.yaml",
            "files",
            "format",
            "message.grpc",
            "message",
            "observe",
            "plugin",
            "stream",
            "upstream",
            "filter.jwt.jwks",
            "overload");

    @ArchTest
    static final ArchRule connectUses =
            mayUse("connect", "config", "format", "message", "stream", "net", "upstream", "filter", "overload");

    @ArchTest
    static final ArchRule observeUses =
            mayUse("observe", "config", "files", "format", "message", "stream", "time", "observe.trace", "overload");

    @ArchTest
    static final ArchRule otlpUses = mayUse(
            "observe.otlp", "observe", "observe.trace", "message", "stream", "time", "upstream.health", "upstream");

    /** An update of OpenTelemetry may break what is internal to it; then one class is to be mended. */
    @ArchTest
    static final ArchRule oneClassUsesInternalsOfOpenTelemetry = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.gateway.observe.otlp.MetricDataFactory")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.opentelemetry..internal..");

    @ArchTest
    static final ArchRule routeUses =
            mayUse("exchange.route", "config", "format", "message", "stream", "upstream", "filter", "observe");

    @ArchTest
    static final ArchRule http1Uses = mayUse("protocol.http1", "message", "stream", "net", "time", "overload");

    @ArchTest
    static final ArchRule http2Uses = mayUse("protocol.http2", "message", "stream", "net", "time", "overload");

    @ArchTest
    static final ArchRule tcpUses = mayUse("protocol.tcp", "message", "stream", "net", "time");

    @ArchTest
    static final ArchRule socksUses = mayUse("protocol.socks", "format", "stream", "net");

    @ArchTest
    static final ArchRule poolUses = mayUse(
            "upstream.pool",
            "config",
            "format",
            "protocol.http1",
            "protocol.http2",
            "protocol.tcp",
            "protocol.socks",
            "net",
            "upstream",
            "overload",
            "stream",
            "message",
            "time");

    @ArchTest
    static final ArchRule discoveryUses = mayUse(
            "upstream.discovery",
            "config",
            "config.yaml",
            "files",
            "net",
            "stream",
            "message",
            "upstream",
            "upstream.pool");

    @ArchTest
    static final ArchRule redisUses = mayUse("filter.ratelimit.redis", "config", "files", "filter", "net", "observe");

    @ArchTest
    static final ArchRule listenerUses = mayUse(
            "listener",
            "protocol.http1",
            "protocol.http2",
            "protocol.tcp",
            "net",
            "message",
            "stream",
            "time",
            "overload");

    @ArchTest
    static final ArchRule exchangeUses = mayUse(
            "exchange",
            "config",
            "files",
            "format",
            "exchange.route",
            "filter",
            "upstream",
            "observe",
            "observe.trace",
            "stream",
            "message",
            "time",
            "overload");

    @ArchTest
    static final ArchRule checksOfRequestsAreUsedBy = onlyUsedBy("exchange.request", "exchange");

    @ArchTest
    static final ArchRule repliesAreUsedBy = onlyUsedBy("exchange.reply", "exchange");

    @ArchTest
    static final ArchRule decisionsAboutAttemptsAreUsedBy = onlyUsedBy("exchange.attempt", "exchange");

    @ArchTest
    static final ArchRule bodiesAreUsedBy = onlyUsedBy("exchange.body", "exchange");

    @ArchTest
    static final ArchRule listenerAssemblyUses = mayUse(
            "listener.assembly",
            "config",
            "files",
            "filter",
            "format",
            "listener",
            "net",
            "protocol.http1",
            "protocol.http2",
            "protocol.tcp");

    @ArchTest
    static final ArchRule filterAssemblyUses = mayUse("filter.assembly", "config", "config.yaml", "filter", "plugin");

    @ArchTest
    static final ArchRule upstreamAssemblyUses = mayUse(
            "upstream.assembly",
            "config",
            "config.yaml",
            "files",
            "filter",
            "format",
            "upstream",
            "upstream.discovery");

    @ArchTest
    static final ArchRule routeAssemblyUses = mayUse(
            "exchange.route.assembly",
            "config",
            "config.yaml",
            "exchange.route",
            "files",
            "filter",
            "filter.assembly",
            "format",
            "message",
            "observe",
            "stream",
            "upstream");

    @ArchTest
    static final ArchRule connectAssemblyUses = mayUse(
            "connect.assembly",
            "config",
            "connect",
            "exchange.route",
            "exchange.route.assembly",
            "files",
            "filter",
            "filter.jwt.jwks",
            "format",
            "message",
            "observe",
            "overload",
            "stream",
            "upstream",
            "upstream.assembly");

    @ArchTest
    static final ArchRule assemblyJoins = mayUse(
            "runtime.assembly",
            "config",
            "connect.assembly",
            "exchange",
            "exchange.route",
            "exchange.route.assembly",
            "files",
            "filter",
            "observe",
            "observe.trace",
            "upstream",
            "upstream.assembly");

    @ArchTest
    static final ArchRule adminUses =
            mayUse("admin", "config", "files", "format", "observe", "upstream", "stream", "message");

    /** Above the data plane all leads one way: the command line, the gateway, what it shows, what runs, its assembly. */
    @ArchTest
    static final ArchRule theCommandLineIsUsedByNobody = onlyUsedBy("cli");

    @ArchTest
    static final ArchRule statusIsUsedByTheGateway = onlyUsedBy("status", "");

    @ArchTest
    static final ArchRule explainIsUsedBy = onlyUsedBy("status.explain", "status", "cli");

    @ArchTest
    static final ArchRule runtimeIsUsedBy = onlyUsedBy("runtime", "", "status", "cli");

    @ArchTest
    static final ArchRule assembliesAreUsedBy = classes()
            .that()
            .resideInAPackage("dev.gateway..assembly..")
            .should()
            .onlyBeAccessed()
            .byAnyPackage("dev.gateway..assembly..", "dev.gateway.runtime..", "dev.gateway.status..", "dev.gateway");

    @ArchTest
    static final ArchRule processUses = mayUse("runtime.process", "files", "net", "format");

    /** A program that embeds the gateway may lack Logback and picocli: they are optional in the POM. */
    @ArchTest
    static final ArchRule logbackIsKnownToTheOwnLogAlone = knownOnlyTo("ch.qos.logback", "runtime.process.log");

    @ArchTest
    static final ArchRule picocliIsKnownToTheCommandLineAlone = knownOnlyTo("picocli", "cli");

    /** It is optional, too: a program needs it for the filter JWT only. */
    @ArchTest
    static final ArchRule joseIsKnownToTwoClasses = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.gateway.filter.jwt.JwtVerifier")
            .and()
            .doNotHaveFullyQualifiedName("dev.gateway.format.crypto.JwkParser")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.jose4j..");

    /** So is Lettuce, which only stores need, and what it needs. */
    @ArchTest
    static final ArchRule lettuceIsKnownToItsOwnClasses = noClasses()
            .that()
            .haveNameNotMatching("dev\\.gateway\\.filter\\.ratelimit\\.redis\\.Lettuce.*")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.lettuce..", "reactor..");

    /** They are optional, too: for the codings br and zstd. */
    @ArchTest
    static final ArchRule librariesOfCodingsAreKnownToFewClasses = noClasses()
            .that()
            .haveNameNotMatching(
                    "dev\\.gateway\\.filter\\.(coding|compression|decompression)\\.(CodecLibraries|Brotli.*|Zstd.*)")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("com.aayushatharva..", "com.github.luben..");

    @ArchTest
    static final ArchRule theOwnLogIsUsedByTheCommandLine = onlyUsedBy("runtime.process.log", "cli");

    /** A program that embeds the gateway decides itself what happens at its end, and to threads that fail. */
    @ArchTest
    static final ArchRule onlyTheCommandLineChangesTheProcess = noClasses()
            .that()
            .resideOutsideOfPackage("dev.gateway.cli..")
            .should()
            .callMethod(Runtime.class, "addShutdownHook", Thread.class)
            .orShould()
            .callMethod(System.class, "exit", int.class)
            .orShould()
            .callMethod(Thread.class, "setDefaultUncaughtExceptionHandler", Thread.UncaughtExceptionHandler.class);

    @ArchTest
    static final ArchRule demoUsesNothingOfOurs = mayUse("demo", "config");

    /** It takes values of the configuration. Only filters, balancers and sources of endpoints know how theirs are written. */
    @ArchTest
    static final ArchRule theDataPlaneReadsNoConfiguration = noClasses()
            .that()
            .resideInAnyPackage(packages(
                    "message",
                    "message.grpc",
                    "overload",
                    "stream",
                    "time",
                    "net",
                    "upstream",
                    "upstream.health",
                    "filter.jwt.jwks",
                    "connect",
                    "observe",
                    "observe.otlp",
                    "observe.trace",
                    "exchange.route",
                    "protocol.http1",
                    "protocol.http2",
                    "protocol.tcp",
                    "protocol.socks",
                    "upstream.pool",
                    "filter.ratelimit.redis",
                    "listener",
                    "exchange",
                    "admin"))
            .and()
            .resideOutsideOfPackages(
                    "dev.gateway..assembly..",
                    "dev.gateway.filter.ratelimit.redis..",
                    "dev.gateway.upstream.balancer..",
                    "dev.gateway.upstream.discovery..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.gateway.config.yaml..", "dev.gateway.config.file..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule exchangeKnowsNoChannel = noClasses()
            .that()
            .resideInAPackage("dev.gateway.exchange..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty.channel..", "io.netty.handler..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule noVolatileInTheDataPlane =
            fields().that().areDeclaredInClassesThat(in(DATA_PLANE)).should().notHaveModifier(JavaModifier.VOLATILE);

    @ArchTest
    static final ArchRule noLocksInTheDataPlane = noClasses()
            .that(in(DATA_PLANE))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.concurrent.atomic", "java.util.concurrent.locks");

    /** It takes bytes above 127 for white space; {@code Ascii.trim} does not. */
    @ArchTest
    static final ArchRule nobodyLetsNettyTrim = noClasses()
            .should()
            .callMethod(AsciiString.class, "trim")
            .orShould()
            .callMethod(AsciiString.class, "trim", CharSequence.class);

    @ArchTest
    static final ArchRule noCycles =
            slices().matching("dev.gateway.(**)").should().beFreeOfCycles();

    /** Who searches for a class by its name finds one. */
    @ArchTest
    static void noNameStandsTwice(JavaClasses classes) {
        Map<String, Long> names = classes.stream()
                .filter(JavaClass::isTopLevelClass)
                .map(JavaClass::getSimpleName)
                .filter(name -> !name.equals("package-info"))
                .collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
        names.values().removeIf(count -> count == 1);
        assertThat(names).isEmpty();
    }

    /** Tools and readers take such a class for a test. */
    @ArchTest
    static final ArchRule noNameIsThatOfATest = noClasses().should().haveSimpleNameEndingWith("Test");

    /** The packages that may use it; "" is that of {@code Gateway}. */
    private static ArchRule onlyUsedBy(String name, String... users) {
        DescribedPredicate<JavaClass> allowed = DescribedPredicate.or(
                Stream.concat(Stream.of(name), Arrays.stream(users).filter(each -> !each.isEmpty()))
                        .map(ArchitectureTest::in)
                        .toList());
        if (Arrays.asList(users).contains("")) {
            allowed = DescribedPredicate.or(allowed, JavaClass.Predicates.resideInAPackage("dev.gateway"));
        }
        return classes().that(in(name)).should().onlyBeAccessed().byClassesThat(allowed);
    }

    private static ArchRule knownOnlyTo(String library, String name) {
        return noClasses()
                .that()
                .resideOutsideOfPackage("dev.gateway." + name + "..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(library + "..");
    }

    private static ArchRule mayUse(String name, String... others) {
        String[] allowed = Arrays.copyOf(others, others.length + 1);
        allowed[others.length] = name;
        return noClasses()
                .that(in(name))
                .should()
                .dependOnClassesThat(DescribedPredicate.and(
                        JavaClass.Predicates.resideInAPackage("dev.gateway.."), DescribedPredicate.not(in(allowed))))
                .allowEmptyShould(true);
    }

    /** The packages and those inside them, but for those that have a rule of their own. */
    private static DescribedPredicate<JavaClass> in(String... names) {
        return DescribedPredicate.or(
                Arrays.stream(names).map(ArchitectureTest::inOne).toList());
    }

    private static DescribedPredicate<JavaClass> inOne(String name) {
        String[] others = RULED_INSIDE.stream()
                .filter(each -> each.startsWith(name + "."))
                .toArray(String[]::new);
        return DescribedPredicate.and(
                JavaClass.Predicates.resideInAPackage("dev.gateway." + name + ".."),
                DescribedPredicate.not(JavaClass.Predicates.resideInAnyPackage(packages(others))));
    }

    private static String[] packages(String... names) {
        return Arrays.stream(names).map(name -> "dev.gateway." + name + "..").toArray(String[]::new);
    }
}
