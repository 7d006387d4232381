import { blob, integer, type RowOf, table, text } from './table.js'

/**
 * The people who log in at the dashboard. Passwords, sessions and links are stored as hashes: whoever reads the
 * database or a backup cannot log in with them.
 */
const users = table(
  'users',
  {
    id: text().primaryKey(),
    email: text(),
    /** The address in lower case, for searches. */
    address: text().unique(),
    name: text(),
    /** scrypt with its parameters; null: they can only use a passkey or a link. */
    password: text().orNull(),
    /** Sealed; null: no codes are asked for. */
    totp_secret: blob().orNull(),
    /** The last time step whose code was accepted: no code is good twice. */
    totp_step: integer(),
    operator: integer<0 | 1>(),
    disabled_at: integer().orNull(),
    created_at: integer(),
    last_login_at: integer().orNull(),
    /** When it was proved that the address is theirs. Null: they came by a link that an owner was shown. */
    proved_at: integer().orNull(),
    /** The time zone in which they read times; null until it is known. */
    time_zone: text().orNull(),
  },
  { isClustered: true },
)

export interface UserRow extends RowOf<typeof users> {}

const memberships = table(
  'memberships',
  {
    user_id: text(),
    account_id: text(),
    role: text<'owner' | 'member' | 'viewer'>(),
    created_at: integer(),
  },
  {
    primaryKey: ['user_id', 'account_id'],
    isClustered: true,
    indexes: { memberships_account: ['account_id', 'user_id'] },
  },
)

const invitations = table(
  'invitations',
  {
    id: text().primaryKey(),
    /** Null: the invitation is for an operator. */
    account_id: text().orNull(),
    email: text(),
    address: text(),
    role: text<'owner' | 'member' | 'viewer' | 'operator'>(),
    token_hash: blob().unique(),
    /** SHA-256 of the link that proves the address: only the mail has the link, or an operator hands it over. */
    proof_hash: blob().orNull(),
    /** Who invited them, in words. */
    invited_by: text(),
    /** Null: somebody at the command line. */
    inviter_id: text().orNull(),
    created_at: integer(),
    expires_at: integer(),
    accepted_at: integer().orNull(),
  },
  {
    isClustered: true,
    indexes: {
      invitations_account: ['account_id', 'id'],
      invitations_proof: {
        on: ['proof_hash'],
        isUnique: true,
        where: (row) => row('proof_hash', 'is not', null),
      },
      invitations_inviter: { on: ['inviter_id'], where: (row) => row('accepted_at', 'is', null) },
    },
  },
)

export interface InvitationRow extends RowOf<typeof invitations> {}

const sessions = table(
  'sessions',
  {
    /** SHA-256 of the cookie's value. */
    hash: blob().primaryKey(),
    /** The id by which pages name it. */
    id: text(),
    user_id: text(),
    /** `code`: the password was right, and the code of the second factor is still missing. */
    state: text<'open' | 'code'>(),
    created_at: integer(),
    seen_at: integer(),
    expires_at: integer(),
    sudo_until: integer(),
    address_key: text(),
    agent: text(),
    /** An OpenID Connect provider identified them, perhaps with a second factor; null: they proved it here. */
    came_by: text<'provider' | 'provider with factor'>().orNull(),
  },
  {
    isClustered: true,
    indexes: { sessions_user: ['user_id', 'id'], sessions_expiry: ['expires_at'] },
  },
)

export interface SessionRow extends RowOf<typeof sessions> {}

/** Places from which somebody has lately logged in. */
const knownPlaces = table(
  'known_places',
  {
    user_id: text(),
    address_key: text(),
    seen_at: integer(),
  },
  {
    primaryKey: ['user_id', 'address_key'],
    isClustered: true,
    indexes: { known_places_age: ['seen_at'] },
  },
)

const passkeys = table(
  'passkeys',
  {
    /** The passkey's id in the browser, in base64url. */
    credential_id: text().primaryKey(),
    id: text(),
    user_id: text(),
    /** COSE. */
    public_key: blob(),
    counter: integer(),
    /** JSON: an array of texts. */
    transports: text(),
    name: text(),
    backed_up: integer<0 | 1>(),
    created_at: integer(),
    used_at: integer().orNull(),
  },
  { isClustered: true, indexes: { passkeys_user: ['user_id', 'id'] } },
)

export interface PasskeyRow extends RowOf<typeof passkeys> {}

const recoveryCodes = table(
  'recovery_codes',
  {
    user_id: text(),
    /** SHA-256 of 80 random bits, which nobody can guess. */
    hash: blob(),
    used_at: integer().orNull(),
  },
  { primaryKey: ['user_id', 'hash'], isClustered: true },
)

/** A link that is good once; it is deleted when it is used. */
const entryLinks = table(
  'entry_links',
  {
    hash: blob().primaryKey(),
    /** `setup`: makes the first operator. `reset`: chooses a new password. */
    kind: text<'setup' | 'reset'>(),
    user_id: text().orNull(),
    created_at: integer(),
    expires_at: integer(),
  },
  { isClustered: true, indexes: { entry_links_expiry: ['expires_at'] } },
)

export interface EntryLinkRow extends RowOf<typeof entryLinks> {}

/** The identity of a person at an OpenID Connect provider, bound at the first log-in through it. */
const identities = table(
  'identities',
  {
    issuer: text(),
    subject: text(),
    user_id: text(),
    /**
     * JSON: the roles that the provider's claim has given, by the account's id or `operator`; only these are removed
     * again.
     */
    roles: text(),
    created_at: integer(),
    used_at: integer(),
  },
  {
    primaryKey: ['issuer', 'subject'],
    isClustered: true,
    indexes: { identities_user: ['user_id', 'issuer', 'subject'] },
  },
)

export interface IdentityRow extends RowOf<typeof identities> {}

/** Challenges of passkeys that were answered: none is good twice, at whichever node. */
const usedChallenges = table(
  'used_challenges',
  { challenge: text().primaryKey(), until: integer() },
  { isClustered: true, indexes: { used_challenges_until: ['until', 'challenge'] } },
)

/** Failed log-ins, from the third one on, where several nodes count them together. */
const failedAttempts = table(
  'failed_attempts',
  {
    /** A hash of the address or the person. */
    key: text().primaryKey(),
    count: integer(),
    last_at: integer(),
    blocked_until: integer(),
    /** When the row is forgotten. */
    until: integer(),
  },
  { isClustered: true, indexes: { failed_attempts_until: ['until', 'key'] } },
)

export interface FailedAttemptsRow extends RowOf<typeof failedAttempts> {}

export const peopleTables = [
  identities,
  usedChallenges,
  failedAttempts,
  users,
  memberships,
  invitations,
  sessions,
  knownPlaces,
  passkeys,
  recoveryCodes,
  entryLinks,
] as const
