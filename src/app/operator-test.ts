import { applianceAccountId } from '../accounts/index.js'
import { type Clock, pause } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { insertNotice, readEmail } from '../emails/index.js'
import { messageOf } from '../errors/index.js'
import { composeOperatorMail, type TestMail } from '../notices/index.js'
import type { Read, Store } from '../store/index.js'
import { hostOf } from './operator.js'
import { operatorWays } from './operator-ways.js'

/** Statuses after which nothing more happens to a mail by itself. */
const ended = ['delivered', 'bounced', 'failed', 'cancelled', 'suppressed']
const lookEveryMs = 250

/**
 * Follows a test mail to its end, or to the reply that puts it off, for `withinMs` at most: a mail that was queued may
 * still not arrive.
 */
export async function followQueued(
  { read, clock }: { read: Read; clock: Clock },
  emailId: string,
  withinMs: number,
): Promise<Pick<TestMail, 'ok' | 'answer'>> {
  const until = clock.now() + withinMs
  const how = `posthorn email show ${emailId}`
  for (;;) {
    const { status, recipients } = await readEmail(read, applianceAccountId, emailId)
    const [recipient] = recipients
    const reply = recipient?.reply?.replaceAll('\n', ' ') ?? ''
    if (ended.includes(status)) {
      return { ok: status === 'delivered', answer: `${status}${reply === '' ? '' : `: ${reply}`}` }
    }
    if (reply !== '') return { ok: false, answer: `put off: ${reply} (${how})` }
    if (clock.now() >= until) {
      return { ok: false, answer: `still ${status}: ${how}; posthorn queue show ${emailId}` }
    }
    await pause(clock, lookEveryMs)
  }
}

/**
 * Sends a test mail to the operator by every way there is, and tells how each went. With an `emailId` the mail is in
 * the queue, and its end is still to come.
 */
export async function tryWays(deps: {
  store: Store
  clock: Clock
  config: Config
  env: Readonly<Record<string, string | undefined>>
}): Promise<TestMail[]> {
  const { store, clock, config } = deps
  const { notify: to, from } = config.operator
  const now = clock.now()
  const mailOf = (way: string) =>
    composeOperatorMail({
      host: hostOf(config),
      zone: config.jobs.zone,
      parts: [],
      about: `Test, by ${way}`,
      annex: {
        text: 'Nothing is wrong. This way to you works.',
        html: '<p>Nothing is wrong. This way to you works.</p>',
      },
    })
  const tried: TestMail[] = []
  if (to !== '') {
    const { retry } = config.outbound
    const mail = mailOf('the queue')
    const notice = { ...mail, from, to, now }
    const made = await store.write((tx) => insertNotice({ store, retry }, tx, notice))
    const answer =
      made === undefined
        ? 'no verified domain can send it: posthorn domain add'
        : `queued as ${made.id}: posthorn email show ${made.id}`
    const { subject } = mail
    tried.push({ subject, emailId: made?.id, way: 'queue', ok: made !== undefined, answer })
  }
  for (const way of operatorWays(deps)) {
    const mail = mailOf(way.name)
    const sent = await way.send(mail, `test-${now}`).then(
      (answer) => ({ ok: true, answer }),
      (error: unknown) => ({ ok: false, answer: messageOf(error) }),
    )
    tried.push({ subject: mail.subject, emailId: undefined, way: way.name, ...sent })
  }
  return tried
}
