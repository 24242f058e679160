package dev.gateway.filter.certificate;

import dev.gateway.stream.Identity;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/** Finds the common name in the subject of a certificate. */
public final class CommonName {
    private CommonName() {}

    /** Returns the most exact common name of a distinguished name (RFC 2253); null if it has none that can be shown as it is. */
    public static @Nullable String of(String distinguishedName) {
        try {
            LdapName name = new LdapName(distinguishedName);
            for (int i = name.size() - 1; i >= 0; i--) {
                Rdn rdn = name.getRdn(i);
                if (rdn.getType().equalsIgnoreCase("CN") && rdn.getValue() instanceof String text) {
                    return Identity.isExact(text) ? text : null;
                }
            }
            return null;
        } catch (InvalidNameException e) {
            return null;
        }
    }
}
