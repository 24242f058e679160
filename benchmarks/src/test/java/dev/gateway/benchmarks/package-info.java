/**
 * Benchmarks of single steps of the data path (JMH); those of steps that their package keeps to itself are in a package
 * of that name beside this one. The script {@code pieces} runs them, all or some, with what they allocate.
 */
@NullMarked
package dev.gateway.benchmarks;

import org.jspecify.annotations.NullMarked;
