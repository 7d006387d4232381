import { createTransport } from 'nodemailer'
import t from 'tap'
import { OperatorError } from '../../src/errors/index.js'
import type { Log } from '../../src/log/index.js'
import {
  clearMessages,
  countMessages,
  findMessage,
  listMessages,
  openSandboxReceiver,
  rawMessage,
} from '../../src/sandbox/index.js'
import type { Write } from '../../src/store/index.js'
import { openTestStore } from '../support/store.js'
import { startSandbox } from './start.js'

t.test('a mail that a library sends arrives as it was, over TLS', async (t) => {
  const sandbox = await startSandbox(t)
  const transport = createTransport({
    host: '127.0.0.1',
    port: sandbox.port,
    tls: { rejectUnauthorized: false },
  })
  const { response } = await transport.sendMail({
    from: { name: 'Zoë', address: 'zoe@example.test' },
    to: ['a@one.test', 'b@two.test'],
    subject: 'Grüße',
    text: 'Hello\n.\n..dots',
    html: '<p>Hello</p>',
    attachments: [{ filename: 'a.txt', content: 'abc' }],
  })
  transport.close()
  const [mail] = await listMessages(sandbox.store, { limit: 10 })
  t.match(mail, {
    subject: 'Grüße',
    from: 'Zoë <zoe@example.test>',
    mailFrom: 'zoe@example.test',
    recipients: ['a@one.test', 'b@two.test'],
    tls: true,
    remoteAddress: '127.0.0.1',
  })
  t.equal(response, `250 2.6.0 Kept in the sandbox as ${mail?.id}`)
  const found = await findMessage(sandbox.store, mail?.id ?? 0)
  t.equal(found?.content.text?.replaceAll('\r\n', '\n').trimEnd(), 'Hello\n.\n..dots')
  t.equal(found?.content.html?.trim(), '<p>Hello</p>')
  t.match(found?.content.attachments, [{ filename: 'a.txt', mimeType: 'text/plain', sizeBytes: 3 }])
  const raw = await rawMessage(sandbox.store, mail?.id ?? 0)
  t.equal(raw?.length, mail?.sizeBytes)
})

t.test('it offers what a receiver on the internet offers, and no AUTH', async (t) => {
  const sandbox = await startSandbox(t)
  const client = await sandbox.talk()
  const reply = await client.say('EHLO client.test')
  for (const extension of [
    'STARTTLS',
    'PIPELINING',
    '8BITMIME',
    'SMTPUTF8',
    'ENHANCEDSTATUSCODES',
    'SIZE 26214400',
  ]) {
    t.ok(reply.split(/\n250[ -]/).includes(extension), extension)
  }
  t.notMatch(reply, /AUTH/)
})

t.test('it takes every recipient, the null sender, and non-ASCII addresses', async (t) => {
  const sandbox = await startSandbox(t)
  t.match(await sandbox.send('Subject: 1\r\n\r\nx', ['postmaster@nowhere.test'], ''), /^250 /)
  const client = await sandbox.talk()
  await client.say('EHLO client.test')
  t.match(await client.say('MAIL FROM:<zoë@exämple.test> SMTPUTF8'), /^250 /)
  t.match(await client.say('RCPT TO:<büro@exämple.test>'), /^250 /)
  await client.say('DATA')
  t.match(await client.say('Subject: 2\r\n\r\nx\r\n.'), /^250 /)
  const [second, first] = await listMessages(sandbox.store, { limit: 10 })
  t.match(first, { mailFrom: '', recipients: ['postmaster@nowhere.test'], tls: false })
  t.match(second?.recipients, ['büro@exämple.test'])
})

