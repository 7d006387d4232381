/**
 * Who logs in to the dashboard, what they may do there, and how they prove who they are. What must hold: nobody
 * who reads the database can use a password, a code or a link from it; no code and no link is valid twice;
 * every failure costs the same and says the same; a rise of rights gives the session another value; log-in
 * never needs mail. See README.md.
 */
export {
  type Action,
  actions,
  type MemberRole,
  may,
  memberRoles,
  type Role,
  roles,
  roleWords,
} from './actions.js'
export { makePeople, type PeopleDeps } from './deps.js'
export { findLink, makeResetLink, makeSetupLink, resetPassword, setUp } from './entry-link.js'
export { comeBack, identitiesOf, type TrustedProvider, unbind } from './identity.js'
export {
  findInvitation,
  type Invitation,
  invite,
  inviteWithin,
  listInvitations,
  revokeInvitation,
} from './invitation.js'
export { inviterOf } from './inviter.js'
export { enterByInvitation, joinByInvitation } from './join.js'
export { forgetPastEntries } from './known-place.js'
export { actorOf, awaitedPerson, type Entered, logIn } from './login.js'
export {
  addPerson,
  disablePerson,
  disableWithin,
  enablePerson,
  enableWithin,
  findListedPerson,
  type ListedPerson,
  listPeople,
  personNamed,
  resetPerson,
  setOperator,
} from './manage.js'
export {
  listTeam,
  type Membership,
  membershipsOf,
  removeMember,
  roleIn,
  setRole,
  type TeamMember,
} from './membership.js'
export { ownerAddresses } from './owners.js'
export {
  addPasskey,
  askForNewPasskey,
  askForPasskey,
  enterByPasskey,
  listPasskeys,
  proveByPasskey,
  removePasskey,
} from './passkey.js'
export { type Derive, makePasswords, type Passwords } from './password.js'
export { leastCharacters } from './password-rules.js'
export { findByAddress, findPerson, isAnybodyThere, type Person } from './person.js'
export {
  changePassword,
  changeProfile,
  endOwnSession,
  guessZone,
  renewRecoveryCodes,
} from './profile.js'
export { type LogInProvider, makeLogInProvider, type ProviderRequest } from './provider.js'
export { recoveryCodesLeft } from './recovery-code.js'
export { enterCode, proveAgain } from './second-factor.js'
export {
  endSession,
  hasSudo,
  type Session,
  type SessionCookie,
  sessionCookie,
  sessionOf,
  sessionsOf,
  type Visitor,
} from './session.js'
export { addTotp, newTotpSecret, removeTotp, totpPicture, totpPurpose } from './totp.js'
