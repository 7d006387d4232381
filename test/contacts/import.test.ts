import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeBatchSize } from '../../src/bounded/index.js'
import {
  addContact,
  contactTotal,
  createList,
  deleteList,
  exportContacts,
  findContact,
  importContacts,
  listLists,
} from '../../src/contacts/index.js'
import { ApiError } from '../../src/errors/index.js'
import { suppress, suppressionsOf } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { countStatements } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const { id: listId } = await createList(deps, account, 'A')
  return {
    ...deps,
    account,
    listId,
    /** The counts, or the error with everything that it tells. */
    import: async (file: string | Uint8Array | AsyncIterable<Uint8Array>, more: object = {}) => {
      const pieces =
        typeof file === 'string' || file instanceof Uint8Array ? inPieces(Buffer.from(file)) : file
      const options = { listId, ceiling: null, defaultCountry: 'NG', file: 'a.csv', ...more }
      return await importContacts(deps, account, pieces, options).catch((error) => {
        if (!(error instanceof ApiError)) throw error
        const { status, code, message, fields } = error
        return { status, code, message, ...fields }
      })
    },
    find: (email: string) => findContact(store.read, account, email),
    held: async () => {
      const [list] = await listLists(store.read, account)
      const total = await contactTotal(store.read, account)
      const rows = await store.read.selectFrom('contacts').select('id').execute()
      t.equal(total, rows.length, 'the counter is right')
      return { total, onList: list?.contactCount }
    },
  }
}

/** Odd pieces, so that everything is cut in its middle at some time. */
async function* inPieces(bytes: Buffer, size = 7) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

// Beside the lines that were refused.
const counts = (imported: number, skipped = 0, invalid = 0) => ({ imported, skipped, invalid })

t.test('the first 100 lines that are refused are named, in their order, and why', async (t) => {
  const site = await open(t)
  const note = 'x'.repeat(9_000)
  await site.import(`email,a\nknown@x.test,${note}\n`)
  const file = [
    'email,firstName,b',
    'nobody,Ann,',
    ',Bob,',
    `long@x.test,${'x'.repeat(201)},`,
    'a@x.test,"two',
    'lines",x,y',
    `known@x.test,,${note}`,
    'known2@x.test,A\u0000,',
    `much@x.test,,${'y'.repeat(17_000)}`,
    ...Array.from({ length: 300 }, (_, i) => `u${i}@x.test,,`),
    ...Array.from({ length: 200 }, (_, i) => `"no ${i}, ${'x'.repeat(50)}"`),
  ].join('\n')
  const other = (await createList(site, site.account, 'Other')).id
  const answer = await site.import(file, { listId: other })
  t.match(answer, counts(300, 0, 207))
  const refused = 'refused' in answer ? answer.refused : []
  t.same(refused.slice(0, 8), [
    { line: 2, reason: 'email "nobody" is not an email address' },
    { line: 3, reason: 'it has no email' },
    { line: 4, reason: 'firstName has over 200 characters, or a control character' },
    { line: 5, reason: 'it has 4 cells, and the header has 3' },
    { line: 7, reason: 'metadata, together with what is stored already, has over 16384 bytes' },
    { line: 8, reason: 'it has a NUL character' },
    { line: 9, reason: 'the cells that go into metadata have over 16384 bytes' },
    {
      line: 310,
      reason: `email ${JSON.stringify(`no 0, ${'x'.repeat(34)}`)} is not an email address`,
    },
  ])
  t.equal(refused.length, 100)
  t.equal(refused.at(-1)?.line, 402)
})

t.test('columns are known by name in any case, others are kept as metadata', async (t) => {
  const site = await open(t)
  const file = [
    'Town, EMAIL ,firstname,LastName,Phone,',
    'Lagos,Ada@X.test,Ada,Obi,0803 123 4567,ignored',
    ',bob@x.test,,,,',
    'Abuja,eve@x.test,Eve,,call me,',
  ].join('\n')
  t.match(await site.import(file), Object.assign(counts(3), { unreadPhones: 1 }))
  t.match(await site.find('ada@x.test'), {
    email: 'Ada@x.test',
    firstName: 'Ada',
    lastName: 'Obi',
    phone: '+2348031234567',
  })
  t.same((await site.find('ada@x.test'))?.metadata, { Town: 'Lagos' })
  t.same((await site.find('bob@x.test'))?.metadata, {})
  const eve = await site.find('eve@x.test')
  t.equal(eve?.phone, null)
  t.same(eve?.metadata, { Town: 'Abuja', phone: 'call me' }, 'no number, but not lost')
  t.same(await site.held(), { total: 3, onList: 3 })
})

