import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openPlace } from './place.js'

interface DnsRecord {
  purpose: string
  type: 'TXT' | 'MX'
  name: string
  value: string
  required: boolean
}

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('a domain is added with the records to publish, verified and deleted', async (t) => {
  const { run, json, refused, publish } = await openPlace(t)
  await json('account', 'create', 'City')
  const name = 'bücher.example'
  const added = await json<{ records: DnsRecord[]; zone: string }>('domain', 'add', name)
  t.match(added, { name: 'xn--bcher-kva.example', status: 'pending', trusted: false })
  t.notMatch(JSON.stringify(added), /PRIVATE|private_key/)
  t.same(
    added.records.map(({ purpose, type, required }) => [purpose, type, required]),
    [
      ['dkim-rsa', 'TXT', true],
      ['dkim-ed25519', 'TXT', false],
      ['return-path-mx', 'MX', false],
      ['return-path-spf', 'TXT', false],
      ['dmarc', 'TXT', false],
    ],
  )
  const shown = await run('domain', 'show', name)
  for (const { purpose, name: host, value } of added.records) {
    const line = shown.stdout.split('\n').find((text) => text.startsWith(`${purpose} `))
    t.ok(line?.includes(host) && line.endsWith(value), `the table has ${purpose} in full`)
  }
  t.ok(shown.stdout.includes(added.zone), 'and so has the zone file')

  const missing = await run('domain', 'verify', name)
  t.match(missing, { status: 1, stderr: '' })
  t.match(missing.stdout, /^missing {2}dkim-rsa \(required\)$/m)
  t.match(missing.stdout, /^ {2}Advice +Publish this TXT record at ph\w+\._domainkey/m)
  t.match(missing.stdout, 'is not verified yet: nothing is sent from it')

  const [rsa, ed25519, mx, spf] = added.records
  publish(rsa?.name ?? '', { txt: [rsa?.value ?? ''] })
  publish(ed25519?.name ?? '', { txt: ['v=DKIM1; k=ed25519; p=AAAA'] })
  publish(mx?.name ?? '', { mx: ['mail.appliance.test'], txt: [spf?.value ?? ''] })
  const verified = await json<{ records: { state: string; found: string[]; advice: string }[] }>(
    ...['domain', 'verify', name],
  )
  t.match(verified, { status: 'verified', trusted: false, returnPath: true })
  t.same(
    verified.records.map(({ state }) => state),
    ['ok', 'different', 'ok', 'ok', 'missing'],
  )
  t.match(verified.records[1], {
    found: ['v=DKIM1; k=ed25519; p=AAAA'],
    advice: /^Replace what is at ph\w+e\._domainkey/,
  })
  t.match((await run('domain', 'list')).stdout, /^xn--bcher-kva\.example +verified +2\d{3}/m)

  t.match(await run('domain', 'delete', name, '--yes'), { status: 0, stdout: /is deleted/ })
  await refused(
    /has no domain xn--bcher-kva\.example; 'posthorn domain add'/,
    'domain',
    'show',
    name,
  )
  await refused(/has no domain/, 'domain', 'verify', name)
  await refused(/has no domain/, 'domain', 'delete', name)
})

t.test('a DNS without answers verifies nothing', async (t) => {
  const { data, run, json } = await openPlace(t)
  await json('account', 'create', 'City')
  await json('domain', 'add', 'a.test')
  const settings = join(data, 'posthorn.toml')
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('nxdomain', 'SERVFAIL'))
  const { status, stdout } = await run('domain', 'verify', 'a.test')
  t.equal(status, 1)
  t.match(stdout, /^no answer {2}dkim-rsa/m)
  t.match(stdout, 'The DNS did not answer (SERVFAIL). Try again later')
})

t.test('the operator’s word verifies a domain, and lasts', async (t) => {
  const { run, json } = await openPlace(t)
  await json('account', 'create', 'City')
  const added = await json('domain', 'add', 'a.test', '--trust')
  t.match(added, {
    status: 'verified',
    trusted: true,
    dkim: [{ verified: true }, { verified: true }],
  })
  await json('domain', 'add', 'b.test')
  t.equal((await run('domain', 'verify', 'b.test')).status, 1)
  t.match(await run('domain', 'verify', 'b.test', '--trust'), {
    status: 0,
    stdout: /b\.test counts as verified because you said so, whatever the DNS says\.\n$/,
  })
  t.equal((await run('domain', 'verify', 'b.test')).status, 0)
  t.match((await run('domain', 'list')).stdout, /^b\.test +verified \(trusted\)/m)
})

t.test('what is no domain name is refused', async (t) => {
  const { json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  for (const name of [
    '',
    'localhost',
    '192.0.2.1',
    'a b.test',
    '-a.test',
    'a..test',
    `${'a'.repeat(64)}.test`,
  ]) {
    await refused(/is not a domain name, such as example\.com/, 'domain', 'add', '--', name)
  }
  await json('domain', 'add', 'a.test')
  await refused(/The account has the domain a\.test already/, 'domain', 'add', 'A.test.')
})
