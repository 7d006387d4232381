import { optional, string, type } from 'superstruct'
import { listAccounts } from '../../accounts/index.js'
import type { PageRequest } from '../../http/index.js'
import {
  enterByInvitation,
  findInvitation,
  findLink,
  findPerson,
  hasSudo,
  joinByInvitation,
  leastCharacters,
  listPasskeys,
  resetPassword,
  type Session,
  setUp,
} from '../../people/index.js'
import { page, redirect } from '../shell/answer.js'
import { toProof } from '../shell/doors.js'
import { noFaults } from '../shell/faults.js'
import type { OpenPages } from '../shell/page.js'
import type { AskedPage } from '../shell/visit.js'
import { type EntryDeps, enter, sessionHere, visitorOf } from './way-in.js'

const SetUpForm = type({
  email: string(),
  name: string(),
  password: string(),
  accountName: optional(string()),
})
const ResetForm = type({ password: string(), keepPasskeys: optional(string()) })
const JoinForm = type({ name: optional(string()), password: optional(string()) })

/** What a link leads to that is good once: the first operator, a new password, an invitation. */
export function linkPages(pages: OpenPages, deps: EntryDeps): void {
  // Whoever has the link may use it: it was shown by a command on the machine, or mailed to one
  // address.
  setUpPages(pages, deps)
  resetPages(pages, deps)
  invitationPages(pages, deps)
}

function setUpPages(pages: OpenPages, deps: EntryDeps): void {
  const { people } = deps
  const { read } = people.store

  const show = async ({ params, now }: AskedPage, faults = noFaults) => {
    const token = params.token ?? ''
    // Throws 404 for a link that is used, too old or made up.
    await findLink(read, 'setup', token, now)
    const accounts = await listAccounts(read)
    const view = {
      token,
      faults,
      least: leastCharacters,
      asksAccount: accounts.length === 0,
      account: accounts.length === 1 ? accounts[0]?.name : undefined,
    }
    return page('entry/setup', view, { title: 'Set up' })
  }

  pages.get('/setup/:token', 'open', (visit) => show(visit))

  const post = { action: 'open', form: SetUpForm, again: show } as const
  pages.post('/setup/:token', post, async ({ params, form, request }) => {
    const given = { ...form, visitor: visitorOf(request) }
    const entered = await setUp(people, params.token ?? '', given)
    return await enter(deps, request, entered, undefined)
  })
}

function resetPages(pages: OpenPages, { people, cookie }: EntryDeps): void {
  const show = async ({ params, now }: AskedPage, faults = noFaults) => {
    const token = params.token ?? ''
    const link = await findLink(people.store.read, 'reset', token, now)
    const user = await findPerson(people.store.read, link.user_id ?? '')
    const { email, name } = user
    // Whatever an address had before its owner proved it may be a stranger's: the reset takes that
    // away (`resetPassword`), so nothing is offered to be kept.
    const isProved = user.proved_at !== null
    const passkeys = isProved ? await listPasskeys(people.store.read, user.id) : []
    const view = {
      token,
      faults,
      email,
      name,
      least: leastCharacters,
      passkeys: passkeys.map((one) => one.name).join(', '),
      hasTotp: isProved && user.totp_secret !== null,
    }
    return page('entry/reset', view, { title: 'Choose a password' })
  }

  pages.get('/reset/:token', 'open', (visit) => show(visit))

  const post = { action: 'open', form: ResetForm, again: show } as const
  pages.post('/reset/:token', post, async ({ params, form, request }) => {
    const visitor = visitorOf(request)
    const keepsPasskeys = form.keepPasskeys !== undefined
    const { password } = form
    await resetPassword(people, params.token ?? '', { password, keepsPasskeys, visitor })
    // All sessions ended with the old password, this browser's too.
    const headers = { 'Set-Cookie': cookie.clear(request) }
    return redirect('/login', { flash: 'Your password is changed. Log in with it.', headers })
  })
}

function invitationPages(pages: OpenPages, deps: EntryDeps): void {
  const { people, cookie } = deps
  const { read } = people.store

  const show = async ({ params, now, request }: AskedPage, faults = noFaults) => {
    const token = params.token ?? ''
    const found = await findInvitation(read, token, now)
    const { invitation, person, isProof, choosesPassword } = found
    // The page differs for who is there already: they join, and do not choose a password that would be nobody's.
    const session = await sessionHere(deps, request)
    const isHere = person !== undefined && session?.person.id === person.id
    const view = {
      token,
      faults,
      email: invitation.email,
      least: leastCharacters,
      invitedBy: invitation.invitedBy,
      role: invitation.role,
      account: invitation.accountName,
      // Whoever invites has the other link too, and is not to learn of any address whether it has a log-in here.
      isHere,
      isNew: (choosesPassword || !isProof) && !isHere,
      mayHaveOne: !isProof,
      mayBeAnother: isProof && person?.proved_at === null,
      other: session?.person.email,
    }
    return page('entry/invite', view, { title: 'Invitation' })
  }

  pages.get('/invite/:token', 'open', (visit) => show(visit))

  const post = { action: 'open', form: JoinForm, again: show } as const
  pages.post('/invite/:token', post, async ({ params, form, request, now }) => {
    const token = params.token ?? ''
    const visitor = visitorOf(request)
    const { person, choosesPassword, invitation } = await findInvitation(read, token, now)
    const session = await sessionHere(deps, request)
    // Looked up anew, not taken from the form: since the page was shown somebody else may have
    // logged in here.
    const isHere = person !== undefined && session?.person.id === person.id
    // Somebody with an account of ours joins by their session. A password that an invitation's form
    // sets would let whoever has the link take over theirs.
    if (isHere || !choosesPassword) {
      const next = encodeURIComponent(`/invite/${token}`)
      if (session === undefined) return redirect(`/login?next=${next}`)
      // Who has only found the browser open does not become an operator.
      const isRise = invitation.accountId === null
      if (isRise && !hasSudo(session, now)) return toProof(request)
      return await join(deps, request, token, session)
    }
    const { name = '', password = '' } = form
    const given = { name, password, visitor, cookie: cookie.read(request) }
    const entered = await enterByInvitation(people, token, given)
    const { accountId } = entered
    const next = accountId === null ? '/operator' : `/a/${accountId}`
    return await enter(deps, request, entered, next)
  })
}

/** Somebody who is logged in accepts. */
async function join(
  { people, cookie }: EntryDeps,
  request: PageRequest,
  token: string,
  { id, person }: Session,
) {
  const own = { id, token: cookie.read(request) ?? '', visitor: visitorOf(request) }
  const joined = await joinByInvitation(people, token, { userId: person.id, session: own })
  const { accountId, session } = joined
  return redirect(accountId === null ? '/operator' : `/a/${accountId}`, {
    flash: 'You have joined',
    ...(session !== undefined && { headers: { 'Set-Cookie': cookie.set(request, session) } }),
  })
}
