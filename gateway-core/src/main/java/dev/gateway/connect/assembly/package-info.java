/** Makes the entries of the connect section of their configuration: rules, a route and upstreams. */
@NullMarked
package dev.gateway.connect.assembly;

import org.jspecify.annotations.NullMarked;