t.test(
  'every valid quoted local part is taken, and what real servers take beyond that',
  async (t) => {
    const sandbox = await startSandbox(t)
    const client = await sandbox.talk()
    await client.say('EHLO client.test')
    t.match(await client.say('MAIL FROM:<"b ob"@x.test> SIZE=100'), /^250 /)
    const good = ['"a b"', '"a@b"', '"a> <b"', '"a..b"', '" "', '"a\\"b\\\\"', '"a\\@b"'].map(
      (local) => `${local}@x.test`,
    )
    const odd = ['a..b@docomo.ne.jp', '.a@docomo.ne.jp', 'a.@ezweb.ne.jp', 'a@b_c.test']
    for (const address of [...good, ...odd]) {
      t.match(await client.say(`RCPT TO:<${address}> NOTIFY=NEVER`), /^250 /, address)
    }
    for (const bad of ['a..b@x.test', 'a b@x.test', '"a b@x.test', 'a@b@x.test']) {
      t.match(await client.say(`RCPT TO:<${bad}>`), /^501 /, bad)
    }
    t.match(await client.say('RCPT TO:<"a b"@x.test> NOTIFY='), /^501 /, 'a bad parameter')
    await client.say('DATA')
    t.match(await client.say('Subject: 1\r\n\r\nx\r\n.'), /^250 /)
    const [mail] = await listMessages(sandbox.store, { limit: 1 })
    t.match(mail, { mailFrom: '"b ob"@x.test', recipients: [...good, ...odd] })
    t.equal(mail?.warnings.length, 4)
    t.match(mail?.warnings[0], /^a\.\.b@docomo\.ne\.jp: RFC 5321 §4\.1\.2/)
  },
)

t.test('several mails share a connection, pipelined', async (t) => {
  const sandbox = await startSandbox(t)
  const client = await sandbox.talk()
  await client.say('EHLO client.test')
  for (let i = 0; i < 3; i++) {
    client.write('MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n')
    for (const code of ['250', '250', '354']) t.equal((await client.reply()).slice(0, 3), code)
    t.match(await client.say(`Subject: ${i}\r\n\r\nx\r\n.`), /^250 /)
  }
  t.equal(await countMessages(sandbox.store), 3)
})

t.test('the final dot is answered after the commit, not before', async (t) => {
  const store = await openTestStore(t)
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let asked = () => {}
  const writing = new Promise<void>((resolve) => {
    asked = resolve
  })
  const write: Write = async (work) => {
    asked()
    await gate
    return store.write(work)
  }
  const sandbox = await startSandbox(t, { store: { ...store, write } })
  const client = await sandbox.talk()
  await client.upToData()
  client.write('Subject: x\r\n\r\nx\r\n.\r\n')
  await writing
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(client.unread, '', 'silent while the commit is under way')
  t.equal(await countMessages(store), 0)
  open()
  t.match(await client.reply(), /^250 /)
  t.equal(await countMessages(store), 1)
})

t.test('a mail that cannot be stored is answered 451, and logged', async (t) => {
  const store = await openTestStore(t)
  const errors: string[] = []
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (_fields, message) => void errors.push(message),
    child: () => log,
  }
  const write: Write = () => Promise.reject(new Error('disk full'))
  const sandbox = await startSandbox(t, { store: { ...store, write }, log })
  t.match(await sandbox.send('Subject: x\r\n\r\nx'), /^451 4\.\d\.\d The mail could not be kept/)
  t.same(errors, ['Sandbox could not keep a mail'])
})

t.test('a mail over 25 MiB is refused with 552 and the connection lives on', async (t) => {
  const sandbox = await startSandbox(t)
  const client = await sandbox.talk()
  await client.say('EHLO client.test')
  t.match(await client.say('MAIL FROM:<a@b.test> SIZE=26214401'), /^552 /)
  await client.upToData()
  client.write(Buffer.alloc(26_214_401, 'x\r\n'))
  t.match(await client.say('\r\n.'), /^552 5\.3\.4 /)
  t.equal(await countMessages(sandbox.store), 0)
  await client.upToData()
  t.match(await client.say('Subject: small\r\n\r\nx\r\n.'), /^250 /)
})

