/** Who a client is: credentials that it shows to this gateway, and the files that they are checked against. */
@NullMarked
package dev.gateway.filter.auth;

import org.jspecify.annotations.NullMarked;
