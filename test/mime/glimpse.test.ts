// What lists show of a mail: the listeners for reports and of the sandbox look at the header of whatever anybody sends.
import t from 'tap'
import { glimpseHeader } from '../../src/mime/index.js'

const of = (text: string) => glimpseHeader(Buffer.from(text))

t.test('the first From and Subject are found, however they are written', (t) => {
  const zoe = { from: 'Zoë <zoe@a.test>', subject: 'Grüße' }
  t.same(of('From: Zoë <zoe@a.test>\r\nSubject: Grüße\r\n\r\nSubject: no\r\n'), zoe)
  t.same(of('X: y\nsubject : =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nFROM:\n Zoë\n\t<zoe@a.test>\n\nx'), zoe)
  t.same(glimpseHeader(Buffer.from('Subject: Gr\xfc\xdfe\r\n', 'latin1')), {
    from: '',
    subject: 'Grüße',
  })
  t.same(of('Subject: one\r\nSubject: two\r\n'), { from: '', subject: 'one' })
  t.same(of('\r\nSubject: a body\r\n'), { from: '', subject: '' })
  t.same(of('\nSubject: a body\n'), { from: '', subject: '' })
  t.same(of(''), { from: '', subject: '' })
  t.end()
})

t.test('64 KB of anything cost about as much as 64 KB of a usual header', (t) => {
  const bytes = 64 * 1024
  const fill = (text: string) => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)
  const cpuMs = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const costOf = (text: string) => {
    const raw = Buffer.from(text)
    const began = cpuMs()
    for (let i = 0; i < 20; i++) glimpseHeader(raw)
    return cpuMs() - began
  }
  const usual = `${fill(`X-Header: ${'x'.repeat(60)}\r\n`)}\r\n`
  costOf(usual)
  const most = 30 * Math.max(costOf(usual), 10)
  for (const [name, text] of Object.entries({
    'line feeds': fill('\n'),
    'line feeds after a field': `From: a@b.test\n${fill('\n')}`,
    'folds of nothing': fill('\n '),
    'lines of three octets': fill('x\r\n'),
    'small fields': fill('a:b\r\n'),
    'a folded Subject': `Subject: x\r\n${fill(' y\r\n')}`,
    'half encoded words': `Subject: ${fill('=?')}\r\n\r\n`,
    'addresses of groups': `From: ${fill('a:')}\r\n\r\n`,
    'many addresses': `From: ${fill('a@b,')}\r\n\r\n`,
    'many From': fill('From: a\r\n'),
    spaces: `From${fill(' ')}`,
  })) {
    const cost = costOf(text)
    t.ok(cost < most, `${name}: ${Math.round(cost)} of ${Math.round(most)} ms`)
  }
  t.end()
})
