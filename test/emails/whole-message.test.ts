// Issue 'For developers', 1: cc, bcc, headers, tags and replyTo, from the API to the mail that arrives.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime, { decodeWords } from 'postal-mime'
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { publishedRecords } from '../../src/domains/index.js'
import { suppress } from '../../src/suppression/index.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const plans = loadPlans(packageFile('config/plans.toml'))
await store.write((tx) =>
  setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Pro')),
)
const good = { from: 'Shop <shop@sender.test>', subject: 'Hello', html: '<p>Hello</p>' }

interface Copy {
  /** Of the envelope. */
  recipients: string[]
  raw: Buffer
  /** Unfolded, by name in lower case. */
  header(name: string): string[]
}

/** What the sandbox inbox has of a mail, when all of it is delivered. */
async function copiesOf(from: Posthorn, id: string): Promise<Copy[]> {
  await from.until(id, ({ status }) => status === 'delivered')
  const rows = await from.store.read
    .selectFrom('sandbox_messages')
    .innerJoin('sandbox_sources', 'sandbox_sources.id', 'sandbox_messages.id')
    .select(['rcpt_to', 'raw'])
    .execute()
  const email = await from.email(id)
  return rows
    .filter(({ raw }) => raw.includes(email.messageId))
    .map(({ rcpt_to, raw }) => {
      const [head = ''] = raw.toString('latin1').split('\r\n\r\n')
      const fields = head.replace(/\r\n(?=[ \t])/g, '').split('\r\n')
      return {
        recipients: JSON.parse(rcpt_to) as string[],
        raw,
        header: (name) =>
          fields
            .filter((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`))
            .map((field) => field.slice(name.length + 1).trim()),
      }
    })
}

const sent = async (body: object) => {
  const { json, status } = await posthorn.send({ ...good, ...body })
  t.equal(status, 200, JSON.stringify(json))
  return json.id as string
}

t.test('cc is on every copy, bcc on none, and each address gets one', async (t) => {
  const id = await sent({
    to: ['Ann <ann@one.test>', 'bob@two.test'],
    cc: ['"Cleo, C." <cleo@one.test>', 'ann@one.test', 'zoe@Bücher.test'],
    bcc: ['dan@three.test', 'BOB@two.test', 'bob@TWO.test'],
  })
  const copies = await copiesOf(posthorn, id)
  const all = ['BOB@two.test', 'ann@one.test', 'bob@two.test', 'cleo@one.test', 'dan@three.test']
  // The sandbox's server shows A-labels as they read.
  t.same(copies.flatMap(({ recipients }) => recipients).sort(), [...all, 'zoe@bücher.test'])
  for (const { header, raw, recipients } of copies) {
    t.equal(recipients.length, 1, 'an envelope of its own')
    t.same(header('To'), ['Ann <ann@one.test>, bob@two.test'])
    t.same(header('Cc'), ['"Cleo, C." <cleo@one.test>, ann@one.test, zoe@xn--bcher-kva.test'])
    t.same(header('Bcc'), [])
    t.notOk(/dan@|BOB@/.test(raw.toString()), 'no trace of the others of bcc')
  }
  const { recipients, ...email } = await posthorn.email(id)
  t.match(email, {
    to: 'Ann <ann@one.test>, bob@two.test',
    cc: ['"Cleo, C." <cleo@one.test>', 'ann@one.test', 'zoe@Bücher.test'],
    bcc: ['dan@three.test', 'BOB@two.test', 'bob@TWO.test'],
  })
  t.same(
    recipients.map(({ email, kind }) => `${kind} ${email}`),
    [
      'to ann@one.test',
      'to bob@two.test',
      'cc cleo@one.test',
      'cc zoe@xn--bcher-kva.test',
      'bcc dan@three.test',
      'bcc BOB@two.test',
    ],
  )
})

t.test(
  'the suppressed are left out wherever they are given, and a quota counts who is left',
  async (t) => {
    const gone = { email: 'gone@one.test', reason: 'bounce' } as const
    await store.write((tx) => suppress(tx, accountId, gone, Date.now()))
    const usage = async () => {
      const rows = await store.read.selectFrom('usage').select('mails').execute()
      return Math.max(0, ...rows.map(({ mails }) => mails))
    }
    const before = await usage()
    const id = await sent({ to: 'ann@one.test', cc: gone.email, bcc: ['bob@one.test', gone.email] })
    t.equal((await usage()) - before, 2)
    const { recipients } = await posthorn.until(id, ({ status }) => status === 'delivered')
    t.match(recipients, [
      { email: 'ann@one.test', kind: 'to', status: 'delivered' },
      { email: 'bob@one.test', kind: 'bcc', status: 'delivered' },
      { email: gone.email, kind: 'cc', status: 'suppressed' },
    ])
    const alone = await sent({ to: gone.email, cc: [], bcc: gone.email })
    t.equal((await posthorn.email(alone)).status, 'suppressed')
  },
)

t.test('recipients are at most 50 over all three fields, each an address', async (t) => {
  const many = (n: number, at: string) => Array.from({ length: n }, (_, i) => `r${i}@${at}.test`)
  const full = { to: many(20, 'a'), cc: many(20, 'b'), bcc: many(10, 'c') }
  await sent({ ...full, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
  const over = await posthorn.send({ ...good, ...full, cc: many(21, 'b') })
  t.match(over, { status: 400, json: { code: 'validation_error', count: 51, max: 50 } })
  t.match(over.json.error, 'Too many recipients: 51 given')
  t.match(await posthorn.send({ ...good, to: 'a@b.test', cc: many(60, 'b') }), {
    status: 400,
    json: { count: 61 },
  })
  for (const field of ['cc', 'bcc', 'replyTo']) {
    for (const value of ['nobody', 7, ['a@b.test', 'nobody'], { a: 1 }, ['']]) {
      const { status, json } = await posthorn.send({ ...good, to: 'a@b.test', [field]: value })
      t.equal(status, 400, `${field} ${JSON.stringify(value)}`)
      t.match(json.error.issues[0].path[0], field)
    }
  }
  const answers = many(11, 'a')
  t.match(await posthorn.send({ ...good, to: 'a@b.test', replyTo: answers }), { status: 400 })
})

t.test('marketing mail has no copies', async (t) => {
  for (const copies of [{ cc: 'a@b.test' }, { bcc: ['a@b.test'] }]) {
    const { status, json } = await posthorn.send({
      ...good,
      to: 'ann@one.test',
      type: 'marketing',
      ...copies,
    })
    t.match({ status, json }, { status: 422, json: { code: 'validation_error' } })
    t.match(json.error, /^cc and bcc are only for mail of type "transactional"/)
  }
  await sent({ to: 'ann@one.test', type: 'marketing', cc: [] })
})

t.test('headers arrive as given, encoded where needed, and signed', async (t) => {
  const long = Array.from({ length: 60 }, (_, i) => `<${i}.${'x'.repeat(40)}@mail.test>`).join(' ')
  const headers = {
    'X-Entity-Ref-ID': '4711',
    'In-Reply-To': '<CAF=x+_y.1@mail.gmail.com>',
    References: long,
    'X-Gruse': 'Grüße aus Zürich 📯 und noch viel mehr davon',
    'X-Encoded': '=?UTF-8?Q?Caf=C3=A9?=',
    'Auto-Submitted': 'auto-generated',
    'x-spaces': 'a   b    c',
    'X-Word': 'y'.repeat(900),
    'Feedback-ID': 'campaign:shop:posthorn',
    constructor: 'no trap',
  }
  const id = await sent({ to: 'ann@one.test', cc: 'bob@one.test', headers })
  const copies = await copiesOf(posthorn, id)
  t.equal(copies.length, 2)
  const settings = { heloName: 'localhost', sourceAddresses: [] }
  const dns = await publishedRecords(store.read, settings)
  for (const { raw, header } of copies) {
    t.ok(
      raw
        .toString('latin1')
        .split('\r\n')
        .every((line) => line.length <= 998),
    )
    t.notOk(/(^|[^\r])\n|[^\x00-\x7f]/.test(raw.toString('latin1').split('\r\n\r\n')[0] ?? ''))
    t.same(header('In-Reply-To'), [headers['In-Reply-To']])
    t.same(header('References'), [long])
    t.same(header('X-Word'), [headers['X-Word']])
    t.same(header('x-spaces'), [headers['x-spaces']])
    const parsed = await PostalMime.parse(raw)
    const read = Object.fromEntries(parsed.headers.map(({ key, value }) => [key, value]))
    t.equal(decodeWords(read['x-gruse'] ?? ''), headers['X-Gruse'])
    t.equal(decodeWords(read['x-encoded'] ?? ''), 'Café')
    const [signature = ''] = header('DKIM-Signature')
    const signed = /h=([^;]+);/.exec(signature)?.[1]?.replace(/\s/g, '').split(':') ?? []
    for (const name of Object.keys(headers)) t.ok(signed.includes(name.toLowerCase()), name)
    t.equal(signed.filter((name) => name === 'feedback-id').length, 2, 'oversigned as ever')
    const { results } = await dkimVerify(raw, {
      resolver: async (name: string) => [[dns[name]?.txt?.[0] ?? '']],
    })
    t.same(
      results.map(({ status }) => status.result),
      ['pass', 'pass'],
    )
    const forged = Buffer.from(
      raw.toString('latin1').replace('Ref-ID: 4711', 'Ref-ID: 4712'),
      'latin1',
    )
    const again = await dkimVerify(forged, {
      resolver: async (name: string) => [[dns[name]?.txt?.[0] ?? '']],
    })
    t.equal(again.results[0]?.status.result, 'fail')
  }
  t.same((await posthorn.email(id)).headers, headers)
})

const refusals: [name: string, value: string, why: RegExp][] = [
  ...[
    'From',
    'to',
    'CC',
    'Bcc',
    'Subject',
    'Date',
    'Message-ID',
    'message-id',
    'Return-Path',
    'Received',
    'Received-SPF',
    'DKIM-Signature',
    'ARC-Seal',
    'Authentication-Results',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'content-disposition',
    'Sender',
    'Reply-To',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
    'List-Id',
    'CFBL-Address',
    'CFBL-Feedback-ID',
    'X-Posthorn-Type',
    'Resent-From',
    'Delivered-To',
    'Errors-To',
    'DomainKey-Signature',
  ].map((name): [string, string, RegExp] => [
    name,
    'x',
    new RegExp(`^The header "${name}" cannot be set: `),
  ]),
  ['X:A', 'x', /its name has to be/],
  ['X A', 'x', /its name has to be/],
  ['', 'x', /its name has to be/],
  ['X-Ä', 'x', /its name has to be/],
  ['X-A\r\nBcc', 'x', /its name has to be/],
  ['x'.repeat(77), 'x', /its name has to be/],
  ['From ', 'x', /its name has to be/],
  ['X-A', 'x\r\nBcc: evil@x.test', /a line break or another control/],
  ['X-A', 'x\nBcc: evil@x.test', /a line break or another control/],
  ['X-A', 'x\rBcc: evil@x.test', /a line break or another control/],
  ['X-A', 'a\u0000b', /a line break or another control/],
  ['X-A', 'a\u0085b', /a line break or another control/],
  ['X-A', 'a\u2028Bcc: evil@x.test', /a line break or another control/],
  ['X-A', 'a\tb', /a line break or another control/],
  ['X-A', '\ud800', /half of a character/],
  ['X-A', '', /its value is empty/],
  ['X-A', '   ', /its value is empty/],
  ['X-A', 'y'.repeat(901), /a word of over 900/],
  ['X-A', 'y '.repeat(3_000), /over 4096 bytes/],
  ['References', '<ä@b.test>', /only ASCII characters/],
]

t.test('a header that is ours, or no header, is a 422 that names it', async (t) => {
  const count = async () => (await store.read.selectFrom('emails').select('id').execute()).length
  const before = await count()
  for (const [i, [name, value, why]] of refusals.entries()) {
    const body = { ...good, to: 'ann@one.test', headers: { 'X-Good': 'x', [name]: value } }
    const { status, json } = await posthorn.send(body)
    t.match(
      { status, json },
      { status: 422, json: { code: 'validation_error' } },
      JSON.stringify(name),
    )
    t.match(json.error, why, `case ${i}`)
  }
  const twice = await posthorn.send({
    ...good,
    to: 'a@one.test',
    headers: { 'X-A': '1', 'x-a': '2' },
  })
  t.match(twice, { status: 422, json: { error: /"x-a" is given twice/ } })
  const many = (n: number, value: string) =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`X-${i}`, value]))
  const over = await posthorn.send({ ...good, to: 'a@one.test', headers: many(26, 'x') })
  t.match(over, { status: 422, json: { error: /26 are given, at most 25/ } })
  const big = await posthorn.send({
    ...good,
    to: 'a@one.test',
    headers: many(25, 'x '.repeat(400)),
  })
  t.match(big, { status: 422, json: { error: /bytes are given, at most 16384/ } })
  for (const headers of [[], 'X-A: b', { 'X-A': 7 }, { 'X-A': ['b'] }, { 'X-A': null }]) {
    t.match(await posthorn.send({ ...good, to: 'a@one.test', headers }), { status: 400 })
  }
  t.equal(await count(), before)
})

t.test('a batch tells the faults by item, and takes what a send takes', async (t) => {
  const mail = { ...good, to: 'ann@one.test' }
  const batch = (emails: object[]) =>
    posthorn.call('POST', '/v1/emails/batch', { body: { emails } })
  const wrong = await batch([
    mail,
    { ...mail, headers: { Subject: 'x' } },
    { ...mail, cc: 'nobody' },
    { ...mail, tags: [{ name: 'a b', value: 'x' }] },
    { ...mail, bcc: 'a@b.test', type: 'marketing', headers: { To: 'x' } },
  ])
  t.equal(wrong.status, 422)
  t.match(wrong.json.errors, [
    {
      index: 1,
      error: 'The header "Subject" cannot be set: use the field "subject" of the request',
    },
    { index: 2, error: /^cc: Expected an address/ },
    { index: 3, error: /^tags\.0\.name: Expected 1 to 64/ },
    { index: 4, error: /^cc and bcc are only for .*; The header "To" cannot be set/ },
  ])
  const whole = { cc: 'bob@one.test', headers: { 'X-N': '1' }, replyTo: ['a@b.test', 'c@d.test'] }
  const { json } = await batch([mail, { ...mail, ...whole, tags: [{ name: 'n', value: '1' }] }])
  const [plain, full] = await Promise.all(
    json.ids.map((id: string) => posthorn.until(id, ({ status }) => status === 'delivered')),
  )
  t.match(plain, { cc: [], bcc: [], replyTo: [], headers: {}, tags: [] })
  t.match(full, {
    cc: ['bob@one.test'],
    headers: { 'X-N': '1' },
    tags: [{ name: 'n', value: '1' }],
  })
  const [copy] = await copiesOf(posthorn, json.ids[1])
  t.same(copy?.header('Reply-To'), ['a@b.test, c@d.test'])
})

t.test('replyTo is one address, some, or none', async (t) => {
  for (const [replyTo, expected] of [
    ['Help <help@one.test>', ['Help <help@one.test>']],
    [['help@one.test'], ['help@one.test']],
    [['Hélp <help@one.test>', 'b@two.test'], ['=?UTF-8?B?SMOpbHA=?= <help@one.test>, b@two.test']],
    [[], []],
  ] as const) {
    const id = await sent({ to: 'ann@one.test', replyTo })
    const [copy] = await copiesOf(posthorn, id)
    t.same(copy?.header('Reply-To'), expected)
    t.same((await posthorn.email(id)).replyTo, [replyTo].flat())
  }
})

t.test('tags are bounded, each name once', async (t) => {
  const tag = (name: unknown, value: unknown) => ({ name, value })
  const wrong: unknown[] = [
    'a',
    {},
    ['a'],
    [tag('a', 1)],
    [tag('', 'x')],
    [tag('a', '')],
    [tag('a:b', 'x')],
    [tag('a'.repeat(65), 'x')],
    [tag('a', 'x'.repeat(257))],
    [tag('a', 'x y')],
    [tag('ä', 'x')],
    [tag('a', 'x\n')],
    [tag('a', '1'), tag('a', '2')],
    Array.from({ length: 11 }, (_, i) => tag(`n${i}`, 'x')),
  ]
  for (const tags of wrong) {
    const { status } = await posthorn.send({ ...good, to: 'ann@one.test', tags })
    t.equal(status, 400, JSON.stringify(tags).slice(0, 80))
  }
  const tags = [tag('kind', 'receipt'), tag('A_b-9', `a.b:c@d/e+f=_-${'x'.repeat(240)}`)]
  const id = await sent({ to: 'ann@one.test', cc: 'bob@one.test', tags })
  t.same((await posthorn.email(id)).tags, tags)
})