t.test(
  'U+FFFD is a character where the file has it, and the end where a byte is none',
  async (t) => {
    const site = await open(t)
    const file = 'email,firstName\na@x.test,J\uFFFDrg\n"b@x.test","Zoë\n\uFFFD"\n'
    t.match(await site.import(file), counts(2))
    t.match(await site.find('a@x.test'), { firstName: 'J\uFFFDrg' })
    t.match(await site.find('b@x.test'), { firstName: 'Zoë \uFFFD' })
    // In pieces of every size, so that each character is cut in its middle at some time.
    const bad = Buffer.concat([
      Buffer.from(`${file}c@x.test,😀\nd@x.test,`),
      Buffer.from([0xe2, 0x28, 0xa1]),
      Buffer.from('\ne@x.test,E\n'),
    ])
    for (const size of [1, 2, 3, 5, 11, 64, 4_096]) {
      const { id: listId } = await createList(site, site.account, `Pieces of ${size}`)
      const answer = await site.import(inPieces(bad, size), { listId })
      t.match(answer, { status: 400, line: 6, message: /not UTF-8/, ...counts(3) }, `${size}`)
      const marked = inPieces(Buffer.from('\uFEFFemail\nmark@x.test\n'), size)
      t.match(await site.import(marked, { listId }), counts(1), `a mark in pieces of ${size}`)
    }
    const quoted = Buffer.concat([Buffer.from(`${file}"c@x.test","ab\nc`), Buffer.from([0xff])])
    t.match(await site.import(quoted), { status: 400, line: 5, message: /not UTF-8/ })
    const half = Buffer.from('\uFEFFemail\na@x.test\nb\uD800@x.test\n', 'utf16le')
    t.match(await site.import(half), { status: 400, line: 3, message: /not UTF-8/ })
  },
)

t.test('a first line tells the delimiter', async (t) => {
  const site = await open(t)
  for (const [file, name] of [
    ['sep=;\r\nemail;firstName\r\na@x.test;A,B\r\n', 'A,B'],
    ['\uFEFF"sep=,"\nemail,firstName\nb@x.test,A;B\n', 'A;B'],
    ['SEP=\t\nemail\tfirstName\nc@x.test\tA\n', 'A'],
    ['sep=^\nemail^firstName\nd@x.test^A\n', 'A'],
    ['email|firstName\ne@x.test|A\n', 'A'],
  ] as const) {
    t.match(await site.import(file), counts(1), file)
    const [address = ''] = /\w@x\.test/.exec(file) ?? []
    t.match(await site.find(address), { firstName: name })
  }
  t.match(await site.import('sep=;\nemail;firstName\nnobody;A\n'), { refused: [{ line: 3 }] })
  t.match(await site.import('sep=;\n'), { status: 400, message: /the file is empty/ })
})

