/** Filter JWT: requests show a signed token, whose issuer's keys are in a file or come from a server. */
@NullMarked
package dev.gateway.filter.jwt;

import org.jspecify.annotations.NullMarked;
