/*
 * Statements of single sends, 50 at once, by HTTP: `bin/with-postgres node dist/test/bench/postgres/single.js`
 *   --n 2000 mails a way
 * The appliance is in this process, and the statements are those of its main thread, its own now and then included; what
 * sends the mails is other threads'. The server does not sync.
 */
import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { startPosthorn } from '../../support/posthorn.js'
import { countStatements } from '../../support/statements.js'
import { loadAverage, report } from '../rig.js'

const { values } = parseArgs({ options: { n: { type: 'string', default: '2000' } } })
const n = Number(values.n)
const atOnce = 50

const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
  comment() {},
} as unknown as Test
const lines: [string, string][] = [['load average', loadAverage()]]
try {
  const counts = countStatements(t)
  const { url, apiKey } = await startPosthorn(t)
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const sendAll = async (of: string, hasKey: boolean) => {
    let next = 0
    const one = async () => {
      for (let i = next++; i < n; i = next++) {
        const answer = await fetch(`${url}/v1/emails/send`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${apiKey}`,
            'content-type': 'application/json',
            ...(hasKey && { 'idempotency-key': `${of}-${i}` }),
          },
          body: JSON.stringify({
            from: 'a@sender.test',
            to: `r${i}@d${i % 20}.test`,
            subject: 'Hello',
            html: `<p>${of} ${i}`,
            scheduledAt,
          }),
        })
        if (answer.status !== 200) throw new Error(await answer.text())
        await answer.text()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, one))
  }
  await sendAll('warm', true)
  for (const hasKey of [false, true]) {
    counts.clear()
    await sendAll(hasKey ? 'key' : 'plain', hasKey)
    const all = [...counts.values()].reduce((sum, times) => sum + times, 0)
    const often = [...counts]
      .sort(([, one], [, other]) => other - one)
      .slice(0, 8)
      .map(
        ([text, times]) => `${(times / n).toFixed(2)} ${text.replaceAll(/\s+/g, ' ').slice(0, 70)}`,
      )
    lines.push([`statements a mail ${hasKey ? 'with' : 'without'} a key`, (all / n).toFixed(2)])
    for (const one of often) lines.push(['', one])
  }
} finally {
  for (const end of ends) await end()
}
report(lines)