t.test('exports of other systems are understood, and the answer says how', async (t) => {
  const site = await open(t)
  const became = async (file: string) => {
    const answer = await site.import(file)
    t.match(answer, counts(1), file)
    return 'columns' in answer ? answer.columns?.map(({ became }) => became) : answer
  }
  const whole = { firstName: 'Ann', lastName: 'van Dyk' }
  for (const [n, [header, row, columns, contact]] of (
    [
      [
        'First Name,Last Name,E-mail 1 - Value,Phone 1 - Value',
        'Ann,van Dyk,@ ::: b@x.test,+2348031234567',
        ['firstName', 'lastName', 'email', 'phone'],
        { ...whole, phone: '+2348031234567' },
      ],
      [
        'Vorname;Nachname;E-Mail-Adresse;Ort',
        'Ann;van Dyk;@;Köln',
        ['firstName', 'lastName', 'email', 'metadata'],
        { ...whole, metadata: { Ort: 'Köln' } },
      ],
      [
        'Nome;Sobrenome;Endereço eletrônico;Telefone celular',
        'Ann;van Dyk;@;+351912345678',
        ['firstName', 'lastName', 'email', 'phone'],
        { ...whole, phone: '+351912345678' },
      ],
      [
        'Nombre;Apellido paterno;Dirección de correo;Número de teléfono',
        'Ann;van Dyk;@;+34612345678',
        ['firstName', 'lastName', 'email', 'phone'],
        { ...whole, phone: '+34612345678' },
      ],
      [
        'Prénoms;Nom;E-mail;Téléphone mobile',
        'Ann;van Dyk;@;+33612345678',
        ['firstName', 'lastName', 'email', 'phone'],
        { ...whole, phone: '+33612345678' },
      ],
      [
        'Vorname;Nachname;E-Mail;Mobiltelefon',
        'Ann;van Dyk;@;+4915112345678',
        ['firstName', 'lastName', 'email', 'phone'],
        { ...whole, phone: '+4915112345678' },
      ],
      ['Prénom,Nom,Adresse e-mail', 'Ann,van Dyk,@', ['firstName', 'lastName', 'email'], whole],
      [
        'Nombre,Apellidos,Correo electrónico',
        'Ann,van Dyk,@',
        ['firstName', 'lastName', 'email'],
        whole,
      ],
      [
        'EMAIL_ADDRESS,FNAME,LNAME,SMS',
        '@,Ann,van Dyk,',
        ['email', 'firstName', 'lastName', 'phone'],
        whole,
      ],
      [
        'uuid,email,name,attributes',
        '7,@,Ann van Dyk,"{""a"": 1}"',
        ['metadata', 'email', 'name', 'metadata'],
        { ...whole, metadata: { uuid: '7', a: 1 } },
      ],
      ['Full Name,Your email (required)', '"van Dyk, Ann",@', ['name', 'email'], whole],
      [
        'Name,First name,Email,Email 2',
        'x,Ann,@,b@x.test',
        ['metadata', 'firstName', 'email', 'metadata'],
        { firstName: 'Ann', metadata: { Name: 'x', 'Email 2': 'b@x.test' } },
      ],
      [
        'email,firstName,createdAt',
        "@,'=Ann,2024-01-01",
        ['email', 'firstName', 'nothing'],
        { firstName: '=Ann' },
      ],
    ] as const
  ).entries()) {
    t.same(await became(`${header}\n${row.replace('@', `u${n}@x.test`)}\n`), columns, header)
    t.match(await site.find(`u${n}@x.test`), contact, header)
  }
  t.match(await site.import('Email Status,Email opt-in\na,b\n'), {
    status: 400,
    message: /no column "email"/,
  })
})

