import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { parseDkimRecord } from '../../src/dkim/index.js'
import { staticResolver } from '../../src/dns/index.js'
import {
  addDomain,
  deleteDomain,
  domainRecords,
  findDomain,
  findSenderDomain,
  listDomains,
  publishedRecords,
  signingKeys,
  verifiedDomains,
  verifyDomain,
  zoneFile,
} from '../../src/domains/index.js'
import { ApiError } from '../../src/errors/index.js'
import { openDomains, settings } from './open.js'

t.test('a domain gets two key pairs, and nobody may send from it yet', async (t) => {
  const { add, read, accountId, clock } = await openDomains(t)
  const domain = await add(' BÜCHER.Example. ')
  t.match(domain, {
    name: 'xn--bcher-kva.example',
    status: 'pending',
    trusted: false,
    returnPath: false,
    createdAt: clock.now(),
    verifiedAt: null,
    checkedAt: null,
    keys: [
      { selector: /^ph[a-z0-9]{6}r$/, algorithm: 'rsa-sha256', verified: false },
      { selector: /^ph[a-z0-9]{6}e$/, algorithm: 'ed25519-sha256', verified: false },
    ],
  })
  t.same(await findDomain(read, accountId, 'bücher.example'), domain)
  t.same(await listDomains(read, accountId), [domain])
  t.same(await verifiedDomains(read, accountId), [])
  t.same(await findSenderDomain(read, accountId, domain.name), { id: domain.id, status: 'pending' })
  t.equal(await findSenderDomain(read, accountId, 'other.example'), undefined)
})

t.test('private keys are sealed, and for their own domain', async (t) => {
  const { add, store, read, deps } = await openDomains(t)
  const [one, two] = [await add('one.test', true), await add('two.test', true)]
  const rows = await store.read.selectFrom('dkim_keys').selectAll().execute()
  t.equal(rows.length, 4)
  for (const row of rows) t.notMatch(row.private_key.toString('latin1'), /PRIVATE KEY/)

  t.match(await signingKeys(read, deps.key, one.id), {
    domainName: 'one.test',
    returnPathHost: 'bounce.one.test',
    keys: one.keys.map(({ selector, algorithm }) => ({ domain: 'one.test', selector, algorithm })),
  })
  await t.rejects(signingKeys(read, makeApplianceKey(Buffer.alloc(32, 2)), one.id))
  const [key] = rows.filter((row) => row.domain_id === one.id)
  await store.write((tx) =>
    tx
      .updateTable('dkim_keys')
      .set({ private_key: key?.private_key ?? Buffer.alloc(0) })
      .where('domain_id', '=', two.id)
      .execute(),
  )
  await t.rejects(signingKeys(read, deps.key, two.id), 'keys moved to another domain sign nothing')
})

t.test('what is no domain name is refused', async (t) => {
  const { add, read, accountId } = await openDomains(t)
  for (const name of [
    '',
    ' ',
    '.',
    '..',
    'test',
    'localhost',
    'a..test',
    '.a.test',
    '-a.test',
    'a-.test',
    'a_b.test',
    'a b.test',
    'a.b\ttest',
    'a.test\u0000',
    'a.test\r\nb.test',
    '*.a.test',
    '192.0.2.1',
    '127.1',
    '0x7f.1',
    '[192.0.2.1]',
    '::1',
    'a.test:25',
    'me@a.test',
    'https://a.test',
    'a.test/x',
    'a.test?x',
    'a.test#x',
    'a%2etest',
    'a.test\\x',
    'a.1',
    `${'a'.repeat(64)}.test`,
    `${'a.'.repeat(99)}test`,
    '\u200b.test',
    'xn--a.test',
  ]) {
    await t.rejects(add(name), { message: /is not a domain name/ }, JSON.stringify(name))
  }
  t.same(await listDomains(read, accountId), [])
})

t.test('accounts have domains of their own, each name once', async (t) => {
  const { add, read, deps, accountId } = await openDomains(t)
  const mine = await add('shop.test')
  await t.rejects(add('SHOP.test.'), { message: /The account has the domain shop\.test already/ })
  const stranger = await createAccount(deps, 'Stranger')
  await t.rejects(findDomain(read, stranger.id, 'shop.test'), ApiError)
  await t.rejects(deleteDomain(deps, stranger.id, 'shop.test'), ApiError)
  t.equal(await findSenderDomain(read, stranger.id, 'shop.test'), undefined)

  const theirs = await addDomain(deps, stranger.id, 'shop.test', { trust: true })
  t.not(theirs.keys[0]?.selector, mine.keys[0]?.selector)
  t.same(await verifiedDomains(read, accountId), [], 'the word for one is none for the other')
  t.same(await verifiedDomains(read, stranger.id), ['shop.test'])
})

