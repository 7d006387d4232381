import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import nodemailer from 'nodemailer'
import t from 'tap'
import { readEmail } from '../../src/emails/index.js'
import { listSessions } from '../../src/submission/index.js'
import { jsonOf, runCli } from '../cli/run.js'
import { fakeMx } from '../support/fake-mx.js'
import { directTo } from '../support/posthorn.js'
import { idOf, isSigned, startSubmission, submit, taken } from './start.js'

t.setTimeout(240_000)

const mx = await fakeMx(t)
const direct = directTo(mx)
const posthorn = await startSubmission(t, {
  ...direct,
  env: { ...direct.env, POSTHORN_HTTP_PUBLIC_URL: 'https://links.test' },
  settings: {
    submission: {
      trusted: [
        { network: '127.5.0.0/16', account: 'Test', from: 'Scan <scan@sender.test>', per_hour: 3 },
        { network: '127.6.0.0/16', account: 'Test', from: 'Zoë Büro <scan@sender.test>' },
      ],
    },
  },
})
const { store, accountId } = posthorn

/** What arrives for a recipient that nobody else has. */
let count = 0
async function deliver(message: string, options: { mail?: string } = {}) {
  const to = `r${++count}@example.test`
  const talk = await posthorn.loggedIn()
  // The line end before the final dot is the message's.
  const whole = message.replace(/\r\n$/, '')
  const reply = await submit(talk, whole, { ...options, to: [to] })
  talk.hangUp()
  const id = idOf(reply)
  if (id === '') return { reply, id, raw: Buffer.alloc(0) }
  await mx.waitUntil(() => mx.messages.some((mail) => mail.to[0] === to))
  return { reply, id, raw: mx.messages.find((mail) => mail.to[0] === to)?.raw ?? Buffer.alloc(0) }
}

const alternative = [
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="outer"',
  '',
  '--outer',
  'Content-Type: multipart/alternative; boundary=inner',
  '',
  '--inner',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Gr=FC=DFe',
  '--inner',
  'Content-Type: text/html; charset=utf-8',
  'X-Part: kept',
  'Content-Transfer-Encoding: 8bit',
  '',
  '<html><body><a href="https://shop.test/ü">Grüße</a></body></html>',
  '--inner--',
  '--outer',
  'Content-Type: application/pdf; name="a.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  'JVBERi0xLjQ=',
  '--outer--',
  '',
].join('\r\n')