t.test(
  'who left elsewhere is suppressed, or their row is refused: no mark is passed over',
  async (t) => {
    const site = await open(t)
    let n = 0
    /** What is recorded of the one address that a file of one mark has. */
    const reasonsOf = async (column: string, value: string) => {
      const address = `m${++n}@x.test`
      const answer = await site.import(`email,"${column}"\n${address},"${value}"\n`)
      const rows = await suppressionsOf(site.store.read, site.account, address)
      t.match(answer, { suppressed: rows.length }, `${column}: ${value}`)
      return 'invalid' in answer && answer.invalid === 1
        ? 'refused'
        : rows.map((row) => row.reason).join()
    }
    for (const [column, values, reason] of [
      ['unsubscribedAt', ['2026-11-03T10:00:00.000Z', '1700000000'], 'unsubscribe'],
      ['Unsubscribed from all email', ['true', 'Yes', '1', 'x'], 'unsubscribe'],
      ['UNSUB_TIME', ['2024-05-01 09:00:12', '05/01/24 9:00', '1. Mai 2024'], 'unsubscribe'],
      ['opted_out', ['TRUE', 'ja', 'oui'], 'unsubscribe'],
      ['Abgemeldet', ['ja'], 'unsubscribe'],
      ['Baja', ['sí'], 'unsubscribe'],
      ['Désabonné', ['oui'], 'unsubscribe'],
      ['status', ['blocklisted', 'Unsubscribed', 'opted-out', 'disabled'], 'unsubscribe'],
      ['Status', ['bounced', 'Cleaned', 'hard bounce'], 'bounce'],
      ['Email Marketing Consent', ['UNSUBSCRIBED', 'no'], 'unsubscribe'],
      ['Accepts Email Marketing', ['no', 'FALSE'], 'unsubscribe'],
      ['Marked as spam', ['1'], 'complaint'],
      ['hard_bounced', ['true'], 'bounce'],
      ['Unsubscribed', ['perhaps', 'https://x.test/u/1'], 'refused'],
      ['unsubscribed', ['', 'no', 'False', '0', '-', 'never', 'subscribed'], ''],
      ['status', ['enabled', 'Lead', 'active', 'yes'], ''],
      ['Accepts Email Marketing', ['yes', '', '2024-01-01'], ''],
      ['SMS opt-out', ['yes'], ''],
      ['unsubscribe_url', ['https://x.test/u/1'], ''],
      ['Lead Status', ['bounced'], ''],
    ] as const) {
      for (const value of values)
        t.equal(await reasonsOf(column, value), reason, `${column}: ${value}`)
    }
    const [dated] = await suppressionsOf(site.store.read, site.account, 'm1@x.test')
    t.equal(dated?.createdAt, Date.parse('2026-11-03T10:00:00.000Z'))
    t.match(dated?.detail, 'unsubscribedAt: 2026-11-03T10:00:00.000Z (a.csv, line 2)')
    t.match(await site.import('email,Unsubscribed\nnew@x.test,perhaps\n'), {
      refused: [{ line: 2, reason: /"Unsubscribed" is "perhaps".*expected yes, no or a date/ }],
    })
    const long = await site.import(
      `email,firstName,Unsubscribed\nleft@x.test,${'I'.repeat(300)},yes\n`,
    )
    t.match(long, {
      suppressed: 1,
      refused: [{ reason: /^firstName has over 200 .*; that they left is kept$/ }],
    })
    t.match(await suppressionsOf(site.store.read, site.account, 'left@x.test'), [
      { reason: 'unsubscribe' },
    ])
    t.equal(await site.find('left@x.test'), undefined)
    // Also of somebody who is on the list already.
    await site.import('email\non@x.test\n')
    t.match(await site.import('email,status\non@x.test,unsubscribed\n'), {
      skipped: 1,
      suppressed: 1,
    })
    t.match(await site.find('on@x.test'), { unsubscribedAt: site.clock.now() })
  },
)

t.test('an export comes back whole', async (t) => {
  const site = await open(t)
  const metadata = { a: 'x\uFFFDy', n: 1, deep: [{ b: null }] }
  const given = { email: 'Jo@x.test', firstName: 'J\uFFFDrg', lastName: '=SUM(1)', metadata }
  await addContact(site, site.account, given, { listId: site.listId })
  const suppression = { email: 'jo@x.test', reason: 'unsubscribe' } as const
  await site.store.write((tx) => suppress(tx, site.account, suppression, site.clock.now() - 5_000))
  const parts: string[] = []
  for await (const part of exportContacts(site.store.read, site.account)) parts.push(part)
  const { id: other } = await createAccount(site, 'Other')
  const { id: listId } = await createList(site, other, 'A')
  const options = { listId, ceiling: null, defaultCountry: 'NG', file: 'a.csv' }
  t.match(await importContacts(site, other, inPieces(Buffer.from(parts.join(''))), options), {
    ...counts(1),
    suppressed: 1,
  })
  const back = await findContact(site.store.read, other, 'jo@x.test')
  t.match(back, given)
  t.equal(back?.unsubscribedAt, site.clock.now() - 5_000)
})

t.test('encodings and delimiters', async (t) => {
  const site = await open(t)
  const utf16 = (text: string, bigEndian: boolean) => {
    const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le')
    return bigEndian ? bytes.swap16() : bytes
  }
  const file = (n: number, delimiter: string) =>
    `email${delimiter}firstName\r\nu${n}@x.test${delimiter}Zoë 😀, A;\r\n`
  for (const [n, bytes] of [
    Buffer.from(`\uFEFF${file(0, ';').replace('A;', 'A')}`),
    utf16(file(1, '\t'), false),
    utf16(file(2, '\t'), true),
    Buffer.from(file(3, '\t').replaceAll('\r\n', '\n')),
    Buffer.from(file(4, '\t').replaceAll('\r\n', '\r')),
    Buffer.from(`"town;name",email\n"x;y",u5@x.test`),
  ].entries()) {
    t.match(await site.import(bytes), counts(1), `file ${n}`)
    if (n < 5) t.match(await site.find(`u${n}@x.test`), { firstName: /^Zoë 😀, A;?$/ })
  }
  t.same((await site.find('u5@x.test'))?.metadata, { 'town;name': 'x;y' })
})

