/** What the tests of all modules share. */
@NullMarked
package dev.gateway.testing;

import org.jspecify.annotations.NullMarked;