t.test('links are tracked in the HTML part, and nothing else changes', async (t) => {
  const { raw } = await deliver(`From: ada@sender.test\r\nSubject: x\r\n${alternative}`)
  t.ok(await isSigned(posthorn, raw))
  const { body } = taken(raw)
  t.match(body, /https:\/\/links\.test\/c\//)
  t.match(body, /X-Part: kept\r\nContent-Transfer-Encoding: /)
  const upToHtml = alternative.slice(
    alternative.indexOf('--outer'),
    alternative.indexOf('Content-Type: text/html'),
  )
  t.equal(body.slice(0, upToHtml.length), upToHtml)
  t.equal(
    body.slice(body.indexOf('--inner--')),
    alternative.slice(alternative.indexOf('--inner--')),
  )
})

t.test('marketing mail gets the unsubscribe pair and a footer in both parts', async (t) => {
  await store.write((tx) =>
    tx
      .updateTable('subscriptions')
      .set({ marketing_plan_id: '019a9b10-0000-7000-8000-000000000102' })
      .execute(),
  )
  const own =
    'List-Unsubscribe: <https://old.test>\r\nX-Posthorn-Type: marketing\r\nX-Posthorn-Metadata: {"a":1}\r\n'
  const { raw, id, reply } = await deliver(
    `From: ada@sender.test\r\nSubject: x\r\n${own}${alternative}`,
  )
  t.match(reply, /^250 /)
  t.ok(await isSigned(posthorn, raw))
  const text = raw.toString()
  t.match(text, /\r\nList-Unsubscribe: <https:\/\/links\.test\/unsubscribe\//)
  t.match(text, /\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n/)
  t.notMatch(text, /old\.test|X-Posthorn/)
  const { default: PostalMime } = await import('postal-mime')
  const parsed = await PostalMime.parse(raw)
  t.match(parsed.text, /Grüße\s+---\n[\s\S]*https:\/\/links\.test\/unsubscribe\//)
  t.match(parsed.html, /links\.test\/preferences\//)
  t.equal(parsed.attachments.length, 1)
  t.match(await posthorn.email(id), { type: 'marketing', metadata: { a: 1 } })
})

t.test('what is signed or encrypted is not touched', async (t) => {
  for (const type of [
    'multipart/signed; protocol="application/pgp-signature"',
    'multipart/encrypted',
  ]) {
    const sealed = alternative.replace('multipart/mixed', type)
    const { raw } = await deliver(`From: ada@sender.test\r\nSubject: x\r\n${sealed}`)
    t.equal(
      taken(raw).body,
      sealed.slice(sealed.indexOf('--outer')).replaceAll('ü', 'Ã¼').replaceAll('ß', 'Ã\x9f'),
    )
    t.ok(await isSigned(posthorn, raw))
    const marketing = `From: ada@sender.test\r\nX-Posthorn-Type: marketing\r\n${sealed}`
    t.match((await deliver(marketing)).reply, /^550 5\.6\.0 .*signed or encrypted/)
  }
})

t.test('a message of one HTML part may get another encoding, and keeps its header', async (t) => {
  const { raw } = await deliver(
    'From: ada@sender.test\r\nX-A: 1\r\nContent-Type: text/html; charset=windows-1252\r\nContent-Transfer-Encoding: quoted-printable\r\nX-B: 2\r\n\r\n<p>=80 <a href=3D"https://a.test/">a</a></p>\r\n',
  )
  t.ok(await isSigned(posthorn, raw))
  const { default: PostalMime } = await import('postal-mime')
  t.match((await PostalMime.parse(raw)).html, /^<p>€ <a href="https:\/\/links\.test\/c\//)
  t.match(taken(raw).header, /^From: ada@sender\.test\r\nX-A: 1\r\nX-B: 2\r\n/)
})

t.test('a large message is streamed, byte for byte', async (t) => {
  const line = `${'0123456789abcdef'.repeat(4)} \t x\r\n`
  const body = line.repeat(100_000)
  const { raw } = await deliver(`From: ada@sender.test\r\nSubject: large\r\n\r\n${body}`)
  t.equal(taken(raw).body, body)
  t.ok(await isSigned(posthorn, raw))
  const kept = await store.read.selectFrom('content_pieces').select('number').execute()
  t.ok(kept.length > 100)
})

t.test('files that the API takes are taken from programs too', async (t) => {
  const lines =
    randomBytes(10 * 1024 * 1024)
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  const file = ['--b', 'Content-Type: application/zip', 'Content-Transfer-Encoding: base64']
  const message = [
    'From: ada@sender.test',
    'Subject: files',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'See the file.',
    ...file,
    '',
    ...lines,
    '--b--',
    '',
  ].join('\r\n')
  const { raw, id } = await deliver(message, { mail: ` SIZE=${message.length}` })
  t.match(id, /./)
  t.ok(raw.includes(message.slice(message.indexOf('--b'), -2)), 'byte for byte')
})

t.test('eight bits and SMTPUTF8 arrive as they were', async (t) => {
  const { raw } = await deliver('From: ada@sender.test\r\nSubject: Grüße\r\n\r\n漢字', {
    mail: ' BODY=8BITMIME SMTPUTF8',
  })
  t.match(raw.toString(), /\r\nSubject: Grüße\r\n[\s\S]*漢字\r\n$/)
})

t.test('a key makes one mail of two, though the program writes it anew', async (t) => {
  const mail = (n: number) =>
    `From: ada@sender.test\r\nSubject: once\r\nDate: Sat, 21 Nov 2026 12:00:0${n} +0000\r\nMessage-ID: <${n}@x.test>\r\nX-Posthorn-Idempotency-Key: k1\r\nContent-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}\r\n\r\ntext\r\n--b${n}--`
  const talk = await posthorn.loggedIn()
  const replies = [await submit(talk, mail(1)), await submit(talk, mail(2))]
  t.match(replies[0], /^250 2\.0\.0 Queued as /)
  t.equal(replies[0], replies[1])
  t.match(await submit(talk, mail(1).replace('once', 'twice')), /^550 5\.6\.0 .*another/)
})

t.test('a key is for one mail: what the X-Posthorn fields ask for is a part of it', async (t) => {
  const talk = await posthorn.loggedIn()
  const at = (hours: number) => new Date(Date.UTC(2027, 0, 1, hours)).toISOString()
  const asked: readonly (readonly [string, string, string])[] = [
    ['Scheduled-At', at(1), at(2)],
    ['Tags', 'plan=pro', 'plan=free'],
    ['Metadata', '{"order":1,"shop":2}', '{"order":2,"shop":2}'],
    ['Type', 'transactional', 'marketing'],
  ]
  for (const [name, value, other] of asked) {
    const mail = (field: string) => `${keyed}${name}\r\n${field}${html}`
    const first = await submit(talk, mail(`X-Posthorn-${name}: ${value}\r\n`))
    t.match(first, /^250 2\.0\.0 Queued as /, name)
    t.equal(await submit(talk, mail(`x-posthorn-${name}:  ${value}\r\n`)), first, 'as before')
    const reply = await submit(talk, mail(`X-Posthorn-${name}: ${other}\r\n`))
    t.match(reply, /^550 5\.6\.0 .*another/, `another ${name}`)
    t.match(await submit(talk, mail('')), /^550 5\.6\.0 .*another/, `no ${name}`)
  }
  const json = (text: string) => `${keyed}order\r\nX-Posthorn-Metadata: ${text}\r\n${html}`
  const first = await submit(talk, json('{"a":1,"b":{"c":2,"d":3}}'))
  t.equal(await submit(talk, json('{"b":{"d":3,"c":2}, "a":1}')), first, 'names in another order')
})

const keyed =
  'From: ada@sender.test\r\nTo: bob@example.test\r\nSubject: keyed\r\nX-Posthorn-Idempotency-Key: key-'
const html = [
  'Content-Type: multipart/alternative; boundary=b',
  '',
  '--b\r\n\r\ntext',
  '--b\r\nContent-Type: text/html\r\n\r\n<p>text</p>\r\n--b--',
].join('\r\n')

t.test('paths without brackets are taken', async (t) => {
  const talk = await posthorn.loggedIn()
  for (const [from, to] of [
    ['MAIL FROM:ada@sender.test', 'RCPT TO:bare1@example.test'],
    ['mail from: ada@sender.test SIZE=1000', 'rcpt to:  bare2@example.test'],
    ['MAIL FROM:<ada@sender.test>', 'RCPT TO: <bare3@example.test>'],
  ] as const) {
    t.match(await talk.say(from), /^250 /, from)
    t.match(await talk.say(to), /^250 /, to)
    t.match(await talk.say('DATA'), /^354 /)
    t.match(await talk.say(`From: ada@sender.test\r\n\r\n${to}\r\n.`), /^250 2\.0\.0 /)
  }
  await mx.waitUntil(() =>
    ['1', '2', '3'].every((n) => mx.messages.some(({ to }) => to[0] === `bare${n}@example.test`)),
  )
  t.match(await talk.say('MAIL FROM:ada'), /^501 /, 'what is no address is refused still')
})

t.test(
  'a Message-ID and a Date of no valid form are replaced, and the record says so',
  async (t) => {
    const write = (fields: string) =>
      deliver(`From: ada@sender.test\r\n${fields}Subject: x\r\n\r\nx`)
    const idIn = (raw: Buffer) => raw.toString().match(/^Message-ID: *(.*)\r$/gim) ?? []
    const dateIn = (raw: Buffer) => raw.toString().match(/^Date: *(.*)\r$/gim) ?? []
    const bare = await write('Message-ID: 49b0f84a@sender.test\r\n')
    t.same(idIn(bare.raw), ['Message-ID: <49b0f84a@sender.test>\r'], 'what is there is kept')
    for (const id of [
      '<two words@sender.test>',
      '<a@sender.test> (note)',
      '',
      '<>',
      '<a@b><c@d>',
    ]) {
      t.match(
        idIn((await write(`Message-ID: ${id}\r\n`)).raw),
        [/^Message-ID: <[0-9a-f-]{36}@sender\.test>\r$/],
        id,
      )
    }
    for (const date of [
      '2026-11-26 10:00:00',
      'Thu Nov 26 10:00:00 2026',
      '26/11/2026',
      '',
      'Do, 26 Nov 2026 25:00:00 +0100',
      'Thu, 26 Nov 2026 10:00:00',
    ]) {
      t.match(
        dateIn((await write(`Date: ${date}\r\n`)).raw),
        [/^Date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000\r$/],
        date,
      )
    }
    for (const date of [
      '26 Nov 2026 10:00 +0100',
      'Thu, 26 Nov 26 10:00:00 GMT',
      'thu, 6 nov 2026 1:00:00 +0000 (UTC)',
    ]) {
      t.same(dateIn((await write(`Date: ${date}\r\n`)).raw), [`Date: ${date}\r`], 'RFC 5322 has it')
    }
    const verdicts = async () =>
      (await listSessions(store.read, { refused: false, limit: 40 })).map(({ verdict }) => verdict)
    const told = ['accepted, with another message-id', 'accepted, with another date']
    for (let all: string[] = []; !told.every((one) => all.includes(one)); ) all = await verdicts()
  },
)

t.test('what only servers write does not leave in our name', async (t) => {
  const forged = [
    'Authentication-Results: mx.test; dkim=pass header.d=bank.test',
    'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=bank.test; b=x',
    'ARC-Message-Signature: i=1; a=rsa-sha256; d=bank.test; b=x',
    'ARC-Authentication-Results: i=1; mx.test; spf=pass',
    'DKIM-Signature: v=1; a=rsa-sha256; d=bank.test; s=x;\r\n h=from; bh=x; b=x',
    'DomainKey-Signature: a=rsa-sha1; d=bank.test; b=x',
    'Resent-From: ceo@bank.test',
    'Resent-Date: Thu, 26 Nov 2026 10:00:00 +0000',
    'Received-SPF: pass',
    'Errors-To: eve@bank.test',
    'X-Original-To: eve@bank.test',
  ]
  const received = 'Received: from a.test by b.test; Thu, 26 Nov 2026 10:00:00 +0000'
  const fields = [...forged, received].map((field) => `${field}\r\n`).join('')
  const { raw } = await deliver(`${fields}From: ada@sender.test\r\nSubject: x\r\n\r\nbank.test`)
  const { header } = taken(raw)
  t.notMatch(header, /bank\.test|^(?:ARC|Auth|Resent|DKIM|Domain|Errors|X-Orig|Received-)/im)
  t.match(header, received, 'by which loops are found')
  t.ok(await isSigned(posthorn, raw))
})

t.test('a connection that is cut after the commit, and the retry, are one mail', async (t) => {
  const to = 'cut@example.test'
  const message =
    'From: ada@sender.test\r\nSubject: cut\r\nX-Posthorn-Idempotency-Key: cut\r\n\r\nx\r\n.\r\n'
  const talk = await posthorn.loggedIn()
  await talk.say('MAIL FROM:<ada@sender.test>')
  await talk.say(`RCPT TO:<${to}>`)
  await talk.say('DATA')
  talk.write(message)
  // The commit is seen in the database, before anything of the reply is read.
  const committed = async () =>
    (await store.read.selectFrom('emails').select('id').where('subject', '=', 'cut').execute())[0]
      ?.id
  while ((await committed()) === undefined) await new Promise((resolve) => setImmediate(resolve))
  talk.hangUp()
  const again = await posthorn.loggedIn()
  const reply = await submit(again, message.slice(0, -5), { to: [to] })
  t.equal(idOf(reply), await committed())
  await mx.waitUntil(() => mx.messages.some((mail) => mail.to[0] === to))
  await posthorn.until(idOf(reply), ({ status }) => status === 'delivered')
  t.equal(mx.messages.filter((mail) => mail.to[0] === to).length, 1)
})

t.test('a scheduled mail waits, with the copies that its readers see', async (t) => {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const talk = await posthorn.loggedIn()
  const reply = await submit(
    talk,
    `From: ada@sender.test\r\nTo: a@example.test\r\nCc: b@example.test\r\nSubject: later\r\nX-Posthorn-Scheduled-At: ${at}\r\nX-Posthorn-Tags: plan=pro, step=2\r\n\r\nx`,
    { to: ['a@example.test', 'b@example.test', 'c@example.test'] },
  )
  const email = await posthorn.email(idOf(reply))
  t.match(email, {
    status: 'scheduled',
    scheduledAt: at,
    to: 'a@example.test',
    cc: ['b@example.test'],
    bcc: ['c@example.test'],
  })
  t.same(email.tags, [
    { name: 'plan', value: 'pro' },
    { name: 'step', value: '2' },
  ])
})

t.test('a template takes the place of the text, and of nothing else', async (t) => {
  const options = { env: { POSTHORN_DATA: posthorn.dataDir } }
  const file = join(t.testdir(), 'welcome.html')
  writeFileSync(file, '<p>Hello {{ name }}</p>')
  const made = await runCli(
    ['template', 'put', 'welcome', '--subject', 'Hi {{ name }}', '--html', file],
    options,
  )
  t.equal(made.status, 0, made.stderr)
  const head = 'From: ada@sender.test\r\nX-Posthorn-Template: welcome\r\n'
  const { raw } = await deliver(`${head}X-Posthorn-Variables: {"name":"Bob"}\r\n\r\nignored`)
  t.match(raw.toString(), /Subject: Hi Bob\r\n[\s\S]*<p>Hello Bob<\/p>/)
  t.match((await deliver(`${head}\r\nx`)).reply, /^550 5\.6\.0 .*name/)
  t.match(
    (await deliver(`${head}${alternative}`)).reply,
    /^550 5\.6\.0 .*application\/pdf would be lost/,
  )
})

t.test('what a message with a template says beside its text goes with the mail', async (t) => {
  const head =
    'From: ada@sender.test\r\nX-Posthorn-Template: welcome\r\nX-Posthorn-Variables: {"name":"B"}\r\n'
  const { raw, id } = await deliver(
    `${head}Reply-To: "Help, desk" <help@sender.test>, orders@sender.test\r\nIn-Reply-To:\r\n <42@a.test>\r\nX-Order: =?UTF-8?Q?gr=C3=BCn?=\r\nDate: Mon, 1 Jan 2024 00:00:00 +0000\r\n\r\nx`,
  )
  const text = raw.toString()
  t.match(text, /^Reply-To: "Help, desk" <help@sender\.test>, orders@sender\.test\r$/m)
  t.match(text, /^In-Reply-To: <42@a\.test>\r$/m)
  t.match(text, /^X-Order: =\?UTF-8\?B\?Z3LDvG4=\?=\r$/m)
  t.notMatch(text, /1 Jan 2024/)
  const email = await readEmail(store.read, accountId, id)
  t.same(email?.replyTo, ['"Help, desk" <help@sender.test>', 'orders@sender.test'])
  const unread = await deliver(`${head}Reply-To: Team: a@b.test;\r\n\r\nx`)
  t.match(unread.reply, /^550 5\.6\.0 Reply-To cannot be read/)
})

t.test('a template shows nobody who was hidden', async (t) => {
  const head =
    'From: ada@sender.test\r\nX-Posthorn-Template: welcome\r\nX-Posthorn-Variables: {"name":"B"}\r\n'
  const talk = await posthorn.loggedIn()
  // The hidden address is the end of the one that is shown.
  const to = ['joann.h@example.test', 'ann.h@example.test']
  t.match(await submit(talk, `${head}To: Jo <joann.h@example.test>\r\n\r\nx`, { to }), /^250/)
  await mx.waitUntil(() => mx.messages.filter((mail) => to.includes(mail.to[0] ?? '')).length === 2)
  for (const {
    raw,
    to: [rcpt = ''],
  } of mx.messages.filter((mail) => to.includes(mail.to[0] ?? ''))) {
    t.match(raw.toString(), /^To: joann\.h@example\.test\r$/m, rcpt)
    t.notMatch(raw.toString(), /[^o]ann\.h@/, rcpt)
  }
  for (const field of ['To: undisclosed-recipients:;', 'Cc: ann.h@example.test']) {
    const reply = await submit(talk, `${head}${field}\r\n\r\nx`, { to })
    t.match(reply, /^550 5\.6\.0 .*all would see joann\.h@example\.test/)
  }
})

t.test('the record of a message has all of its Reply-To', async (t) => {
  const { id, raw } = await deliver(
    'From: ada@sender.test\r\nReply-To: a@b.test, C <c@d.test>\r\nSubject: x\r\n\r\nx',
  )
  t.same((await readEmail(store.read, accountId, id))?.replyTo, ['a@b.test', 'C <c@d.test>'])
  t.equal(raw.toString().match(/^Reply-To:/gm)?.length, 1)
})

t.test('a trusted network needs no log-in, has one sender and a rate of its own', async (t) => {
  const { Talk } = await import('../sandbox/talk.js')
  const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0, '127.5.0.1')
  await talk.say('HELO printer')
  const to = ['p1@example.test', 'p2@example.test']
  const message = 'From: "Printer" <printer@local>\r\nSender: x@local\r\nSubject: scan\r\n\r\nx'
  t.match(await submit(talk, message, { from: 'printer@local.lan', to }), /^250 2\.0\.0/)
  await mx.waitUntil(() => mx.messages.some((mail) => mail.to[0] === 'p2@example.test'))
  const raw = mx.messages.find((mail) => mail.to[0] === 'p2@example.test')?.raw ?? Buffer.alloc(0)
  t.match(taken(raw).header, /^From: Scan <scan@sender\.test>\r\nSubject: scan\r\n/)
  t.match(await submit(talk, message, { from: 'printer@local.lan', to }), /^452 4\.7\.1/)
})

t.test("a trusted network's sender with letters beyond ASCII is written in ASCII", async (t) => {
  const { Talk } = await import('../sandbox/talk.js')
  const { talk } = await Talk.greeted(t, posthorn.ports.plain ?? 0, '127.6.0.1')
  await talk.say('HELO printer')
  const to = ['zoe@example.test']
  const reply = await submit(talk, 'From: x@local\r\nSubject: scan\r\n\r\nx', { to })
  t.match(reply, /^250 2\.0\.0/)
  await mx.waitUntil(() => mx.messages.some((mail) => mail.to[0] === 'zoe@example.test'))
  const raw = mx.messages.find((mail) => mail.to[0] === 'zoe@example.test')?.raw ?? Buffer.alloc(0)
  t.match(taken(raw).header, /^From: =\?UTF-8\?[BQ]\?[!-~]+\?= <scan@sender\.test>\r\n/i)
  t.match(await posthorn.email(idOf(reply)), { from: 'Zoë Büro <scan@sender.test>' })
})

t.test("a copy's address is not looked for inside a longer one", async (t) => {
  const talk = await posthorn.loggedIn()
  const reply = await submit(
    talk,
    'From: ada@sender.test\r\nTo: "B" <notbob@example.test>, bob@example.test.invalid\r\n\r\nx',
    { to: ['notbob@example.test', 'bob@example.test'] },
  )
  t.match(await posthorn.email(idOf(reply)), {
    to: 'notbob@example.test',
    cc: [],
    bcc: ['bob@example.test'],
  })
})

t.test('sessions are told: whose, how, and what was refused', async (t) => {
  const options = { env: { POSTHORN_DATA: posthorn.dataDir } }
  const talk = await posthorn.loggedIn()
  await submit(talk, 'From: a@elsewhere.test\r\n\r\nx')
  await talk.say('QUIT')
  type Told = { id: string; verdict: string; keyLast4: string; tls: string; transcript: string }
  let told: Told | undefined
  while (told === undefined) {
    const sessions = await jsonOf<Told[]>(t, ['submission', 'sessions', '--refused'], options)
    told = sessions.find(({ verdict }) => verdict.includes('elsewhere.test'))
  }
  t.match(told, { keyLast4: posthorn.apiKey.slice(-4), tls: /^TLSv1\.[23] /, accountId })
  const { stdout } = await runCli(['submission', 'show', told.id], options)
  t.match(stdout, /C: MAIL FROM:<ada@sender\.test>\nS: 250/)
  t.match(stdout, /S: 550 5\.7\.1/)
  const secret = Buffer.from(`\0posthorn\0${posthorn.apiKey}`).toString('base64')
  t.notOk(stdout.includes(secret) || stdout.includes(posthorn.apiKey), 'the key is in none of it')
})

const login = () => ({ user: 'posthorn', pass: posthorn.apiKey })

t.test('nodemailer hands in over 465 and STARTTLS', async (t) => {
  for (const [name, secure] of [
    ['starttls', false],
    ['tls', true],
  ] as const) {
    const transport = nodemailer.createTransport({
      host: '127.0.0.1',
      port: posthorn.ports[name] ?? 0,
      secure,
      requireTLS: !secure,
      auth: login(),
      tls: { ca: posthorn.ca, servername: 'localhost' },
    })
    const to = `nm-${name}@example.test`
    const { response } = await transport.sendMail({
      from: 'Zoë <ada@sender.test>',
      to,
      subject: 'Grüße',
      text: 'Ünï',
      html: '<p>Ünï</p>',
      attachments: [{ filename: 'ü.txt', content: 'Anhang' }],
    })
    transport.close()
    t.match(response, /^250 2\.0\.0 Queued as/)
    await mx.waitUntil(() => mx.messages.some((mail) => mail.to[0] === to))
    const raw = mx.messages.find((mail) => mail.to[0] === to)?.raw ?? Buffer.alloc(0)
    t.ok(await isSigned(posthorn, raw))
  }
})

const there = (command: string) => spawnSync('which', [command]).status === 0

/** Runs a client; resolves with its status and what it said. */
function run(
  command: string,
  args: string[],
  input = '',
): Promise<{ status: number | null; said: string }> {
  const child = spawn(command, args)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, said })))
}

