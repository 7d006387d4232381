import type { PageRequest } from '../../http/index.js'
import { page, redirect } from '../shell/answer.js'
import { keptAt, mostKeptBytes } from '../shell/doors.js'
import { ownPrefix } from '../shell/once.js'
import type { Shell } from '../shell/page.js'
import { keptMs, makeKeptForms } from './kept-forms.js'
import { type EntryDeps, landing, safePath } from './way-in.js'

/** Where what was kept is offered, once somebody is logged in. */
export const offered = '/me/kept'

/** By `__Host-` no other host, and no page without TLS, can have somebody be offered a form of theirs (RFC 6265bis §4.1.3.2). */
const nameOf = ({ isSecure }: PageRequest) => `${isSecure ? '__Host-' : ''}posthorn-kept`

const cookieOf = (request: PageRequest, token: string) =>
  `${nameOf(request)}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${keptMs / 1_000}${request.isSecure ? '; Secure' : ''}`

/**
 * A form that is sent after its log-in has ended (`shell/doors.ts`): it waits here for the next log-in of this browser, by
 * whichever way, and is offered then. It is sent only by who presses the button: somebody else may have logged in.
 */
export function keptPages({ open, person }: Pick<Shell, 'open' | 'person'>, deps: EntryDeps): void {
  const forms = makeKeptForms(deps.people.clock, deps.memory)
  const toLogIn = `/login?next=${encodeURIComponent(offered)}`

  open.get(keptAt, 'open', async () => redirect(toLogIn))
  const keeping = { action: 'open', reads: true, maxBodyBytes: mostKeptBytes } as const
  open.post(keptAt, keeping, async ({ request, query, fields: sent }) => {
    const to = safePath(query.get('to'))
    if (to === undefined) return redirect('/login')
    const fields = sent.entries().filter(([name]) => !name.startsWith(ownPrefix))
    const form = { to, page: safePath(query.get('next')) ?? '/', fields }
    const token = forms.keep(request.cookie(nameOf(request)), form)
    return redirect(toLogIn, { headers: { 'Set-Cookie': cookieOf(request, token) } })
  })

  person.get(offered, 'own', async ({ request, session }) => {
    const form = await forms.find(request.cookie(nameOf(request)))
    if (form === undefined) return redirect(await landing(deps, session))
    return page('entry/kept', form, { title: 'Send it again?' })
  })
}
