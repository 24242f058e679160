package dev.gateway.admin;

import java.util.concurrent.CompletableFuture;

/**
 * A page of the admin listener.
 *
 * @param path where it is; with a slash at its end, of all that is below
 * @param acts whether it is an action, requested by POST; otherwise a page, requested by GET
 * @param listed whether the page of pages has it
 */
record Page(String path, boolean acts, boolean listed, Answer answer) {
    /** What makes the answer, which need not be there at once. */
    interface Answer {
        CompletableFuture<AdminResponse> to(AdminRequest asked);
    }
}