const simple = (to: string) =>
  `From: ada@sender.test\r\nTo: ${to}\r\nSubject: client\r\n\r\n.dots\r\n..\r\nend\r\n`

async function arrives(to: string) {
  await mx.waitUntil(() => mx.messages.some((mail) => mail.to[0] === to))
  return mx.messages.find((mail) => mail.to[0] === to)?.raw.toString() ?? ''
}

t.test('Python smtplib', { skip: there('python3') ? false : 'python3 missing' }, async (t) => {
  const to = 'smtplib@example.test'
  const script = `
import smtplib, ssl, sys
context = ssl.create_default_context(cadata=sys.argv[3])
s = smtplib.SMTP('localhost', int(sys.argv[1])); s.starttls(context=context)
s.login('anybody', sys.argv[2])
print(s.sendmail('ada@sender.test', ['${to}'], sys.stdin.read()))
try: s.sendmail('a@elsewhere.test', ['${to}'], 'From: a@elsewhere.test\\n\\nx')
except smtplib.SMTPSenderRefused as e: print(e.smtp_code)
s.quit()`
  const args = ['-c', script, String(posthorn.ports.starttls), posthorn.apiKey, posthorn.ca]
  const { status, said } = await run('python3', args, simple(to))
  t.equal(status, 0, said)
  t.match(said, /\{\}\n550/)
  t.match(await arrives(to), /\r\n\r\n\.dots\r\n\.\.\r\nend\r\n$/)
})

