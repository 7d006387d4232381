import { type Actor, type Change, noteAudit } from '../../audit/index.js'
import type { PageRequest } from '../../http/index.js'
import {
  type Action,
  actorOf,
  type Membership,
  may,
  membershipsOf,
  type PeopleDeps,
  type Person,
  type Role,
  roleIn,
  type Session,
  sessionCookie,
  sessionOf,
} from '../../people/index.js'

export type { Action, Actor, Role, Session }

/** What pages need from `src/people` (who somebody is, and what they may do) and from the audit log. */
export interface People {
  sessionOf(request: PageRequest): Promise<Session | undefined>
  roleIn(
    person: Person,
    accountId: string,
  ): Promise<{ account: { id: string; name: string }; role: Role } | undefined>
  membershipsOf(personId: string): Promise<Membership[]>
  may(role: Role, action: Action): boolean
  actorOf(session: Session, request: PageRequest): Actor
  note(change: Omit<Change, 'at'>): Promise<void>
}

/** The `People` of this database. Tests of pages give others. */
export function peopleOf(deps: PeopleDeps): People {
  const { store, clock } = deps
  const cookie = sessionCookie(deps.key)
  return {
    sessionOf: (request) =>
      sessionOf(deps, cookie.read(request), {
        // The page refreshes itself while nobody touches it (`browser/live.ts`): that must not prolong the session.
        byItself: request.header('posthorn-look') === 'by-itself',
      }),
    roleIn: (person, accountId) => roleIn(store.read, person, accountId),
    membershipsOf: (personId) => membershipsOf(store.read, personId),
    may,
    actorOf: ({ person }, { clientAddressKey }) => actorOf(person, clientAddressKey),
    note: (change) => store.write((tx) => noteAudit(tx, { ...change, at: clock.now() })),
  }
}
