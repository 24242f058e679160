/**
 * Benchmarks of single steps of the data path (JMH). To run one, after {@code mvn install -DskipTests}:
 *
 * <pre>
 * mvn -q -pl gateway-tests exec:java -Dexec.classpathScope=test \
 *     -Dexec.mainClass=org.openjdk.jmh.Main -Dexec.args="RouteBenchmark -f 0 -prof gc"
 * </pre>
 *
 * {@code -f 0} stays in Maven's JVM, which is good enough for ratios; for figures to publish, run the main class with
 * {@code -f 1} on the class path that {@code mvn dependency:build-classpath} prints.
 */
@NullMarked
package dev.gateway.tests.jmh;

import org.jspecify.annotations.NullMarked;
