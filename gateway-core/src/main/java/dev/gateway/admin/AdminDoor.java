package dev.gateway.admin;

/**
 * Admin listener: the way in by one admin listener. All its connections obey its rules, which a reload changes while the
 * listener stays; connections of a former listener keep the last rules of that one. Any thread may ask.
 */
public final class AdminDoor {
    private volatile AdminAccess access;

    /** Makes a door with rules. */
    public AdminDoor(AdminAccess access) {
        this.access = access;
    }

    /** Changes the rules. */
    public void guard(AdminAccess next) {
        access = next;
    }

    AdminAccess access() {
        return access;
    }
}
