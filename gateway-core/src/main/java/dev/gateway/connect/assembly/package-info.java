/** Makes the entries of the section connect from the configuration: rules, a route and upstreams. */
@NullMarked
package dev.gateway.connect.assembly;

import org.jspecify.annotations.NullMarked;
