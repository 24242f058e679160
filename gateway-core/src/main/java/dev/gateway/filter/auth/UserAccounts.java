package dev.gateway.filter.auth;

import dev.gateway.filter.FilterStates;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.stream.Identity;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Users of a file, and which of their passwords were right or wrong of late. Shared by all filters that ask for users of the
 * file, in all generations, so that a reload costs no hashing. Safe from any thread.
 */
public final class UserAccounts implements FilterStates.Watched, FilterStates.Running {
    private static final int MOST_WRONG = 1_000;

    private final Path usersFile;
    private final AccountFiles files;
    private final AuthWork work;
    private final VerifiedCredentials<Identity> verified;
    private final VerifiedCredentials<Identity> wrong;
    private final PasswordChecks checks;

    /**
     * Reads the file.
     *
     * @param usersFile lines as htpasswd writes them
     * @param memory is charged for the passwords that are remembered
     * @throws AuthFileException if it cannot be read
     */
    public UserAccounts(Path usersFile, AuthWork work, CacheMemory memory) throws AuthFileException {
        this(usersFile, work, memory, System::nanoTime);
    }

    UserAccounts(Path usersFile, AuthWork work, CacheMemory memory, LongSupplier nanoClock) throws AuthFileException {
        this.usersFile = usersFile;
        this.work = work;
        this.verified = new VerifiedCredentials<>(nanoClock, memory);
        this.files = new AccountFiles(usersFile, null, null, verified, nanoClock);
        this.wrong = new VerifiedCredentials<>(nanoClock, memory, MOST_WRONG);
        this.checks = new PasswordChecks(work, verified, wrong);
    }

    /** Returns what the logins of a filter share that asks for these users. */
    public LoginServices services(Challenges challenges) {
        return new LoginServices(files, usersFile, work, verified, wrong, checks, challenges);
    }

    /** Looks at the file, unless somebody just did, so that its mistakes are told also while nobody logs in. */
    @Override
    public void look() {
        verified.tidy(); // first, since the file may be slow
        wrong.tidy();
        files.refresh();
    }

    @Override
    public void end() {
        verified.end();
        wrong.end();
    }

    @Override
    public List<String> problems() {
        return files.problems().stream().flatMap(List::stream).toList();
    }
}