t.test('quotes, line ends in cells, empty lines, short and long rows', async (t) => {
  const site = await open(t)
  const file = [
    'email,firstName,note',
    '"a@x.test","Ada ""the first""","one\r\ntwo, three"',
    '',
    'b@x.test',
    'c@x.test,Cy,x,y',
    'd@x.test,Di,x,,',
    'e@x.test,"E\nE",5" disk',
    '"Eve" <f@x.test>,Eve',
    ',,',
  ].join('\r\n')
  t.match(await site.import(file), counts(5, 0, 2))
  const ada = await site.find('a@x.test')
  t.equal(ada?.firstName, 'Ada "the first"')
  t.same(ada?.metadata, { note: 'one\r\ntwo, three' })
  t.match(await site.find('e@x.test'), { firstName: 'E E', metadata: { note: '5" disk' } })
  t.equal(await site.find('c@x.test'), undefined, 'who knows which of its cells has slipped')
  t.ok(await site.find('f@x.test'))
})

t.test(
  'a column of JSON metadata lies over the others, any other text is one of them',
  async (t) => {
    const site = await open(t)
    const file = [
      'email;Town;Metadata;createdAt;UNSUBSCRIBEDAT;phone',
      'a@x.test;Lagos;"{""Town"":null,""vip"":false,""phone"":7,""__proto__"":{""x"":1}}";x;x;call me',
      'b@x.test;Lagos;{not JSON;;;',
      'c@x.test;;"[1]";;;',
      'd@x.test;;{};x;x;',
      `e@x.test;;"{""a"":""${'x'.repeat(17_000)}""}";;;`,
      `f@x.test;;"{""a"":${'['.repeat(200_000)}${']'.repeat(200_000)}}";;;`,
      '   ',
      'g@x.test;;;;;',
      'h@x.test;;"{""id"":9007199254740993}";;;',
    ].join('\n')
    t.match(await site.import(`\n  \n${file}\n \t \n`), counts(5, 0, 3), 'lines of blanks are none')
    const metadataOf = async (email: string) =>
      Object.entries((await site.find(email))?.metadata ?? { unknown: email })
    t.same(await metadataOf('a@x.test'), [
      ['Town', null],
      ['phone', 7],
      ['vip', false],
      ['__proto__', { x: 1 }],
    ])
    t.same(await metadataOf('b@x.test'), [
      ['Town', 'Lagos'],
      ['Metadata', '{not JSON'],
    ])
    t.same(await metadataOf('c@x.test'), [['Metadata', '[1]']])
    t.same(await metadataOf('d@x.test'), [])
    t.same(await metadataOf('g@x.test'), [])
  },
)

t.test('rows that cannot be kept are invalid, and the others are in', async (t) => {
  const site = await open(t)
  const row = (email: string, firstName = '', note = '') => `${email},${firstName},${note}\n`
  const file =
    'email,firstName,note\n' +
    row('no address') +
    row('') +
    row('a@x.test', 'x'.repeat(201)) +
    row('b@x.test', 'Be\u0007ll') +
    row('c@x.test', 'NU\0L') +
    row('d@x.test', '', 'x'.repeat(1024 * 1024)) +
    row('e@x.test', '', 'x'.repeat(17_000)) +
    row('f@x.test', '', 'x'.repeat(16_000)) +
    row('g@x.test', 'Good', '__proto__')
  t.match(await site.import(inPieces(Buffer.from(file), 65_536)), counts(2, 0, 7))
  t.same(await site.held(), { total: 2, onList: 2 })
  const proto = 'email,__proto__,constructor\nh@x.test,1,2\n'
  t.match(await site.import(proto), counts(1))
  t.same(Object.entries((await site.find('h@x.test'))?.metadata ?? {}), [
    ['__proto__', '1'],
    ['constructor', '2'],
  ])
})

