/** Formats of keys and certificates: PEM, private keys, JSON Web Keys, and identities in certificates. */
@NullMarked
package dev.gateway.format.crypto;

import org.jspecify.annotations.NullMarked;
