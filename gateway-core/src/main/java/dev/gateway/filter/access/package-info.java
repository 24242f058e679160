/** Who may use a route, by what a request itself shows: its client's address, or the page that sends it. */
@NullMarked
package dev.gateway.filter.access;

import org.jspecify.annotations.NullMarked;
