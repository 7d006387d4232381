import type { PageRequest } from '../../http/index.js'
import { comeBack, type TrustedProvider } from '../../people/index.js'
import { ownUrl } from '../own-url.js'
import { page, redirect } from '../shell/answer.js'
import type { Shell } from '../shell/page.js'
import { type EntryDeps, enter, mayLogIn, safePath, visitorOf } from './way-in.js'

const back = '/login/provider/back'
const lastsSeconds = 600

/**
 * The log-in by a provider of OpenID Connect. A link leads there and not a form: browsers send no form on to another site
 * (CSP, `form-action`). Between going and coming a cookie keeps what the answer has to fit.
 */
export function providerPages(
  { open, person }: Pick<Shell, 'open' | 'person'>,
  deps: EntryDeps,
  trusted: TrustedProvider,
): void {
  const { people, cookie } = deps
  const { provider } = trusted

  const sendAway = async (
    request: PageRequest,
    errand: { next: string | undefined; userId: string | undefined },
  ) => {
    // What the provider answers, and the cookie of the session, would cross the network in the clear.
    if (!mayLogIn(deps, request)) return redirect('/login')
    const { url, kept } = await provider.begin(errand, `${ownUrl(request)}${back}`)
    return redirect(url, { headers: { 'Set-Cookie': errandCookie(request, kept) } })
  }

  open.get('/login/provider', 'open', async ({ request, query }) => {
    const next = safePath(query.get('next'))
    return await sendAway(request, { next, userId: undefined })
  })

  person.get('/sudo/provider', 'own', async ({ request, query, person: { id } }) => {
    const next = safePath(query.get('next')) ?? '/me'
    return await sendAway(request, { next, userId: id })
  })

  open.get(back, 'open', async ({ request, query }) => {
    const came = await comeBack(people, trusted, {
      answer: new URL(`${ownUrl(request)}${back}?${query}`),
      kept: request.cookie(errandName(request)),
      visitor: visitorOf(request),
      cookie: cookie.read(request),
    })
    if ('entered' in came) return await enter(deps, request, came.entered, came.next)
    const headers = { 'Set-Cookie': cookie.set(request, came.renewed) }
    const flash = 'Thank you: we know that it is you. Please go on.'
    return redirect(came.next ?? '/me', { headers, flash })
  })

  // Of a second tab: the first one has the form that was asked for.
  person.get('/sudo/proved', 'own', async () => page('entry/proved', {}, { title: 'It is you' }))
}

const errandName = ({ isSecure }: PageRequest) => `${isSecure ? '__Host-' : ''}posthorn-errand`

/** Lax and not strict: the browser comes back from another site. It is sealed, and good for ten minutes. */
const errandCookie = (request: PageRequest, kept: string) =>
  `${errandName(request)}=${kept}; Path=/; HttpOnly; SameSite=Lax${request.isSecure ? '; Secure' : ''}; Max-Age=${lastsSeconds}`
