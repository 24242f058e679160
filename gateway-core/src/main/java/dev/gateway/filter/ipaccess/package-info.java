/** Filter IPAccess: which client addresses may use a route, or a listener. */
@NullMarked
package dev.gateway.filter.ipaccess;

import org.jspecify.annotations.NullMarked;
