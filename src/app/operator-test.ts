import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { insertNotice } from '../emails/index.js'
import { messageOf } from '../errors/index.js'
import { composeOperatorMail } from '../notices/index.js'
import type { Store } from '../store/index.js'
import { hostOf } from './operator.js'
import { operatorWays } from './operator-ways.js'

/** Sends a test mail to the operator by every way there is, and tells how each went. */
export async function tryWays(deps: {
  store: Store
  clock: Clock
  config: Config
  env: Readonly<Record<string, string | undefined>>
}): Promise<{ way: string; ok: boolean; answer: string }[]> {
  const { store, clock, config } = deps
  const { notify: to, from } = config.operator
  const now = clock.now()
  const mailOf = (way: string) =>
    composeOperatorMail({
      ...{ host: hostOf(config), zone: config.jobs.zone, parts: [] },
      about: `Test, by ${way}`,
      annex: {
        text: 'Nothing is wrong. This way to you works.',
        html: '<p>Nothing is wrong. This way to you works.</p>',
      },
    })
  const tried: { way: string; ok: boolean; answer: string }[] = []
  if (to !== '') {
    const { retry } = config.outbound
    const notice = { ...mailOf('the queue'), from, to, now }
    const made = await store.write((tx) => insertNotice({ store, retry }, tx, notice))
    const answer =
      made === undefined
        ? 'no verified domain can send it: posthorn domain add'
        : `queued as ${made.id}: posthorn email show ${made.id}`
    tried.push({ way: 'queue', ok: made !== undefined, answer })
  }
  for (const way of operatorWays(deps)) {
    const sent = await way.send(mailOf(way.name), `test-${now}`).then(
      (answer) => ({ ok: true, answer }),
      (error: unknown) => ({ ok: false, answer: messageOf(error) }),
    )
    tried.push({ way: way.name, ...sent })
  }
  return tried
}
