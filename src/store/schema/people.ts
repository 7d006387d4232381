import { blob, integer, type RowOf, table, text } from './table.js'

/**
 * Who logs in at the dashboard. Passwords, sessions and links are stored as hashes: whoever reads the database or a
 * backup cannot log in with them.
 */
const users = table(
  'users',
  {
    id: text().primaryKey(),
    email: text(),
    /** The address in lower case, by which they are found. */
    address: text().unique(),
    name: text(),
    /** scrypt with its parameters; null: only a passkey or a link leads in. */
    password: text().orNull(),
    /** Sealed; null: no codes are asked for. */
    totp_secret: blob().orNull(),
    /** The last step whose code was taken: no code is good twice. */
    totp_step: integer(),
    operator: integer<0 | 1>(),
    disabled_at: integer().orNull(),
    created_at: integer(),
    last_login_at: integer().orNull(),
    /** Since when it is sure that the address is theirs. Null: they came by a link that an owner was shown. */
    proved_at: integer().orNull(),
    /** In which they read times; null until it is known. */
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
    /** Null: as an operator. */
    account_id: text().orNull(),
    email: text(),
    address: text(),
    role: text<'owner' | 'member' | 'viewer' | 'operator'>(),
    token_hash: blob().unique(),
    /** SHA-256 of the link that proves the address: only the mail has it, or an operator hands it over. */
    proof_hash: blob().orNull(),
    /** Who it is, in words. */
    invited_by: text(),
    /** Null: whoever uses the command line. */
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
    /** SHA-256 of what the cookie has. */
    hash: blob().primaryKey(),
    /** The id by which pages name it. */
    id: text(),
    user_id: text(),
    /** `code`: the password was right, and a code of the second factor is still to come. */
    state: text<'open' | 'code'>(),
    created_at: integer(),
    seen_at: integer(),
    expires_at: integer(),
    sudo_until: integer(),
    address_key: text(),
    agent: text(),
    /** A provider of OpenID Connect, which may have asked for a second factor, has said that it is them; null: they showed it here. */
    came_by: text<'provider' | 'provider with factor'>().orNull(),
  },
  {
    isClustered: true,
    indexes: { sessions_user: ['user_id', 'id'], sessions_expiry: ['expires_at'] },
  },
)

export interface SessionRow extends RowOf<typeof sessions> {}

/** Where somebody logged in of late. */
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
    /** The id that the browser knows it by, in base64url. */
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
    /** SHA-256: of 80 random bits, which nobody guesses. */
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

/** By which name a provider of OpenID Connect knows somebody: bound at the first log-in by it. */
const identities = table(
  'identities',
  {
    issuer: text(),
    subject: text(),
    user_id: text(),
    /** JSON: what its claim has given, by the account's id or `operator`; only that is taken again. */
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

/** Challenges of passkeys that were answered: none is good twice, whichever node is asked. */
const usedChallenges = table(
  'used_challenges',
  { challenge: text().primaryKey(), until: integer() },
  { isClustered: true, indexes: { used_challenges_until: ['until', 'challenge'] } },
)

/** Whose attempts at a log-in have failed, from the third one on, where several nodes count them together. */
const failedAttempts = table(
  'failed_attempts',
  {
    /** A hash of the address or the person. */
    key: text().primaryKey(),
    count: integer(),
    last_at: integer(),
    blocked_until: integer(),
    /** When it is forgotten. */
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