t.test('msmtp', { skip: there('msmtp') ? false : 'msmtp missing' }, async (t) => {
  const to = 'msmtp@example.test'
  const dir = t.testdir({ ca: posthorn.ca })
  const args = [
    '--host=127.0.0.1',
    `--port=${posthorn.ports.starttls}`,
    '--tls=on',
    '--tls-starttls=on',
    '--tls-certcheck=off',
    '--auth=plain',
    '--user=me',
    `--passwordeval=echo ${posthorn.apiKey}`,
    '--from=ada@sender.test',
    to,
  ]
  const { status, said } = await run('msmtp', args, simple(to).replaceAll('\r\n', '\n'))
  t.ok(dir)
  t.equal(status, 0, said)
  t.match(await arrives(to), /\r\n\.dots\r\n\.\.\r\nend\r\n$/)
})

t.test('swaks', { skip: there('swaks') ? false : 'swaks missing' }, async (t) => {
  const to = 'swaks@example.test'
  const args = [
    '--server',
    '127.0.0.1',
    '--port',
    String(posthorn.ports.plain),
    '--auth',
    'LOGIN',
    '--auth-user',
    'x',
    '--auth-password',
    posthorn.apiKey,
    '--from',
    'ada@sender.test',
    '--to',
    to,
    '--h-From',
    'ada@sender.test',
    '--body',
    'hello',
  ]
  const { status, said } = await run('swaks', args)
  t.equal(status, 0, said)
  t.match(await arrives(to), /hello/)
})