t.test('a broken file tells line and reason, and what was counted is in', async (t) => {
  const site = await open(t)
  const good = (n: number) => Array.from({ length: n }, (_, i) => `r${i}@x.test,R\n`).join('')
  const header = 'email,firstName\n'
  for (const [file, line, reason, imported, skipped] of [
    [`${header}${good(700)}"never closed`, 702, /a quote is not closed/, 700, 0],
    [`${header}${good(3)}r0@x.test,"a\nb"\n"open`, 7, /a quote is not closed/, 0, 4],
    [`${header}${good(2)}"${'x'.repeat(3 * 1024 * 1024)}",x\n${good(9)}`, 4, /over 2 MiB/, 0, 2],
    [Buffer.from(`${header}${good(1)}m\xfcller@x.test,M\n`, 'latin1'), 3, /not UTF-8/, 0, 1],
    ['name,town\nAda,Lagos\n', 1, /no column "email", only "name", "town"/, 0, 0],
    ['email,Town,TOWN\na@x.test,1,2\n', 1, /"TOWN" is given twice/, 0, 0],
    ['email,Email\n', 1, /"Email" is given twice/, 0, 0],
    [`email${',x'.repeat(300)}\n`, 1, /over 200 columns/, 0, 0],
    ['', 1, /the file is empty/, 0, 0],
    ['\n\n\n', 1, /the file is empty/, 0, 0],
    [Buffer.from([0xff]), 1, /not UTF-8/, 0, 0],
    [Buffer.from('\uFEFFemail\na@x.test', 'utf16le').subarray(0, -1), 2, /not UTF-8/, 0, 0],
  ] as const) {
    const pieces = inPieces(Buffer.from(file), 50_000)
    const answer = { status: 400, code: 'validation_error', ...counts(imported, skipped), line }
    t.match(await site.import(pieces), { ...answer, message: reason }, String(reason))
  }
  for (const file of [
    Buffer.from('email\na@x.test\n', 'utf16le'),
    Buffer.from('PK\u0003\u0004\0,x'),
  ]) {
    t.match(await site.import(file), { status: 415, code: 'unsupported_media_type' })
  }
  for (const empty of ['email', 'email,firstName\r\n', '\n\nemail\n']) {
    t.match(await site.import(empty), counts(0), JSON.stringify(empty))
  }
})

t.test('who is on the list is skipped; who is known gets the names and metadata', async (t) => {
  const site = await open(t)
  const { account } = site
  await addContact(site, account, { email: 'on@x.test', firstName: 'On' }, { listId: site.listId })
  const known = { email: 'known@x.test', lastName: 'Kept', metadata: { a: '1', b: '1' } }
  await addContact(site, account, known)
  const file = [
    'email,firstName,b,c',
    'ON@x.test,Changed,2,2',
    'Known@x.test,New,2,2',
    'known@x.test,Twice,3,3',
    'fresh@x.test,First,,',
    'FRESH@x.test,Second,,',
  ].join('\n')
  t.match(await site.import(file), counts(2, 3))
  t.match(await site.find('on@x.test'), { firstName: 'On' })
  const merged = await site.find('known@x.test')
  t.match(merged, { email: 'known@x.test', firstName: 'New', lastName: 'Kept' })
  t.same(merged?.metadata, { a: '1', b: '2', c: '2' })
  t.match(await site.find('fresh@x.test'), { firstName: 'First' })
  t.match(await site.import(file), counts(0, 5), 'the same again')
  t.same(await site.held(), { total: 3, onList: 3 })
  const large = { email: 'large@x.test', metadata: { a: 'x'.repeat(16_000) } }
  await addContact(site, account, large)
  t.match(await site.import(`email,b\nlarge@x.test,${'x'.repeat(1_000)}\n`), counts(0, 0, 1))
})

t.test('who unsubscribed or bounced stays so', async (t) => {
  const site = await open(t)
  for (const reason of ['unsubscribe', 'bounce'] as const) {
    await site.store.write((tx) =>
      suppress(tx, site.account, { email: 'gone@x.test', reason }, site.clock.now()),
    )
  }
  t.match(await site.import('email\nGone@x.test\n'), counts(1))
  t.match(await site.find('gone@x.test'), { unsubscribedAt: site.clock.now() })
})

t.test('the ceiling is met before the first row that would pass it', async (t) => {
  const site = await open(t)
  const file = `email\n${Array.from({ length: 1_300 }, (_, n) => `r${n % 1_200}@x.test\n`).join('')}`
  const answer = { status: 403, code: 'plan_limit_exceeded' }
  t.match(await site.import(file, { ceiling: 1_100 }), { ...answer, ...counts(1_100) })
  t.same(await site.held(), { total: 1_100, onList: 1_100 })
  t.ok(await site.find('r1099@x.test'))
  t.equal(await site.find('r1100@x.test'), undefined)
  t.match(await site.import(file, { ceiling: 1_100 }), { ...answer, ...counts(0, 1_100) })
  t.match(await site.import(file, { ceiling: 1_200 }), counts(100, 1_200))
  t.match(await site.import('email\nr5@x.test\n', { ceiling: 10 }), counts(0, 1), 'no place taken')
})

