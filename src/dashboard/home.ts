import { findBackups } from '../backup/index.js'
import { hourMs } from '../clock/index.js'
import { listParkedReports } from '../inbound/index.js'
import { isAnybodyThere } from '../people/index.js'
import { countMessages } from '../sandbox/index.js'
import type { Read } from '../store/index.js'
import type { DashboardDeps } from './deps.js'
import { plural } from './format.js'
import { page, redirect } from './shell/answer.js'
import type { OpenPages } from './shell/page.js'
import type { People } from './shell/people.js'

type HomeDeps = Pick<DashboardDeps, 'store' | 'clock' | 'sandbox' | 'backupDir'>

interface HomeView {
  sandbox: boolean
  isAnybodyThere: boolean
  /** What the appliance has at this moment, as label and value. */
  facts: { label: string; value: string }[]
  /** Set while mail is held back. */
  held: string | undefined
  /** Set while reports are parked that cannot be filed. */
  parked: string | undefined
}

// Anybody may ask for this page, as often as they like: counting on would take the listener's time.
const mostCounted = 1_000

/** The front page: leads who is logged in to their place, and tells others what this is. */
export function frontPage(pages: OpenPages, deps: HomeDeps & { people: People }): void {
  pages.get('/', 'open', async ({ request }) => {
    // Without a log-in it shows no names, only counts: whoever reaches the listener may read them (README, Limits).
    const session = await deps.people.sessionOf(request)
    if (session === undefined) {
      return page('home', await homeView(deps), { title: 'Posthorn' })
    }
    const [first] = await deps.people.membershipsOf(session.person.id)
    if (first !== undefined) return redirect(`/a/${first.accountId}`)
    return redirect(session.person.isOperator ? '/operator' : '/me')
  })
}

/** Is it up, in which mode, and how much waits. */
async function homeView(deps: HomeDeps): Promise<HomeView> {
  const { store, sandbox } = deps
  const { read } = store
  const domains = await read
    .selectFrom('domains')
    .select('status')
    .limit(mostCounted + 1)
    .execute()
  const verified = domains.filter(({ status }) => status === 'verified').length
  const waiting = await countQueued(read)
  const held = await countQueued(read, true)
  const parked = (await listParkedReports(read)).length
  const facts = [
    {
      label: 'Sending domains',
      value:
        domains.length === 0
          ? 'none yet'
          : domains.length > mostCounted
            ? `more than ${mostCounted.toLocaleString('en-GB')}`
            : `${verified} of ${domains.length} verified`,
    },
    {
      label: 'Waiting to leave',
      value: shownMails(waiting),
    },
  ]
  facts.push(...(await backupFacts(deps)))
  if (sandbox) {
    const count = await countMessages(store)
    facts.push({ label: 'In the sandbox inbox', value: plural(count, 'message') })
  }
  return {
    sandbox,
    facts,
    isAnybodyThere: await isAnybodyThere(read),
    held: held === 0 ? undefined : shownMails(held),
    parked: parked === 0 ? undefined : plural(parked, 'report'),
  }
}

async function backupFacts({ backupDir, clock }: HomeDeps): Promise<HomeView['facts']> {
  if (backupDir === '') return []
  const [newest] = await findBackups(backupDir, clock.now())
  const hours = newest && Math.floor((clock.now() - newest.madeAt) / hourMs)
  const value = hours === undefined ? 'none yet' : `${plural(hours, 'hour')} ago`
  return [{ label: 'Last backup', value }]
}

const shownMails = (mails: number) =>
  mails > mostCounted ? `more than ${plural(mostCounted, 'mail')}` : plural(mails, 'mail')

/** How many deliveries wait, or are held; it counts no further than one above `mostCounted`. */
async function countQueued(read: Read, held = false): Promise<number> {
  const some = read
    .selectFrom('queue')
    .select('id')
    .$if(held, (query) => query.where('held_at', 'is not', null))
    .limit(mostCounted + 1)
    .as('some')
  const { mails } = await read
    .selectFrom(some)
    .select(({ fn }) => fn.countAll<number>().as('mails'))
    .executeTakeFirstOrThrow()
  return mails
}