const phpNeeds = there('php') && there('msmtp') ? false : 'php or msmtp missing'
t.test('PHP mail() through sendmail', { skip: phpNeeds }, async (t) => {
  const to = 'php@example.test'
  const file = join(
    t.testdir({
      msmtprc: `account default\nhost 127.0.0.1\nport ${posthorn.ports.plain}\nfrom ada@sender.test\nauth plain\nuser me\npasswordeval "echo ${posthorn.apiKey}"\n`,
    }),
    'msmtprc',
  )
  // It reads no passwords from a file that others can read.
  chmodSync(file, 0o600)
  const sendmail = `msmtp -C ${file} -t`
  const { status, said } = await run('php', [
    '-d',
    `sendmail_path=${sendmail}`,
    '-r',
    `exit(mail('${to}', 'From PHP', "hello\\n", ['From' => 'ada@sender.test']) ? 0 : 1);`,
  ])
  t.equal(status, 0, said)
  t.match(await arrives(to), /Subject: From PHP/)
})

t.test('who is slow keeps nobody waiting', async (t) => {
  const slow = Array.from({ length: 20 }, () => {
    const socket = connect({
      port: posthorn.ports.plain ?? 0,
      host: '127.0.0.1',
      localAddress: '127.8.0.1',
    })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    return socket
  })
  for (const socket of slow) socket.write('EHLO sl')
  const { reply } = await deliver('From: ada@sender.test\r\n\r\nx')
  t.match(reply, /^250/)
})
