package dev.gateway.filter.auth;

import dev.gateway.stream.Identity;

/**
 * What the logins of one authentication filter share. Safe from any thread.
 *
 * @param accounts where the users are: the same for all filters that have the same file of users
 * @param verified passwords that were right
 * @param wrong passwords that were wrong: a client that repeats one costs nothing more, and counts once
 * @param checks passwords that wait to be hashed
 */
public record LoginServices(
        AccountFiles files,
        Object accounts,
        AuthWork work,
        VerifiedCredentials<Identity> verified,
        VerifiedCredentials<Identity> wrong,
        PasswordChecks checks,
        Challenges challenges) {}
