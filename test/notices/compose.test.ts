import t from 'tap'
import { composeOperatorMail } from '../../src/notices/compose.js'
import type { Notice } from '../../src/notices/index.js'

t.test('times in mails are those of the zone, which they name', (t) => {
  const at = Date.parse('2026-11-21T23:30:00Z')
  const one: Notice = {
    id: 1,
    kind: 'disk',
    key: '/data',
    severity: 'burning',
    stage: '',
    count: 1,
    text: 'The disk is nearly full',
    fix: 'df -h',
    firstAt: at,
    lastAt: at,
    settledAt: at + 3_600_000,
    silencedUntil: null,
  }
  const mailOf = (zone: string, shape: 'full' | 'settled') =>
    composeOperatorMail({
      host: 'mail.test',
      zone,
      parts: [{ heading: '', notices: [one], shape }],
    })
  for (const [zone, since, until] of [
    ['UTC', 'Sat 21 Nov 23:30', 'Sun 22 Nov 00:30'],
    ['Africa/Lagos', 'Sun 22 Nov 00:30', 'Sun 22 Nov 01:30'],
    ['America/New_York', 'Sat 21 Nov 18:30', 'Sat 21 Nov 19:30'],
  ] as const) {
    const { text, html } = mailOf(zone, 'full')
    for (const words of [`since ${since}`, `times are of ${zone}`]) {
      t.ok(text.includes(words), text)
      t.ok(html.includes(words), html)
    }
    t.ok(mailOf(zone, 'settled').text.includes(`(${since} until ${until})`))
  }
  t.end()
})