t.test('mails that are too much for memory together get a 452', async (t) => {
  const sandbox = await startSandbox(t, { maxHeldBytes: 100_000 })
  const first = await sandbox.talk()
  const second = await sandbox.talk()
  await first.upToData()
  await second.upToData()
  const most = Buffer.alloc(60_000, `${'x'.repeat(58)}\r\n`)
  first.write(most)
  second.write(most)
  const replies = [await first.say('.'), await second.say('.')].sort()
  t.match(replies, [/^250 /, /^452 4\.3\.1 Too much mail at once/])
  await second.upToData()
  second.write(most)
  t.match(await second.say('.'), /^250 /, 'room is given back')
  const gone = await sandbox.talk()
  await gone.upToData()
  gone.write(most)
  gone.hangUp()
  for (let i = 0; i < 2; i++) {
    await first.upToData()
    first.write(most)
    await first.say('.')
  }
  t.equal(await countMessages(sandbox.store), 4, 'also by who went away')
})

t.test('a client that goes away in the middle of a mail leaves nothing', async (t) => {
  const sandbox = await startSandbox(t)
  const client = await sandbox.talk()
  await client.upToData()
  client.write('Subject: half\r\n\r\nx\r\n')
  client.hangUp()
  t.match(await sandbox.send('Subject: whole\r\n\r\nx'), /^250 /)
  t.same(
    (await listMessages(sandbox.store, { limit: 10 })).map(({ subject }) => subject),
    ['whole'],
  )
})

t.test('the newest are kept, the oldest deleted', async (t) => {
  const sandbox = await startSandbox(t, { keepMessages: 3 })
  for (let i = 0; i < 8; i++) await sandbox.send(`Subject: ${i}\r\n\r\nx`)
  const kept = await sandbox.checked(3)
  t.same(
    kept.map(({ subject }) => subject),
    ['7', '6', '5'],
  )
  const { read } = sandbox.store
  t.equal((await read.selectFrom('sandbox_sources').select('id').execute()).length, 3)
})

t.test('lists page by page, searches, and clears', async (t) => {
  const sandbox = await startSandbox(t)
  for (const subject of ['100% off', 'Invoice', 'invoice 2']) {
    await sandbox.send(`Subject: ${subject}\r\n\r\nx`, [`${subject.length}@shop.test`])
  }
  const { store } = sandbox
  const subjects = async (options: Parameters<typeof listMessages>[1]) =>
    (await listMessages(store, options)).map(({ subject }) => subject)
  t.same(await subjects({ limit: 2 }), ['invoice 2', 'Invoice'])
  const [, second] = await listMessages(store, { limit: 2 })
  t.same(await subjects({ limit: 2, before: second?.id ?? 0 }), ['100% off'])
  t.same(await subjects({ limit: 9, search: 'INVOICE' }), ['invoice 2', 'Invoice'])
  t.same(await subjects({ limit: 9, search: '8@shop' }), ['100% off'], 'by recipient')
  t.same(await subjects({ limit: 9, search: '%' }), ['100% off'], 'no wildcard')
  t.same(await subjects({ limit: 9, search: "' or 1=1 --" }), [])
  t.equal(await countMessages(store, 'invoice'), 2)
  t.equal(await clearMessages(store), 3)
  t.equal(await countMessages(store), 0)
  t.same(await store.read.selectFrom('sandbox_sources').select('id').execute(), [])
  t.equal(await findMessage(store, second?.id ?? 0), undefined)
  t.equal(await clearMessages(store), 0, 'twice does no harm')
})

t.test('a port that is taken is an error of the operator', async (t) => {
  const sandbox = await startSandbox(t)
  await t.rejects(
    openSandboxReceiver({
      store: sandbox.store,
      clock: { now: () => 0, after: () => () => {} },
      log: {
        debug() {},
        info() {},
        warn() {},
        error() {},
        child: () => {
          throw new Error()
        },
      },
      resolver: { mx: none, a: none, aaaa: none, txt: none, cname: none, ptr: none },
      config: { port: sandbox.port, keepMessages: 1 },
    }),
    new OperatorError(`Cannot listen on 127.0.0.1:${sandbox.port}`),
  )
})

async function none() {
  return { kind: 'none' } as const
}
