/** Filter RequestRedirect: answers with another URL. */
@NullMarked
package dev.gateway.filter.redirect;

import org.jspecify.annotations.NullMarked;
