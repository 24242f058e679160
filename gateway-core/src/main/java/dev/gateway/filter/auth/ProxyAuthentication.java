package dev.gateway.filter.auth;

import dev.gateway.config.ConnectConfig;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.certificate.CommonName;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Proxy authentication: has clients prove who they are before they use this gateway as a proxy (RFC 9110, section 11.7).
 * Credentials that are shown are taken out of the head at once, right or wrong, and those decide; a client certificate
 * counts where none are shown. Passwords are hashed on other threads. Shared by all event loops.
 */
public final class ProxyAuthentication implements Filter {
    private static final int MOST_WRONG = 1_000;

    private final ConnectConfig.Auth settings;
    private final LoginServices services;

    /**
     * Makes the filter, and reads its files.
     *
     * @param memory is charged for the passwords that are remembered
     * @throws AuthFileException if one cannot be read
     */
    public ProxyAuthentication(ConnectConfig.Auth settings, AuthWork work, CacheMemory memory)
            throws AuthFileException {
        this(settings, work, memory, System::nanoTime);
    }

    ProxyAuthentication(ConnectConfig.Auth settings, AuthWork work, CacheMemory memory, LongSupplier nanoClock)
            throws AuthFileException {
        this.settings = settings;
        VerifiedCredentials<Identity> verified = new VerifiedCredentials<>(nanoClock, memory);
        AccountFiles files = new AccountFiles(
                settings.usersFile(), settings.groupsFile(), settings.tokensFile(), verified, nanoClock);
        VerifiedCredentials<Identity> wrong = new VerifiedCredentials<>(nanoClock, memory, MOST_WRONG);
        this.services = new LoginServices(
                files,
                settings.usersFile() == null ? verified : settings.usersFile(),
                work,
                verified,
                wrong,
                new PasswordChecks(work, verified, wrong),
                new Challenges(settings.realm(), settings.usersFile() != null, settings.tokensFile() != null));
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
            return services.challenges().refuse("credentials of a kind that is not accepted, or malformed");
        }
        return new Login(services, shown, context).begin();
    }

    private boolean offers(Credentials.Scheme scheme) {
        return (scheme == Credentials.Scheme.BASIC ? settings.usersFile() : settings.tokensFile()) != null;
    }

    private Verdict certificate(FilterContext context) {
        ConnectionInfo.TlsInfo tls = context.connection().tls();
        String name = settings.clientCertificate() && tls != null && tls.clientSubject() != null
                ? CommonName.of(tls.clientSubject())
                : null;
        if (name == null) {
            return services.challenges().refuse("no credentials");
        }
        return new Login(services, Credentials.certificate(name), context).begin();
    }

    /** Looks at the files, unless somebody just did. Blocks; not for event loops. */
    public void refresh() {
        services.verified().tidy(); // first, since files may be slow
        services.wrong().tidy();
        services.files().refresh();
    }

    /** The active configuration does not have it any more: it remembers nothing. */
    public void end() {
        services.verified().end();
        services.wrong().end();
    }

    /** Returns what is wrong with the files, one list of lines for each file that something is wrong with. */
    public List<List<String>> problems() {
        return services.files().problems();
    }

    VerifiedCredentials<Identity> verified() {
        return services.verified();
    }
}
