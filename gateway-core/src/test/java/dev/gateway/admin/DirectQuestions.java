package dev.gateway.admin;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** Asks pages as a client on this machine does, but without a connection. */
public final class DirectQuestions {
    private static final AdminAccess ACCESS = new AdminAccess(null, AdminAccess.Reach.MACHINE);

    private DirectQuestions() {}

    /** Returns a page. */
    public static AdminResponse get(AdminPages pages, String pathAndQuery) {
        return ask(pages, Method.GET, pathAndQuery).join();
    }

    /** Has something done. */
    public static AdminResponse post(AdminPages pages, String pathAndQuery) {
        return ask(pages, Method.POST, pathAndQuery).join();
    }

    private static CompletableFuture<AdminResponse> ask(AdminPages pages, Method method, String pathAndQuery) {
        Fields fields = new Fields();
        fields.add(AdminToken.REQUESTED_BY, new AsciiString("a test"));
        RequestHead head = new RequestHead(
                method,
                new AsciiString("http"),
                new AsciiString("localhost"),
                new AsciiString(pathAndQuery),
                fields,
                0);
        String path = head.path().toString(0, head.queryStart());
        Page page = Objects.requireNonNull(pages.find(path, method.equals(Method.POST)), path);
        String rest = path.substring(page.path().length());
        return page.answer().to(new AdminRequest(head, ACCESS, Query.decode(rest)));
    }
}
