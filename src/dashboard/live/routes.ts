import type { Clock } from '../../clock/index.js'
import { sessionsOf } from '../../people/index.js'
import type { Store } from '../../store/index.js'
import { file, nothing } from '../shell/answer.js'
import type { PersonPages } from '../shell/page.js'
import { makeLive } from './live.js'

/** `/live`: tells a browser that something has changed, so that its page looks. One tab of a browser holds it. */
export function livePages(pages: PersonPages, deps: { store: Store; clock: Clock }): void {
  const live = makeLive(deps)
  pages.get('/live', 'own', async ({ session, person, request }) => {
    // Not by the cookie: that would keep a session alive for as long as a tab is open.
    const lasts = async () => {
      const sessions = await sessionsOf(deps.store.read, person.id, deps.clock.now())
      return sessions.some(({ id }) => id === session.id)
    }
    const listener = { sessionId: session.id, personId: person.id, lasts }
    const stream = live.open(listener, request.signal)
    // HTML §9.2.2: by a 204 a browser asks no more, and it shows no error where nothing is wrong; the page then looks
    // from time to time (`browser/live.ts`).
    if (stream === undefined) return nothing()
    // nginx holds answers back in a buffer unless this header forbids it.
    return file(stream, 'text/event-stream', { headers: { 'X-Accel-Buffering': 'no' } })
  })
}
