/**
 * Reads files, and says in words what is wrong with one, and why the gateway cannot start. Knows nobody; used by all that read
 * or write files.
 */
@NullMarked
package dev.gateway.files;

import org.jspecify.annotations.NullMarked;
