import type { PageRequest } from '../../http/index.js'
import {
  type Entered,
  membershipsOf,
  type PeopleDeps,
  type Session,
  type SessionCookie,
  sessionOf,
  type TrustedProvider,
  type Visitor,
} from '../../people/index.js'
import { type PageAnswer, redirect } from '../shell/answer.js'
import type { NodeMemory } from '../shell/node-memory.js'

/** What the pages of the log-in need. */
export interface EntryDeps {
  people: PeopleDeps
  cookie: SessionCookie
  /** People may log in without TLS from anywhere. */
  plainHttp: boolean
  /** Undefined: people log in by us alone. */
  provider?: TrustedProvider | undefined
  memory: NodeMemory
}

/** What a session remembers of a browser. */
export const visitorOf = (request: PageRequest): Visitor => ({
  clientAddressKey: request.clientAddressKey,
  agent: request.header('user-agent') ?? '',
})

/** The session of who is logged in already. */
export const sessionHere = ({ people, cookie }: EntryDeps, request: PageRequest) =>
  sessionOf(people, cookie.read(request))

/**
 * A path of this appliance, which somebody else may have written into a link; undefined for anything else. A log-in that
 * leads on to another site would lend our name to a page that asks for the password once more.
 */
export function safePath(path: string | null | undefined): string | undefined {
  // `//host` and `/\host` are other hosts to a browser.
  return path && /^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(path) ? path : undefined
}

/** Where somebody who has just come in goes. */
export async function landing(
  { people }: EntryDeps,
  session: Session | undefined,
): Promise<string> {
  if (session === undefined) return '/login'
  if (session.mustAddFactor) return '/me/totp'
  // Most people have one account; who has several changes by the menu.
  const [first] = await membershipsOf(people.store.read, session.person.id)
  if (first !== undefined) return `/a/${first.accountId}`
  return session.person.isOperator ? '/operator' : '/me'
}

/** Hands over the session, and leads to the page that was asked for. */
export async function enter(
  deps: EntryDeps,
  request: PageRequest,
  { state, token }: Entered,
  next: string | undefined,
): Promise<PageAnswer> {
  // The cookie comes before the code too: it says whose code is awaited, and opens nothing yet.
  const headers = { 'Set-Cookie': deps.cookie.set(request, token) }
  if (state === 'code') {
    const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`
    return redirect(`/login/code${query}`, { headers })
  }
  const session = await sessionOf(deps.people, token)
  // A second factor that is demanded comes before any page that was asked for.
  const mustAdd = session?.mustAddFactor === true
  const to = mustAdd ? undefined : next
  return redirect(to ?? (await landing(deps, session)), { headers })
}

/**
 * Whether a password may be typed here: by TLS, on this very machine (a tunnel ends there too), or where the
 * settings allow it. RFC 6761 §6.3 and browsers alike: `localhost` is the browser's own machine.
 */
export function mayLogIn({ plainHttp }: EntryDeps, request: PageRequest): boolean {
  return request.isSecure || isOwnMachine(request) || plainHttp
}

/** Whether the browser runs on this machine, or comes by a tunnel that ends here. */
export function isOwnMachine(request: PageRequest): boolean {
  // A proxy that is not in `http.trusted_proxies`, and names us by our own address, brings the whole Internet. Of a
  // proxy that is there the client's address was read from this very header, so it is in it.
  const forwarded = request.header('x-forwarded-for')
  if (forwarded !== undefined && !forwarded.includes(request.remoteAddress)) return false
  const host = (request.header('host') ?? '').toLowerCase().replace(/:\d+$/, '')
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}
