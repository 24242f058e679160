/**
 * The log of a process that is the gateway's own, by Logback. Only the command line uses it: a program that embeds the
 * gateway logs by what it has, and may lack Logback.
 */
@NullMarked
package dev.gateway.runtime.process.log;

import org.jspecify.annotations.NullMarked;
