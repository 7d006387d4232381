import { uuidForm } from '../../fields/index.js'
import { countMessages, listMessages, type SandboxSummary } from '../../sandbox/index.js'
import { pageOf } from '../../store/index.js'
import { listed, type Moment, moment, plural, shortly } from '../format.js'
import { messageId } from '../sandbox/inbox.js'
import { type Badge, verdictBadges } from '../sandbox/verdict-words.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'

/** What the list shows. */
interface TestInboxView extends BesidePages {
  base: string
  search: string
  /** Set where only the copies of one mail are shown. */
  emailId: string | undefined
  count: string
  mayClear: boolean
  mayMakeKeys: boolean
  rows: TestInboxRow[]
  same: SameBy
}

/** One message. */
interface TestInboxRow {
  href: string
  subject: string
  from: string
  to: string
  received: Moment
  badges: Badge[]
}

const pageSize = 50
const maxSearch = 200

/** What the account's test keys have sent, the newest first. */
export async function listPage(
  inbox: Parameters<typeof listMessages>[0],
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  const path = `${base}/inbox`
  const search = (query.get('q') ?? '').trim().slice(0, maxSearch)
  const given = query.get('emailId') ?? ''
  const emailId = uuidForm.test(given) ? given.toLowerCase() : undefined
  const filters = { q: search, emailId }
  const { rows, ...beside } = await listOf({ path, query, filters }, async (after) => {
    const before = messageId(after ?? '')
    const found = await listMessages(inbox, {
      limit: pageSize + 1,
      ...(before === undefined ? {} : { before }),
      ...(search === '' ? {} : { search }),
      ...(emailId === undefined ? {} : { filter: { emailId } }),
    })
    return pageOf(found, pageSize, ({ id }) => String(id))
  })
  const view: TestInboxView = {
    base,
    search,
    emailId,
    count: plural(await countMessages(inbox), 'message'),
    mayClear: visit.may('emails.send'),
    mayMakeKeys: visit.may('keys.write'),
    rows: rows.map((one) => rowOf(one, path, now)),
    same: {
      api: [call(api.inbox.listTestMails, { query: { emailId } })],
      cli: [command('inbox list', { account: account.id })],
    },
    ...beside,
  }
  return page('inbox/list', view, { title: 'Test inbox' })
}

const rowOf = (message: SandboxSummary, path: string, now: number): TestInboxRow => ({
  href: `${path}/${message.id}`,
  subject: shortly(message.subject) || 'No subject',
  from: shortly(message.from || message.mailFrom),
  to: shortly(listed(message.recipients, 3)),
  received: moment(message.receivedAt, now),
  badges: verdictBadges(message),
})