t.test('the records to publish follow the settings', async (t) => {
  const { add } = await openDomains(t)
  const domain = await add('shop.test')
  const [rsa, ed25519] = domain.keys
  const records = domainRecords(domain, settings)
  t.same(
    records.map(({ purpose, type, host, required }) => [purpose, type, host, required]),
    [
      ['dkim-rsa', 'TXT', `${rsa?.selector}._domainkey.shop.test`, true],
      ['dkim-ed25519', 'TXT', `${ed25519?.selector}._domainkey.shop.test`, false],
      ['return-path-mx', 'MX', 'bounce.shop.test', false],
      ['return-path-spf', 'TXT', 'bounce.shop.test', false],
      ['dmarc', 'TXT', '_dmarc.shop.test', false],
    ],
  )
  const values = records.map(({ value }) => value)
  t.match(parseDkimRecord(values[0] ?? ''), { algorithm: 'rsa-sha256', revoked: false })
  t.match(parseDkimRecord(values[1] ?? ''), { algorithm: 'ed25519-sha256', testing: false })
  t.same(values.slice(2), [
    '10 Mail.Appliance.test',
    'v=spf1 ip4:192.0.2.7 ip6:2001:db8::7 -all',
    'v=DMARC1; p=none',
  ])
  const without = domainRecords(domain, { heloName: 'mx.test', sourceAddresses: [] })
  t.equal(without[3]?.value, 'v=spf1 a:mx.test -all')
})

t.test('the zone file splits long texts and says the same', async (t) => {
  const { add } = await openDomains(t)
  const records = domainRecords(await add('shop.test'), settings)
  const lines = zoneFile(records).trimEnd().split('\n')
  t.equal(lines.length, records.length)
  for (const [index, line] of lines.entries()) {
    const { host, type, value } = records[index] ?? { host: '', type: '', value: '' }
    const [, name, kind, data = ''] = /^(\S+)\. +3600 IN (TXT|MX ) (.*)$/.exec(line) ?? []
    t.same([name, kind?.trim()], [host, type])
    if (type === 'MX') t.equal(data, `${value}.`)
    else {
      const strings = [...data.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text)
      t.ok(strings.every((text) => text.length <= 255))
      t.equal(strings.map((text) => `"${text}"`).join(' '), data)
      t.equal(strings.join(''), value)
    }
  }
  t.match(lines[0], /" "/, 'an RSA-2048 key takes two strings')
})

t.test(
  'the records as published verify every domain, one that two accounts share too',
  async (t) => {
    const { add, read, deps, accountId } = await openDomains(t)
    const stranger = await createAccount(deps, 'Stranger')
    await add('shop.test')
    await addDomain(deps, stranger.id, 'shop.test')
    const resolver = staticResolver(await publishedRecords(read, settings))
    for (const id of [accountId, stranger.id]) {
      const { domain, records } = await verifyDomain({ ...deps, resolver }, id, 'shop.test')
      t.same(
        records.map(({ state, advice }) => [state, advice]),
        Array.from({ length: 5 }, () => ['ok', '']),
      )
      t.match(domain, { status: 'verified', trusted: false, returnPath: true })
      t.ok(domain.keys.every(({ verified }) => verified))
    }
  },
)

t.test('a domain with mail waiting stays; without, it goes with its keys', async (t) => {
  const { add, store, deps, accountId, clock } = await openDomains(t)
  const domain = await add('shop.test', true)
  const emailId = store.ids.uuid()
  const now = clock.now()
  await store.write(async (tx) => {
    await tx
      .insertInto('emails')
      .values({
        id: emailId,
        account_id: accountId,
        domain_id: domain.id,
        body_id: null,
        from_header: 'a@shop.test',
        to_list: '[]',
        reply_to: null,
        subject: 'x',
        type: 'transactional',
        metadata: null,
        status: 'queued',
        message_id: 'm',
        provider: 'primary',
        waiting: 2,
        delivered: 0,
        bounced: 0,
        failed: 0,
        opened_at: null,
        clicked_at: null,
        scheduled_at: null,
        sent_at: null,
        created_at: now,
      })
      .execute()
    for (const id of [1, 2]) {
      await tx
        .insertInto('queue')
        .values({
          id,
          email_id: emailId,
          account_id: accountId,
          recipient: `${id}@b.test`,
          lane: 'b.test',
          class: 0,
          due_at: now,
          lease: null,
          attempts: 0,
          expires_at: now + 1,
          last_attempt_at: null,
          last_reply: null,
          last_transcript: null,
        })
        .execute()
    }
  })
  await t.rejects(deleteDomain(deps, accountId, 'shop.test'), {
    message: /shop\.test cannot be deleted: 2 deliveries from it are waiting/,
  })
  t.ok(await findSenderDomain(store.read, accountId, 'shop.test'))

  await store.write((tx) => tx.deleteFrom('queue').execute())
  await deleteDomain(deps, accountId, 'Shop.test')
  t.equal(await findSenderDomain(store.read, accountId, 'shop.test'), undefined)
  t.same(await store.read.selectFrom('dkim_keys').selectAll().execute(), [])
  t.ok(await store.read.selectFrom('emails').selectAll().executeTakeFirst(), 'its mails are kept')
  await add('shop.test')
})
