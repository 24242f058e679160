package dev.gateway.filter.auth;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Has clients prove who they are before they use this gateway as a proxy (RFC 9110, section 11.7). Credentials that are
 * shown are taken out of the head at once, right or wrong, and those decide; a client certificate counts where none are
 * shown. Passwords are hashed on other threads. Shared by all event loops.
 */
public final class ProxyAuthentication implements Filter {
    private static final int MOST_WRONG = 1_000;

    private final Settings settings;
    private final AccountFiles files;
    private final AuthWork work;
    private final VerifiedCredentials verified;
    private final VerifiedCredentials wrong; // by the digests of the others
    private final PasswordChecks checks;
    private final AsciiString[] challenges;

    /**
     * How clients may prove who they are; at least one way.
     *
     * @param realm what is asked for, for people
     * @param usersFile for Basic, lines as htpasswd writes them; null if it is not offered
     * @param groupsFile lines of a group, a colon, and its members by name, however they prove who they are; or null
     * @param tokensFile for Bearer, lines of an identity, a colon and its token; null if it is not offered
     * @param clientCertificate whether a client certificate's common name is an identity
     */
    public record Settings(
            String realm,
            @Nullable Path usersFile,
            @Nullable Path groupsFile,
            @Nullable Path tokensFile,
            boolean clientCertificate) {}

    /**
     * Makes the filter, and reads its files.
     *
     * @throws AuthFileException if one cannot be read
     */
    public ProxyAuthentication(Settings settings, AuthWork work) throws AuthFileException {
        this(settings, work, System::nanoTime);
    }

    ProxyAuthentication(Settings settings, AuthWork work, LongSupplier nanoClock) throws AuthFileException {
        this.settings = settings;
        this.work = work;
        this.files = new AccountFiles(settings, nanoClock);
        this.verified = new VerifiedCredentials(nanoClock);
        this.wrong = new VerifiedCredentials(nanoClock, MOST_WRONG);
        this.checks = new PasswordChecks(work, verified, wrong);
        String realm = "realm=\"" + settings.realm.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
        AsciiString basic = new AsciiString("Basic " + realm + ", charset=\"UTF-8\"");
        AsciiString bearer = new AsciiString("Bearer " + realm);
        this.challenges = settings.usersFile == null
                ? settings.tokensFile == null ? new AsciiString[0] : new AsciiString[] {bearer}
                : settings.tokensFile == null ? new AsciiString[] {basic} : new AsciiString[] {basic, bearer};
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = head.fields();
        int at = fields.find(FieldName.PROXY_AUTHORIZATION, 0);
        if (at < 0) {
            return certificate(context);
        }
        AsciiString value = fields.value(at);
        boolean several = fields.find(FieldName.PROXY_AUTHORIZATION, at + 1) >= 0;
        fields.remove(FieldName.PROXY_AUTHORIZATION);
        Credentials shown = several ? null : Credentials.parse(value);
        if (shown == null || !offers(shown.scheme())) {
            return refuse("credentials of a kind that is not accepted, or malformed");
        }
        return new Login(this, shown, context).begin();
    }

    private boolean offers(Credentials.Scheme scheme) {
        return (scheme == Credentials.Scheme.BASIC ? settings.usersFile : settings.tokensFile) != null;
    }

    private Verdict certificate(FilterContext context) {
        ConnectionInfo.TlsInfo tls = context.connection().tls();
        String name = settings.clientCertificate && tls != null && tls.clientSubject() != null
                ? CommonName.of(tls.clientSubject())
                : null;
        if (name == null) {
            return refuse("no credentials");
        }
        return new Login(this, Credentials.certificate(name), context).begin();
    }

    Verdict accept(Identity identity, FilterContext context) {
        context.setIdentity(identity);
        return Verdict.PROCEED;
    }

    Verdict refuse(String why) {
        if (challenges.length == 0) {
            // Nothing to ask for: a 407 has to name a scheme (RFC 9110, section 15.5.8).
            return new Verdict.Refuse(Failure.of(Cause.PROXY_AUTH, 403, "no client certificate"));
        }
        Fields fields = new Fields();
        for (AsciiString challenge : challenges) {
            fields.add(FieldName.PROXY_AUTHENTICATE, challenge);
        }
        return new Verdict.Refuse(Failure.of(Cause.PROXY_AUTH, why), fields);
    }

    /** Looks at the files, unless somebody just did. Blocks; not for event loops. */
    public void refresh() {
        files.refresh();
    }

    /** Returns what is wrong with the files, one list of lines for each file that something is wrong with. */
    public List<List<String>> problems() {
        return files.problems();
    }

    AccountFiles files() {
        return files;
    }

    VerifiedCredentials verified() {
        return verified;
    }

    /** Returns which passwords were wrong: who goes on showing one costs nothing more, and counts once. */
    VerifiedCredentials wrong() {
        return wrong;
    }

    PasswordChecks checks() {
        return checks;
    }

    AuthWork work() {
        return work;
    }
}
