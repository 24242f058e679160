package dev.gateway.filter.basicauth;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.Challenges;
import dev.gateway.filter.auth.Credentials;
import dev.gateway.filter.auth.Login;
import dev.gateway.filter.auth.LoginServices;
import dev.gateway.filter.auth.UserAccounts;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;

/**
 * Basic authentication (RFC 7617): lets only those use a route who show a name and a password of a file. Passwords are hashed
 * on other threads. Unless they are forwarded, credentials are taken out of the head at once, right or wrong. Shared by all
 * event loops.
 */
public final class BasicAuth implements Filter {
    private final LoginServices services;
    private final boolean forward;

    /**
     * Makes the filter.
     *
     * @param realm name that the client shows to its user
     * @param forward whether the upstream gets the credentials
     */
    public BasicAuth(UserAccounts accounts, String realm, boolean forward) {
        this.services = accounts.services(Challenges.basic(realm));
        this.forward = forward;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = head.fields();
        int at = fields.find(FieldName.AUTHORIZATION, 0);
        if (at < 0) {
            return services.challenges().refuse("no credentials");
        }
        AsciiString value = fields.value(at);
        boolean several = fields.find(FieldName.AUTHORIZATION, at + 1) >= 0;
        Credentials shown = several ? null : Credentials.parse(value);
        if (!forward) {
            fields.remove(FieldName.AUTHORIZATION);
        }
        if (shown == null || shown.scheme() != Credentials.Scheme.BASIC) {
            return services.challenges().refuse("credentials of a kind that is not accepted, or malformed");
        }
        return new Login(services, shown, context).begin();
    }
}