t.test('rows beyond the limit are refused, those before are in', async (t) => {
  const site = await open(t)
  const file = 'email\na@x.test\nb@x.test\nnobody\nc@x.test\n'
  t.match(await site.import(file, { maxRows: 3 }), {
    status: 400,
    line: 5,
    message: /over 3 rows/,
    ...counts(2, 0, 1),
  })
  t.match(await site.import(file, { maxRows: 4 }), counts(1, 2, 1))
})

t.test('a file that ends in the middle leaves whole batches', async (t) => {
  const site = await open(t)
  const lost = new Error('lost')
  async function* cutOff() {
    yield Buffer.from(
      `email\n${Array.from({ length: 1_234 }, (_, n) => `r${n}@x.test\n`).join('')}`,
    )
    // What came before has been read by the time that more is asked for, or soon after.
    throw lost
  }
  await t.rejects(site.import(cutOff()), lost)
  const { total, onList } = await site.held()
  t.equal(total, onList)
  t.ok(total % 500 === 0 && total <= 1_000, `${total} rows`)
})

t.test('a list that is deleted meanwhile takes no more', async (t) => {
  const site = await open(t)
  async function* slow() {
    yield Buffer.from(`email\n${Array.from({ length: 600 }, (_, n) => `r${n}@x.test\n`).join('')}`)
    await deleteList(site, site.account, site.listId)
    yield Buffer.from('last@x.test\n')
  }
  t.match(await site.import(slow()), { status: 404 })
  t.match(await site.held(), { total: 0, onList: undefined })
})

t.test(
  'where writes take long a batch has fewer rows, and more again when they do not',
  async (t) => {
    const { store, account, listId } = await open(t)
    /** How many writes two thousand rows take when each of them takes so long. */
    const writesOf = async (name: string, msAWrite: number) => {
      let writes = 0
      const write: typeof store.write = (work, account) => {
        writes++
        return store.write(work, account)
      }
      // It is read at the beginning and at the end of each.
      let now = Date.now()
      const clock = Object.assign(new FakeClock(), { now: () => (now += msAWrite) })
      const rows = Array.from({ length: 2_000 }, (_, n) => `${name}${n}@x.test\n`)
      const file = inPieces(Buffer.from(`email\n${rows.join('')}`), 4_096)
      const options = { listId, ceiling: null, defaultCountry: 'NG', file: 'a.csv' }
      await importContacts({ store: { ...store, write }, clock }, account, file, options)
      return writes
    }
    const slow = await writesOf('slow', 20)
    t.ok(slow >= 15, `${slow} writes`)
    t.equal(await writesOf('fast', 1), 10)
  },
)

t.test('a batch grows where it may, and not by what is less than one', (t) => {
  const size = makeBatchSize({ least: 25, most: 200, mostMs: 8 })
  size.took(200, 9)
  size.took(100, 30)
  t.equal(size.rows, 50)
  size.took(200, 9)
  t.equal(size.rows, 50, 'that was read before')
  size.took(49, 1)
  size.took(50, 5)
  t.equal(size.rows, 50)
  size.took(50, 3)
  t.equal(size.rows, 100)
  for (let i = 0; i < 10; i++) size.took(size.rows, 1)
  t.equal(size.rows, 200)
  for (let i = 0; i < 10; i++) size.took(size.rows, 100)
  t.equal(size.rows, 25)
  t.end()
})

t.test('200 rows take a few statements', async (t) => {
  const site = await open(t)
  await site.import('email\nfirst@x.test\n')
  const counts = countStatements(t)
  const rows = Array.from({ length: 200 }, (_, n) => `r${n}@x.test,+2348031${100_000 + n}\n`)
  await site.import(`email,phone\n${rows.join('')}`)
  const made = [...counts.values()].reduce((sum, times) => sum + times, 0)
  // Begin, savepoint, list, import, how many there are, contacts and members (four each, as 64 rows are one statement),
  // three counters, whether anybody was erased, who gets no mail, whether there are segments, release, commit.
  t.ok(made > 0 && made <= 21, `${made} statements`)
})
