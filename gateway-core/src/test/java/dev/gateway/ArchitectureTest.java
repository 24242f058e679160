package dev.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Arrays;

/** The package rules of CONTRIBUTING.md, executable: who may know whom, and what the data plane does without. */
@AnalyzeClasses(packages = "dev.gateway", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String[] DATA_PLANE = {
        "message", "trace", "stream", "time", "http1", "http2", "tcp", "socks", "exchange", "health"
    };

    @ArchTest
    static final ArchRule messageKnowsNobody = mayUse("message");

    @ArchTest
    static final ArchRule traceUses = mayUse("trace", "message");

    @ArchTest
    static final ArchRule timeKnowsNobody = mayUse("time");

    @ArchTest
    static final ArchRule overloadKnowsNobody = mayUse("overload");

    @ArchTest
    static final ArchRule streamUses = mayUse("stream", "message", "overload");

    @ArchTest
    static final ArchRule netUses = mayUse("net", "files", "stream", "message", "time", "overload", "pem");

    @ArchTest
    static final ArchRule upstreamUses = mayUse("upstream", "message", "stream", "overload");

    @ArchTest
    static final ArchRule healthUses = mayUse("health", "message", "stream", "time", "upstream");

    @ArchTest
    static final ArchRule filterUses = mayUse("filter", "files", "message", "stream");

    @ArchTest
    static final ArchRule tunnelUses = mayUse("tunnel", "message", "stream", "net", "upstream", "filter");

    @ArchTest
    static final ArchRule observeUses = mayUse("observe", "files", "message", "stream", "time", "trace", "overload");

    @ArchTest
    static final ArchRule otlpUses = mayUse("otlp", "observe", "trace", "message", "stream", "time");

    @ArchTest
    static final ArchRule routeUses = mayUse("route", "message", "stream", "upstream", "filter", "observe");

    @ArchTest
    static final ArchRule http1Uses = mayUse("http1", "message", "stream", "net", "time", "overload");

    @ArchTest
    static final ArchRule http2Uses = mayUse("http2", "message", "stream", "net", "time", "overload");

    @ArchTest
    static final ArchRule tcpUses = mayUse("tcp", "message", "stream", "net", "time");

    @ArchTest
    static final ArchRule socksUses = mayUse("socks", "stream", "net");

    @ArchTest
    static final ArchRule poolUses =
            mayUse("pool", "http1", "http2", "tcp", "socks", "net", "upstream", "stream", "message", "time");

    @ArchTest
    static final ArchRule listenerUses =
            mayUse("listener", "http1", "http2", "tcp", "net", "message", "stream", "time", "overload");

    @ArchTest
    static final ArchRule exchangeUses = mayUse(
            "exchange", "route", "filter", "upstream", "observe", "trace", "stream", "message", "time", "overload");

    @ArchTest
    static final ArchRule adminUses = mayUse("admin", "files", "observe", "upstream", "stream", "message");

    @ArchTest
    static final ArchRule demoUsesNothingOfOurs = mayUse("demo", "config");

    @ArchTest
    static final ArchRule onlyTheRootSeesConfiguration = noClasses()
            .that()
            .resideInAnyPackage(packages(
                    "message",
                    "overload",
                    "stream",
                    "time",
                    "net",
                    "upstream",
                    "health",
                    "filter",
                    "tunnel",
                    "observe",
                    "otlp",
                    "trace",
                    "route",
                    "http1",
                    "http2",
                    "tcp",
                    "socks",
                    "pool",
                    "listener",
                    "exchange",
                    "admin"))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.gateway.config..")
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
    static final ArchRule noVolatileInTheDataPlane = fields().that()
            .areDeclaredInClassesThat()
            .resideInAnyPackage(packages(DATA_PLANE))
            .should()
            .notHaveModifier(JavaModifier.VOLATILE);

    @ArchTest
    static final ArchRule noLocksInTheDataPlane = noClasses()
            .that()
            .resideInAnyPackage(packages(DATA_PLANE))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.concurrent.atomic", "java.util.concurrent.locks");

    @ArchTest
    static final ArchRule noCycles =
            slices().matching("dev.gateway.(*)..").should().beFreeOfCycles();

    private static ArchRule mayUse(String name, String... others) {
        String[] allowed = Arrays.copyOf(packages(others), others.length + 1);
        allowed[others.length] = "dev.gateway." + name + "..";
        return noClasses()
                .that()
                .resideInAPackage("dev.gateway." + name + "..")
                .should()
                .dependOnClassesThat(DescribedPredicate.and(
                        JavaClass.Predicates.resideInAPackage("dev.gateway.."),
                        DescribedPredicate.not(JavaClass.Predicates.resideInAnyPackage(allowed))))
                .allowEmptyShould(true);
    }

    private static String[] packages(String... names) {
        return Arrays.stream(names).map(name -> "dev.gateway." + name + "..").toArray(String[]::new);
    }
}
